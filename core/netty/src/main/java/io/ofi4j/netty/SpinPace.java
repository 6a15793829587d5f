package io.ofi4j.netty;

import java.time.Duration;

/**
 * How long a loop polls before it sleeps. Where it has polled in vain several times running, it sleeps at once for a
 * while: what it waits for takes longer, or the other side cannot run before this thread sleeps. Then it tries again.
 * The loop's thread alone calls it.
 */
final class SpinPace {
    /** So many times in vain, and it sleeps at once for so many times as long. */
    static final int MAX_IN_VAIN = 8;
    static final int REST = 256;
    private static final Duration MAX_REST = Duration.ofSeconds(1);

    private final long spinNanos;
    private final long restNanos;
    private int inVain;
    private long restsUntil;

    SpinPace(Duration spin) {
        spinNanos = spin.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0 ? spin.toNanos() : Long.MAX_VALUE;
        restNanos = Math.min(spinNanos, MAX_REST.toNanos() / REST) * REST;
    }

    /** {@return how long to poll now; 0 to sleep at once} */
    long spinNanos(long now) {
        if (inVain >= MAX_IN_VAIN) {
            if (now - restsUntil < 0) { return 0; }
            inVain = 0;
        }
        return spinNanos;
    }

    /** While the loop polled, there was something to do. */
    void paid() { inVain = 0; }

    /** It has polled as long as it was told, and there was nothing. */
    void wasInVain(long now) {
        if (++inVain == MAX_IN_VAIN) { restsUntil = now + restNanos; }
    }
}
