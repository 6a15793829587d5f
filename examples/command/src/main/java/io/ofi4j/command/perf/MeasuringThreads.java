package io.ofi4j.command.perf;

import io.ofi4j.command.Interrupt;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Phaser;

/** Threads of this process that measure in step, each with an end of its own. */
final class MeasuringThreads implements Team {
    private final Phaser meeting;
    private final List<Row> rows = new ArrayList<>();
    private volatile Row together;
    private volatile boolean stopped;
    private volatile Throwable failure;
    private Interrupt interrupt;

    MeasuringThreads(int threads) {
        meeting = new Phaser(threads) {
            @Override
            protected boolean onAdvance(int phase, int registered) {
                if (!rows.isEmpty()) {
                    together = Row.sum(rows);
                    rows.clear();
                }
                stopped = interrupt.isAsked(); // the same for all of them
                return false;
            }
        };
    }

    /** Runs one of them in this thread, and the others in threads of their own; {@return what came of this one} */
    Benchmark.Result run(Callable<Benchmark.Result> first, List<Callable<Benchmark.Result>> more) throws Exception {
        try (Interrupt asked = new Interrupt()) {
            interrupt = asked;
            List<Thread> others = new ArrayList<>();
            for (Callable<Benchmark.Result> other : more) {
                others.add(Thread.ofPlatform().daemon().name("measuring").start(() -> guarded(other)));
            }
            Benchmark.Result result = guarded(first);
            for (Thread thread : others) {
                thread.join();
            }
            if (failure instanceof Exception e) { throw e; }
            if (failure != null) { throw (Error) failure; }
            return result;
        }
    }

    /** Where one fails, the others do not wait for it. */
    private Benchmark.Result guarded(Callable<Benchmark.Result> work) {
        try {
            return work.call();
        } catch (CancellationException e) {
            return null; // the failure of another
        } catch (Throwable e) {
            synchronized (rows) {
                if (failure == null) { failure = e; }
            }
            meeting.forceTermination();
            return null;
        }
    }

    @Override
    public void meet() { if (meeting.arriveAndAwaitAdvance() < 0) { throw new CancellationException(); } }

    @Override
    public Row add(Row own) {
        synchronized (rows) {
            rows.add(own);
        }
        meet();
        return together;
    }

    @Override
    public boolean isAsked() { return interrupt.isAsked(); }

    @Override
    public boolean isStopped() { return stopped; }
}
