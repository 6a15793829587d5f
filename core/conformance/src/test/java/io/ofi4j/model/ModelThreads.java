package io.ofi4j.model;

import io.ofi4j.AddressVector;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.model.ModelState.Count;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.support.Patience;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Phaser;

/**
 * One random program of several threads, and what they share. Who comes first is not known, so that the model says less
 * than that of one thread: every accepted token comes back exactly once, without an error unless endpoints are closed;
 * every byte has a value that was sent to it; at the end nothing is left.
 */
final class ModelThreads {
    static final Duration DEADLINE = Patience.seconds(60);

    final FabricInfo info;
    final long seed;
    final Domain domain;
    final AddressVector vector;
    final Arena arena = Arena.ofShared();
    final List<ModelState.Queue> queues = new CopyOnWriteArrayList<>();
    final List<Count> counts = new CopyOnWriteArrayList<>();
    final List<End> ends = new CopyOnWriteArrayList<>();
    final List<Region> regions = new CopyOnWriteArrayList<>();
    final ModelLedger ledger = new ModelLedger();
    /** Whether endpoints are closed while others use them. */
    final boolean areEndsClosed;
    /** Rule: ofi_rxd may leave an operation for the endpoint's close to cancel. */
    final boolean mayFail;
    final Phaser together;
    final List<String> trace = Collections.synchronizedList(new ArrayList<>());

    private final Fabric fabric;
    private final List<ModelThread> workers = new ArrayList<>();
    private final boolean isVerbose;

    ModelThreads(FabricInfo info, long seed, int threads, boolean isVerbose) {
        this.info = info;
        this.seed = seed;
        this.isVerbose = isVerbose;
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        vector = isOfConnections() ? null : domain.openAddressVector();
        areEndsClosed = seed % 3 != 0;
        mayFail = areEndsClosed || info.provider().contains("ofi_rxd");
        if (mayFail) { ledger.spoil(); }
        together = new Phaser(threads);
        for (int index = 0; index < threads; index++) {
            workers.add(new ModelThread(this, seed * 31 + index, index));
        }
    }

    /** Whether each thread has a queue of its own, which others may not use. */
    boolean isOwned() {
        return info.domain().threading() == ThreadingModel.COMPLETION;
    }

    boolean isOfConnections() { return info.endpoint().type() == EndpointType.MSG; }

    /** Where a thread makes connections; null where there are none. */
    ModelPairs openPairs(ModelWaitObjects objects) {
        return isOfConnections() ? new ModelPairs(fabric, domain, objects) : null;
    }

    void note(String step) {
        trace.add(step);
        if (isVerbose) { System.out.println("  " + step); }
    }

    void run(int steps) throws InterruptedException {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (ModelThread worker : workers) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    worker.run(steps);
                } catch (Throwable t) {
                    thrown.add(t);
                    together.forceTermination(); // nobody waits for this one
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!thrown.isEmpty()) { throw new AssertionError("thread failed", thrown.getFirst()); }
        check();
    }

    private void check() {
        if (!ledger.pending().isEmpty()) { throw new AssertionError("tokens did not come back: " + ledger.pending()); }
        ledger.propagate();
        for (Region region : regions) {
            if (region.open || region.ofCaller) { region.memory.check(region); }
            region.region.close();
            if (!region.ofCaller && region.memory.segment().scope().isAlive()) {
                throw new AssertionError("the memory of " + region + " was not freed");
            }
        }
        if (vector != null) { vector.close(); }
        domain.close();
        fabric.close();
        arena.close();
    }
}
