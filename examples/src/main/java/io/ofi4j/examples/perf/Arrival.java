package io.ofi4j.examples.perf;

import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import java.lang.foreign.ValueLayout;

/**
 * Waits until everything posted before has arrived: writes a new number behind the slots, and reads the target's until
 * it is that. Providers that keep writes in order ({@code FI_ORDER_WAW}), as all software providers do, have delivered
 * everything else by then.
 */
final class Arrival {
    private static final int SENT = 0;
    private static final int FETCHED = Long.BYTES;

    private final Rma rma;
    private final MemoryRegion local;
    private final Target target;
    private final Pump pump;
    private final Completions completions;
    private final long marker;
    private long number;

    Arrival(Place place, Pump pump) {
        this.rma = place.here().endpoint().rma();
        this.local = place.here().region();
        this.target = place.target();
        this.pump = pump;
        this.completions = pump.completions();
        this.marker = target.region().length() - Layout.MARKER;
    }

    void await() {
        RemoteRegion remote = target.region();
        pump.reset();
        completions.countOnly();
        local.segment().set(ValueLayout.JAVA_LONG, marker + SENT, ++number);
        while (!rma.tryWrite(local, marker + SENT, Long.BYTES, target.peer(), remote, marker, 0)) {
            pump.poll(0);
        }
        awaitCompletions(1);
        long reads = 1;
        do {
            while (!rma.tryRead(local, marker + FETCHED, Long.BYTES, target.peer(), remote, marker, 0)) {
                pump.poll(0);
            }
            awaitCompletions(++reads);
        } while (local.segment().get(ValueLayout.JAVA_LONG, marker + FETCHED) != number);
    }

    private void awaitCompletions(long wanted) {
        while (completions.count < wanted) {
            pump.poll(0);
        }
    }
}
