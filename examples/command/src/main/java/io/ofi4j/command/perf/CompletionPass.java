package io.ofi4j.command.perf;

import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** Writes or reads: each is done when its completion is read. */
final class CompletionPass implements Pass {
    private final Transfer transfer;
    private final Pump pump;
    private final Completions completions;
    private final int slots;
    private final int window;

    CompletionPass(Transfer transfer, Pump pump, int slots, int window) {
        this.transfer = transfer;
        this.pump = pump;
        this.completions = pump.completions();
        this.slots = slots;
        this.window = window;
    }

    @Override
    public long time(long operations, Ticks ticks) {
        completions.countOnly();
        long start = System.nanoTime();
        run(operations, Math.min(window, slots), window, ticks);
        return System.nanoTime() - start;
    }

    @Override
    public void record(long operations, Histogram latencies, Ticks ticks) {
        completions.record(latencies, null, window);
        runTimed(operations, Math.min(window, slots), ticks);
    }

    /** An operation that finds the window or the provider full is late, and its latency says by how much. */
    @Override
    public OpenLoop.Paced pace(Schedule schedule, BooleanSupplier isAsked, Ticks ticks) {
        pump.reset();
        int slotsInUse = Math.min(window, slots);
        long interval = Ticks.interval(schedule.operations());
        long nextTick = interval;
        int slot = 0;
        boolean begun = false;
        OpenLoop loop = new OpenLoop(schedule, isAsked);
        completions.record(loop.fromPlan(), loop.fromPost(), window);
        while (loop.isOpen() || completions.count < loop.count()) {
            while (loop.count() - completions.count < window && loop.isDue()) {
                if (!begun) { completions.begin(loop.count(), loop.planned()); }
                begun = !transfer.tryPost(slot, loop.count());
                if (begun) { break; }
                loop.posted();
                slot = slot + 1 == slotsInUse ? 0 : slot + 1;
            }
            if (begun || completions.count < loop.count()) {
                pump.poll(completions.count);
            } else {
                pump.pollIdle();
            }
            if (completions.count >= nextTick) {
                nextTick += interval;
                ticks.advance(interval);
            }
        }
        return loop.end();
    }

    @Override
    public void sweep(int slotsToUse) {
        completions.countOnly();
        run(slotsToUse, slotsToUse, slotsToUse, Ticks.NONE);
    }

    private void run(long operations, int slotsInUse, int inFlight, Ticks ticks) {
        pump.reset();
        long interval = Ticks.interval(operations);
        long nextTick = interval;
        int slot = 0;
        for (long posted = 0; completions.count < operations;) {
            while (posted < operations && posted - completions.count < inFlight && transfer.tryPost(slot, posted)) {
                posted++;
                slot = slot + 1 == slotsInUse ? 0 : slot + 1;
            }
            pump.poll(completions.count);
            if (completions.count >= nextTick) {
                nextTick += interval;
                ticks.advance(interval);
            }
        }
    }

    /** The same with a clock; an operation that finds no room has begun when it was tried first. */
    private void runTimed(long operations, int slotsInUse, Ticks ticks) {
        pump.reset();
        long interval = Ticks.interval(operations);
        long nextTick = interval;
        int slot = 0;
        boolean begun = false;
        for (long posted = 0; completions.count < operations;) {
            while (posted < operations && posted - completions.count < window) {
                if (!begun) { completions.begin(posted, System.nanoTime()); }
                begun = !transfer.tryPost(slot, posted);
                if (begun) { break; }
                posted++;
                slot = slot + 1 == slotsInUse ? 0 : slot + 1;
            }
            pump.poll(completions.count);
            if (completions.count >= nextTick) {
                nextTick += interval;
                ticks.advance(interval);
            }
        }
    }
}
