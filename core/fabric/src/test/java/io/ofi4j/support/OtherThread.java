package io.ofi4j.support;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A second thread, in which a test makes calls; always the same one. */
public final class OtherThread implements AutoCloseable {
    public final Thread thread;
    private final ExecutorService executor = Executors.newSingleThreadExecutor();

    public OtherThread() { thread = run(Thread::currentThread); }

    /** {@return what a call has returned} An exception of it is the cause of an AssertionError. */
    public <T> T run(Callable<T> call) {
        try {
            return begin(call).get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** As the other, for a call that returns nothing. */
    public void run(Runnable call) {
        run(() -> {
            call.run();
            return null;
        });
    }

    /** Begins a call, and does not wait for it. */
    public <T> Future<T> begin(Callable<T> call) {
        return executor.submit(call);
    }

    @Override
    public void close() { executor.shutdownNow(); }
}
