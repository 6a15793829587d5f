package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads post operations of one family after the other, at both ends, while everything is closed under them in any order. Every token
 * that was posted comes back once, and what lies beside the regions is not touched.
 */
final class HostileCloses {
    private static final int LENGTH = 4096;
    private static final int GUARD_LENGTH = 64;
    private static final byte GUARD = 0x5a;
    /** No message is longer than a receive. */
    private static final int MESSAGE = 64;
    private static final int TAGS = 3;

    private final HostileRun run;
    private final Pair pair;
    private final Capability family;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2 * LENGTH + 3 * GUARD_LENGTH, 64).fill(GUARD);
    private final MemoryRegion near;
    private final MemoryRegion far;
    private final RemoteRegion there;
    private final AtomicLong last = new AtomicLong();
    private final Set<Long> posted = ConcurrentHashMap.newKeySet();
    private final Set<Long> returned = ConcurrentHashMap.newKeySet();
    private volatile boolean isOver;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { back(token); }

        @Override
        public void onError(CompletionError error) { back(error.token()); }
    };

    private HostileCloses(HostileRun run, Random random) {
        this.run = run;
        this.family = HostileFamilies.one(random, run.provider);
        FabricHints hints = TestProviders.hints(run.provider);
        this.pair = new Pair(family == Capability.RMA ? hints : hints.capabilities(Capability.RMA, family));
        this.near = pair.domain.register(memory.asSlice(GUARD_LENGTH, LENGTH), Access.values());
        this.far = pair.domain.register(memory.asSlice(LENGTH + 2 * GUARD_LENGTH, LENGTH), Access.values());
        this.there = far.remote();
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        do {
            new HostileCloses(run, random).round(random);
            run.tried("rounds");
        } while (run.goesOn());
    }

    private void round(Random random) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Random own = run.random();
            threads.add(run.start("posting", () -> again(() -> post(own))));
        }
        Random own = run.random();
        threads.add(run.start("receiving", () -> again(() -> receive(own))));
        for (CompletionQueue queue : List.of(pair.queue, pair.farQueue)) {
            threads.add(run.start("polling", () -> again(() -> queue.poll(handler, 1 + own.nextInt(16)))));
        }
        Thread.sleep(random.nextInt(20));
        closeInAnyOrder(random);
        isOver = true;
        run.join(threads);
        requireEachTokenOnce();
        run.attempt("close", pair::close);
        requireGuards();
        arena.close();
    }

    private void again(Runnable step) {
        while (!isOver) {
            run.attempt("steps over " + family, step::run);
        }
    }

    private void post(Random random) {
        long token = last.incrementAndGet();
        if (hasPosted(random, token)) { posted.add(token); }
    }

    private boolean hasPosted(Random random, long token) {
        long length = random.nextInt(MESSAGE);
        long offset = 8L * random.nextInt(LENGTH / 16);
        return switch (random.nextInt(3)) {
            case 0 -> pair.rma().tryWrite(near, offset, length, pair.far, there, offset, token);
            case 1 -> pair.rma().tryRead(near, offset, length, pair.far, there, offset, token);
            default -> switch (family) {
                case ATOMIC -> pair.endpoint.atomics().tryFetch(AtomicOperation.SUM, Datatype.INT64, 1, near, offset,
                        pair.far, there, offset, token);
                case MSG -> pair.endpoint.messages().trySend(near, offset, length, pair.far, token);
                case TAGGED ->
                    pair.endpoint.tagged().trySend(near, offset, length, pair.far, random.nextInt(TAGS), token);
                default -> pair.rma().tryWriteData(near, offset, length, 7, pair.far, there, offset, token);
            };
        };
    }

    private void receive(Random random) {
        Endpoint endpoint = pair.farEndpoint;
        long token = last.incrementAndGet();
        long offset = 8L * random.nextInt(LENGTH / 16);
        boolean cancels = random.nextInt(8) == 0;
        boolean hasPosted = switch (family) {
            case MSG -> endpoint.messages().tryReceive(far, offset, MESSAGE, token);
            case TAGGED -> endpoint.tagged().tryReceive(far, offset, MESSAGE, random.nextInt(TAGS), 0, token);
            default -> false;
        };
        if (!hasPosted) { return; }
        posted.add(token);
        if (cancels && family == Capability.MSG) { endpoint.messages().cancel(token); }
        if (cancels && family == Capability.TAGGED) { endpoint.tagged().cancel(token); }
    }

    private void back(long token) {
        if (token != CompletionHandler.NO_TOKEN && !returned.add(token)) {
            run.fail(new AssertionError("token " + token + " came back twice"));
        }
    }

    /** All but the queues, which hold what is still to be told. */
    private void closeInAnyOrder(Random random) throws InterruptedException {
        List<AutoCloseable> open = new ArrayList<>(
                List.of(near, far, pair.endpoint, pair.farEndpoint, pair.vector == null ? pair.passive : pair.vector));
        Collections.shuffle(open, random);
        long start = System.nanoTime();
        while (!open.isEmpty() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
            AutoCloseable one = open.removeFirst();
            if (!run.attempt("closes over " + family, one::close)) { open.add(one); }
            run.attempt("closes of what has open children", (random.nextBoolean() ? pair.domain : pair.fabric)::close);
            Thread.sleep(Duration.ofNanos(random.nextInt(2_000_000)));
        }
        if (!open.isEmpty()) { run.fail(new AssertionError("cannot be closed: " + open)); }
    }

    private void requireEachTokenOnce() {
        for (CompletionQueue queue : List.of(pair.queue, pair.farQueue)) {
            while (queue.poll(handler, 64) > 0) {
                Thread.onSpinWait();
            }
        }
        if (!posted.equals(returned)) {
            Set<Long> lost = new java.util.TreeSet<>(posted);
            lost.removeAll(returned);
            returned.removeAll(posted);
            run.fail(new AssertionError(family + ": tokens that were lost " + lost + ", of nobody " + returned));
        }
    }

    private void requireGuards() {
        for (int guard = 0; guard < 3; guard++) {
            for (int i = 0; i < GUARD_LENGTH; i++) {
                if (memory.get(ValueLayout.JAVA_BYTE, (long) guard * (LENGTH + GUARD_LENGTH) + i) != GUARD) {
                    run.fail(new AssertionError(family + ": memory beside a region was written"));
                }
            }
        }
    }
}
