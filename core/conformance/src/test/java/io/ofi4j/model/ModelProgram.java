package io.ofi4j.model;

import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.model.ModelState.Dom;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Queue;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.support.Patience;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One random program of one thread: so many steps over the public API, each with a forecast by the model, then
 * everything is brought to rest, checked and closed. The same seed with fewer steps gives the beginning of the same
 * program.
 */
final class ModelProgram extends ModelSteps {
    private static final Duration DEADLINE = Patience.seconds(60);

    final FabricInfo info;
    final long seed;
    final ModelState state = new ModelState();
    final ModelLedger ledger = new ModelLedger();
    final Arena arena = Arena.ofShared();
    final Fabric fabric;
    final ModelWaitObjects objects;
    private final ModelLifeCycle lifeCycle;
    private final ModelTransfers transfers;

    ModelProgram(FabricInfo info, long seed, boolean isVerbose) {
        super(seed, isVerbose);
        this.info = info;
        this.seed = seed;
        this.fabric = Libfabric.load().openFabric(info);
        this.objects = new ModelWaitObjects(info, random);
        this.lifeCycle = new ModelLifeCycle(this);
        this.transfers = new ModelTransfers(this);
    }

    boolean isShm() { return info.provider().equals("shm"); }

    boolean hasQueuesOfTheirOwn() {
        return info.provider().equals("tcp") && info.domain().threading() == ThreadingModel.COMPLETION
                && Libfabric.load().version().major() >= 2;
    }

    /** Rule: ofi_rxm of libfabric 1.17 ends the target's process at a write with a wrong key; shm looks at no key. */
    boolean hasKeyChecks() {
        return !isShm() && !(info.provider().contains("ofi_rxm") && Libfabric.load().version().major() < 2);
    }

    void run(int steps) {
        lifeCycle.begin();
        for (int step = 0; step < steps; step++) {
            if (chance(35)) {
                lifeCycle.step();
            } else {
                transfers.step(0);
            }
        }
        settle();
        finish();
    }

    /** What nothing stands in the way of completes, and arrives. */
    private void settle() {
        note("settle");
        if (!leavesOperations()) { awaitTransfers(); }
        for (int round = 0; round < 3; round++) {
            pollAll();
        }
        checkMemory();
    }

    /**
     * Rule: ofi_rxd may leave an operation for the endpoint's close to cancel, and so may shm: its target does not
     * answer what it refuses, with libfabric 1.x of what it looks at (several segments there, completion data), and the
     * poster takes answers in the order of the questions.
     */
    private boolean leavesOperations() {
        return info.provider().contains("ofi_rxd") || isShm() && ledger.isSpoiled();
    }

    private void awaitTransfers() {
        await("operations never completed: ", () -> {
            pollAll();
            return ledger.thatMustComplete();
        });
        await("operations never arrived: ", () -> {
            pollAll();
            return ledger.missing();
        });
        await("counters stand still: ", lifeCycle.counters::behind);
    }

    private static void await(String what, java.util.function.Supplier<List<?>> open) {
        if (!Waiting.YIELD.tryUntil(() -> open.get().isEmpty(), DEADLINE)) {
            throw new AssertionError(what + open.get());
        }
    }

    private void pollAll() {
        state.queues.stream().filter(queue -> queue.open).forEach(queue -> transfers.poll(queue, 64));
        state.domains.forEach(dom -> dom.domain.progress()); // the hidden queues
    }

    private void finish() {
        note("finish");
        List<End> ends = new ArrayList<>(state.openEnds());
        java.util.Collections.shuffle(ends, random);
        ends.forEach(lifeCycle::closeWithAliases);
        for (int polls = 0; polls < 1000 && !ledger.pending().isEmpty(); polls++) { // errors come one by one
            pollAll();
        }
        pollAll();
        if (!ledger.pending().isEmpty()) { throw new AssertionError("tokens did not come back: " + ledger.pending()); }
        for (Queue queue : state.queues) {
            if (queue.open && queue.queue.operationsInFlight() != 0) {
                throw new AssertionError(queue.queue.operationsInFlight() + " slots leak on " + queue.queue);
            }
        }
        for (Region region : state.regions) {
            if (region.dom.open && region.region.operationsInFlight() != 0) {
                throw new AssertionError(region.region + " still has operations");
            }
        }
        checkMemory();
        lifeCycle.closeRest();
        for (Region region : state.regions) {
            if (!region.ofCaller && region.memory.segment().scope().isAlive()) {
                throw new AssertionError("the memory of " + region + " was not freed");
            }
        }
        state.domains.forEach(this::close);
        fabric.close();
        arena.close();
    }

    /** Closes an endpoint or a region: what a handler does. */
    void closeSomething() {
        if (random.nextBoolean()) {
            lifeCycle.close(pick(state.ends));
        } else {
            lifeCycle.close(pick(state.regions));
        }
    }

    void checkMemory() {
        ledger.propagate();
        state.regions.stream().filter(region -> region.ofCaller || region.open)
                .forEach(region -> region.memory.check(region));
    }

    private void close(Dom dom) {
        dom.domain.close();
        dom.open = false;
    }
}
