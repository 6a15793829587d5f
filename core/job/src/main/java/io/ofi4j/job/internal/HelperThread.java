package io.ofi4j.job.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Calls that may never return, each in a thread of its own, which is abandoned at the deadline. */
public final class HelperThread {
    private HelperThread() {}

    /** {@return the result of a call to the launcher} */
    static <T> T within(Deadline deadline, Supplier<T> call) {
        return result(start(call), deadline);
    }

    /** {@return the result of a call that has a deadline} It makes progress in this thread until the call ends. */
    public static <T> T withProgress(Wait wait, Supplier<T> call) {
        CompletableFuture<T> result = start(call);
        for (int turn = 0; !result.isDone(); turn = turn + 1 & Integer.MAX_VALUE) {
            wait.turn(turn);
        }
        return result(result, wait.deadline());
    }

    /** Runs a call that ends by itself. An interrupt does not end the wait; the interrupt status is set afterwards. */
    public static void uninterrupted(Runnable call) {
        CompletableFuture<Void> result = start(() -> {
            call.run();
            return null;
        });
        boolean interrupted = Thread.interrupted();
        try {
            while (!result.isDone()) {
                interrupted |= !awaitDone(result);
            }
            result(result, Deadline.in(Duration.ZERO));
        } finally {
            if (interrupted) { Thread.currentThread().interrupt(); }
        }
    }

    /** Returns false if the thread was interrupted. */
    private static boolean awaitDone(CompletableFuture<Void> result) {
        try {
            result.get();
            return true;
        } catch (ExecutionException e) {
            return true; // who asks for the result gets it
        } catch (InterruptedException e) {
            return false;
        }
    }

    private static <T> CompletableFuture<T> start(Supplier<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("ofi4j-job-call").start(() -> {
            try {
                result.complete(call.get());
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        });
        return result;
    }

    private static <T> T result(CompletableFuture<T> result, Deadline deadline) {
        try {
            return result.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IllegalCallerException refusal) { // its stack trace is that of another thread
                throw new IllegalCallerException(refusal.getMessage(), refusal);
            }
            if (e.getCause() instanceof RuntimeException failure) { throw failure; }
            if (e.getCause() instanceof Error error) { throw error; }
            throw new AssertionError(e);
        } catch (TimeoutException e) {
            throw new LauncherException(
                    "the launcher did not answer within " + deadline + ": a rank has not started, or has gone", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LauncherException("the wait was interrupted", e);
        }
    }
}
