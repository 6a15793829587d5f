package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The heap is full at any moment, also in handlers; when there is room again everything works, and every token came
 * back.
 */
final class HostileErrors {
    private static final int BLOCK = 1 << 16;
    private static final int SMALLEST = 64;
    /** Enough steps for each call to have been made. */
    private static final int FIRST = 100;

    private final HostileRun run;
    private final Random random;
    private final HostileTraffic traffic;
    private final Pair pair;
    private long posted;
    private long returned;
    /** Calls that an Error broke off: they may have posted, and their tokens come back then. */
    private long broken;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { returned++; }

        @Override
        public void onError(CompletionError error) { returned++; }
    };

    private HostileErrors(HostileRun run) {
        this.run = run;
        this.random = run.random();
        this.traffic = new HostileTraffic(run.provider, HostileFamilies.one(random, run.provider));
        this.pair = traffic.pair;
    }

    static void run(HostileRun run) {
        HostileErrors all = new HostileErrors(run);
        for (int i = 0; i < FIRST; i++) {
            all.step(); // a first use with a full heap fails in the JDK, and then always
        }
        while (run.goesOn()) {
            all.round();
        }
        run.attempt("close", () -> all.traffic.close(all.handler));
        all.traffic.requireGuards(run);
        if (all.returned < all.posted || all.returned > all.posted + all.broken) {
            run.fail(new AssertionError(
                    all.posted + " were posted, " + all.broken + " broke off, " + all.returned + " came back"));
        }
    }

    /** Calls until the full heap ends one. */
    private void round() {
        List<byte[]> ballast = new ArrayList<>();
        try {
            for (int size = BLOCK; size > SMALLEST; size /= 2) {
                fill(ballast, size);
            }
            for (int i = random.nextInt(20); i > 0; i--) {
                step();
            }
        } catch (OutOfMemoryError e) {
            ballast.clear();
            run.tried("calls without heap");
        }
        ballast.clear();
        step();
        run.tried("rounds");
    }

    private static void fill(List<byte[]> ballast, int size) {
        try {
            while (true) {
                ballast.add(new byte[size]);
            }
        } catch (OutOfMemoryError e) {
            return; // full
        }
    }

    private void step() {
        broken++; // until the call has returned
        if (traffic.tryPost(random, 1)) { posted++; }
        broken--;
        pair.queue.poll(handler, 16);
        traffic.serve(random, HostileTraffic.IGNORE);
        if (random.nextInt(4) == 0) { pair.domain.allocate(4096, Access.REMOTE_WRITE).close(); }
        if (random.nextInt(4) == 0) { pair.domain.openCounter().close(); }
    }
}
