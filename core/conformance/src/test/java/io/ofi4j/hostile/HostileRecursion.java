package io.ofi4j.hostile;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.support.Pair;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One thread calls with every amount of stack that is too little, from itself and from handlers, while another works
 * with the same endpoint, and must go on.
 */
final class HostileRecursion {
    /** The frames above the end of the stack in which a call is made. */
    private static final int FRAMES = 150;
    private static final int KINDS = 5;
    /** Enough calls for each to have been made. */
    private static final int FIRST = 200;
    /** What one call may lose: the completion whose handler overflows, or the token that it posts. */
    private static final int MAX_LOST = 1;

    private final HostileRun run;
    private final HostileTraffic traffic;
    private final Pair pair;
    private final Random random;
    private final AtomicLong posted = new AtomicLong();
    private final AtomicLong returned = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private volatile boolean isOver;
    private int above;
    /** Counted by the diving thread alone, without a call: there is no stack for one. */
    private long overflows;
    private long named;
    private long lostHere;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { returned.incrementAndGet(); }

        @Override
        public void onError(CompletionError error) { returned.incrementAndGet(); }
    };

    private HostileRecursion(HostileRun run) {
        this.run = run;
        this.random = run.random();
        this.traffic = new HostileTraffic(run.provider, HostileFamilies.one(random, run.provider));
        this.pair = traffic.pair;
    }

    static void run(HostileRun run) throws Exception {
        HostileRecursion all = new HostileRecursion(run);
        for (int i = 0; i < FIRST; i++) {
            all.call(i % KINDS); // a first use at the end of a stack fails in the JDK, and then always
        }
        Thread other = run.start("worker", all::work);
        while (run.goesOn()) {
            all.above = 0;
            all.dive(all.random.nextInt(KINDS));
            run.tried("ends of the stack");
        }
        all.isOver = true;
        run.join(java.util.List.of(other));
        run.attempt("close", () -> all.traffic.close(all.handler));
        all.traffic.requireGuards(run);
        all.lost.addAndGet(all.lostHere);
        System.out.println(
                "tried " + all.overflows + " calls that ended the stack, and got " + all.named + " named errors");
        if (all.returned.get() > all.posted.get() || all.returned.get() + all.lost.get() < all.posted.get()) {
            run.fail(new AssertionError(all.posted + " were posted, " + all.returned + " came back, and at most "
                    + all.lost + " may be lost"));
        }
    }

    /** Goes to the end of the stack, and calls on the way back from there. */
    private void dive(int kind) {
        try {
            dive(kind);
        } catch (StackOverflowError e) {
            above = 0;
        }
        if (++above < FRAMES) { call(kind); }
    }

    private void call(int kind) {
        try {
            switch (kind) {
                case 0 -> post();
                case 1 -> pair.queue.poll(handler, 16);
                case 2 -> pair.endpoint.statistics();
                case 3 -> traffic.serve(random, HostileTraffic.IGNORE);
                default -> pair.farQueue.progress();
            }
        } catch (StackOverflowError | LinkageError e) {
            overflows++;
            lostHere += MAX_LOST;
        } catch (RuntimeException e) {
            run.requireNamed("a call at the end of the stack", e);
            named++;
            lostHere += MAX_LOST;
        }
    }

    private void post() {
        posted.incrementAndGet();
        lostHere++;
        if (!traffic.tryPost(random, 1)) { posted.decrementAndGet(); }
        lostHere--;
    }

    /** Works as others do, and gets on. */
    private void work() {
        long last = System.nanoTime();
        Random own = run.random();
        while (!isOver) {
            try {
                if (traffic.tryPost(own, 2)) { posted.incrementAndGet(); }
                pair.queue.poll(handler, 16);
                traffic.serve(own, HostileTraffic.IGNORE);
                run.tried("rounds of the other thread");
                last = System.nanoTime();
            } catch (RuntimeException e) {
                run.requireNamed("work beside", e);
                run.tried("named to the other thread: " + e.getMessage());
                lost.addAndGet(MAX_LOST);
            }
            if (System.nanoTime() - last > 20_000_000_000L) {
                run.fail(new AssertionError("the other thread does not get on"));
                return;
            }
        }
    }
}
