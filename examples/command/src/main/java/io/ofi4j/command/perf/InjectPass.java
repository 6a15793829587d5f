package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** Injects: each is done when the call has accepted it; the pass is when everything has arrived. */
final class InjectPass implements Pass {
    /** Providers that take everything and send it when they are polled would do it all at the end otherwise. */
    private static final int INJECTS_PER_POLL = 256;

    private final Transfer transfer;
    private final Pump pump;
    private final Arrival arrival;
    private final int slots;

    InjectPass(Transfer transfer, Pump pump, Place place, int slots) {
        this.transfer = transfer;
        this.pump = pump;
        this.arrival = new Arrival(place, pump);
        this.slots = slots;
    }

    @Override
    public long time(long operations, Ticks ticks) {
        long start = System.nanoTime();
        run(operations, slots, ticks);
        arrival.await();
        return System.nanoTime() - start;
    }

    @Override
    public void record(long operations, Histogram latencies, Ticks ticks) {
        pump.reset();
        long interval = Ticks.interval(operations);
        long nextTick = interval;
        int slot = 0;
        for (long posted = 0; posted < operations;) {
            long start = System.nanoTime();
            post(slot, posted);
            Latencies.record(latencies, System.nanoTime() - start);
            slot = slot + 1 == slots ? 0 : slot + 1;
            if (++posted % INJECTS_PER_POLL == 0) { pump.poll(posted); }
            if (posted == nextTick) {
                nextTick += interval;
                ticks.advance(interval);
            }
        }
        arrival.await();
    }

    @Override
    public OpenLoop.Paced pace(Schedule schedule, BooleanSupplier isAsked, Ticks ticks) {
        pump.reset();
        long interval = Ticks.interval(schedule.operations());
        int slot = 0;
        OpenLoop loop = new OpenLoop(schedule, isAsked);
        while (loop.isOpen()) {
            if (!loop.isDue()) {
                pump.pollIdle();
                continue;
            }
            long planned = loop.planned();
            long start = System.nanoTime();
            post(slot, loop.count());
            long end = System.nanoTime();
            Latencies.record(loop.fromPlan(), end - planned);
            Latencies.record(loop.fromPost(), end - start);
            slot = slot + 1 == slots ? 0 : slot + 1;
            loop.posted();
            if (loop.count() % INJECTS_PER_POLL == 0) { pump.poll(loop.count()); }
            if (loop.count() % interval == 0) { ticks.advance(interval); }
        }
        arrival.await();
        return loop.end();
    }

    @Override
    public void sweep(int slotsToUse) { run(slotsToUse, slotsToUse, Ticks.NONE); }

    private void run(long operations, int slotsInUse, Ticks ticks) {
        pump.reset();
        long interval = Ticks.interval(operations);
        long nextTick = interval;
        int slot = 0;
        for (long posted = 0; posted < operations;) {
            post(slot, posted);
            slot = slot + 1 == slotsInUse ? 0 : slot + 1;
            if (++posted % INJECTS_PER_POLL == 0) { pump.poll(posted); }
            if (posted == nextTick) {
                nextTick += interval;
                ticks.advance(interval);
            }
        }
    }

    private void post(int slot, long posted) {
        while (!transfer.tryPost(slot, posted)) {
            pump.poll(posted);
        }
    }

    /**
     * Waits until everything posted before has arrived: writes a new number behind the slots, and reads the target's
     * until it is that. Providers that keep writes in order ({@code FI_ORDER_WAW}), as all software providers do, have
     * delivered everything else by then.
     */
    private static final class Arrival {
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
}
