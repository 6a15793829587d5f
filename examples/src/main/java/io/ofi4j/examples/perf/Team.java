package io.ofi4j.examples.perf;

import io.ofi4j.examples.Interrupt;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Phaser;

/** Threads that measure in step, each with an end of its own: all post at the same time, and their rows become one. */
final class Team {
    private final Phaser meeting;
    private final List<Row> rows = new ArrayList<>();
    private volatile Row together;
    private volatile boolean stopped;
    private volatile Throwable failure;
    private Interrupt interrupt;

    Team(int threads) {
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
    Result run(Callable<Result> first, Callable<Result> other) throws Exception {
        try (Interrupt asked = new Interrupt()) {
            interrupt = asked;
            List<Thread> others = new ArrayList<>();
            for (int i = 1; i < meeting.getRegisteredParties(); i++) {
                others.add(Thread.ofPlatform().daemon().name("measuring " + i).start(() -> guarded(other)));
            }
            Result result = guarded(first);
            for (Thread thread : others) {
                thread.join();
            }
            if (failure instanceof Exception e) { throw e; }
            if (failure != null) { throw (Error) failure; }
            return result;
        }
    }

    /** Where one fails, the others do not wait for it. */
    private Result guarded(Callable<Result> work) {
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

    /** Waits until all have come here. */
    void meet() {
        if (meeting.arriveAndAwaitAdvance() < 0) { throw new CancellationException(); }
    }

    /** {@return what all have measured, the same for each} */
    Row add(Row own) {
        synchronized (rows) {
            rows.add(own);
        }
        meet();
        return together;
    }

    /** {@return whether the user has enough} */
    boolean isAsked() { return interrupt.isAsked(); }

    /** {@return whether the user had enough when all met} */
    boolean isStopped() { return stopped; }
}
