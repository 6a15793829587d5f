package io.ofi4j.command.soak;

import java.time.Duration;

/**
 * How much a round does, so that it ends soon whatever else the machine has to do.
 *
 * @param operations how many it posts at most
 * @param posting for how long it posts at most
 * @param largest the most bytes that one operation moves, about
 * @param patience how long nothing may move
 */
record Pace(int operations, Duration posting, int largest, Duration patience) {
    private static final int MEBIBYTE = 1 << 20;
    private static final int PAGES = 1 << 16;

    private static final Pace USUAL = new Pace(1500, Duration.ofSeconds(2), MEBIBYTE, Duration.ofSeconds(20));
    /** Sends what is lost again, after up to four seconds, and whatever comes late counts as lost. */
    private static final Pace OVER_DATAGRAMS = new Pace(200, Duration.ofSeconds(1), PAGES, Duration.ofSeconds(60));

    static Pace of(String provider) { return provider.contains("ofi_rxd") ? OVER_DATAGRAMS : USUAL; }
}
