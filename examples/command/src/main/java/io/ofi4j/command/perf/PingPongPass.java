package io.ofi4j.command.perf;

import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** Messages one after the other, each answered: half of the time until the answer is there is that of one. */
final class PingPongPass implements Pass {
    private final Transfer.OfMessages transfer;
    private final Pump pump;

    PingPongPass(Transfer.OfMessages transfer, Pump pump) {
        this.transfer = transfer;
        this.pump = pump;
    }

    @Override
    public long time(long operations, Ticks ticks) {
        begin();
        long start = System.nanoTime();
        run(operations, ticks);
        return (System.nanoTime() - start) / 2;
    }

    @Override
    public void record(long operations, Histogram latencies, Ticks ticks) {
        begin();
        long interval = Ticks.interval(operations);
        for (long done = 1; done <= operations; done++) {
            long start = System.nanoTime();
            roundTrip(done);
            Latencies.record(latencies, (System.nanoTime() - start) / 2);
            if (done % interval == 0) { ticks.advance(interval); }
        }
    }

    @Override
    public OpenLoop.Paced pace(Schedule schedule, BooleanSupplier isAsked, Ticks ticks) {
        throw new AssertionError("a ping-pong has a rate of its own");
    }

    @Override
    public void sweep(int slots) {
        begin();
        run(slots, Ticks.NONE);
    }

    private void begin() {
        pump.completions().countOnly();
        pump.reset();
    }

    private void run(long operations, Ticks ticks) {
        long interval = Ticks.interval(operations);
        for (long done = 1; done <= operations; done++) {
            roundTrip(done);
            if (done % interval == 0) { ticks.advance(interval); }
        }
    }

    private void roundTrip(long number) {
        long answered = transfer.answered();
        while (!transfer.tryPost(0, 0)) {
            pump.poll(number);
        }
        while (transfer.answered() == answered) {
            pump.poll(number);
        }
    }
}
