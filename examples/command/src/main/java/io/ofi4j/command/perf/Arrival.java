package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Waits until everything posted before has arrived: writes a new number behind the slots, and reads the target's until
 * it is that. Providers that keep writes in order ({@code FI_ORDER_WAW}), as all software providers do, have delivered
 * everything else by then.
 */
final class Arrival {
    private static final int SENT = 0;
    private static final int FETCHED = Long.BYTES;

    private final Poster poster;
    private final MemorySegment local;
    private final Pump pump;
    private final Completions completions;
    private final long marker;
    private long number;

    Arrival(Place place, Pump pump) {
        this.poster = place.here().poster();
        this.local = place.here().memory();
        this.pump = pump;
        this.completions = pump.completions();
        this.marker = poster.targetLength() - Layout.MARKER;
    }

    void await() {
        pump.reset();
        completions.countOnly();
        local.set(ValueLayout.JAVA_LONG, marker + SENT, ++number);
        while (!poster.tryWrite(marker + SENT, Long.BYTES, marker, 0)) {
            pump.poll(0);
        }
        awaitCompletions(1);
        long reads = 1;
        do {
            while (!poster.tryRead(marker + FETCHED, Long.BYTES, marker, 0)) {
                pump.poll(0);
            }
            awaitCompletions(++reads);
        } while (local.get(ValueLayout.JAVA_LONG, marker + FETCHED) != number);
    }

    private void awaitCompletions(long wanted) {
        while (completions.count < wanted) {
            pump.poll(0);
        }
    }
}
