package io.ofi4j.command.perf;

import io.ofi4j.Waiting;
import java.time.Duration;

/** A completion says that a write has left; it may need some progress more until it has arrived. */
final class Patience {
    private static final Duration LONGEST = Duration.ofSeconds(2);
    private static final int POLLS = 64;

    private Patience() {}

    /** {@return how many slots are damaged, once none is or time is up} */
    static int damaged(Runnable progress, End end, Layout layout, long seed, Duration timeout) {
        int[] damaged = {damaged(end, layout, seed)};
        Waiting.YIELD.tryUntil(() -> {
            for (int poll = 0; poll < POLLS && damaged[0] > 0; poll++) {
                progress.run();
            }
            damaged[0] = damaged[0] == 0 ? 0 : damaged(end, layout, seed);
            return damaged[0] == 0;
        }, timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST);
        return damaged[0];
    }

    private static int damaged(End end, Layout layout, long seed) {
        end.load();
        return Pattern.damaged(end.memory(), layout, seed);
    }
}
