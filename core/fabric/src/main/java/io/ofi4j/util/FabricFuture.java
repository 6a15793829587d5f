package io.ofi4j.util;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * The future of one operation, made by {@link FutureThread}. It ends when the operation has ended: from then on the
 * operation's memory is the program's. Any thread may call the methods.
 *
 * <p><b>Cancellation.</b> A posted receive can be canceled, by {@link #cancel}, a deadline of {@link #within} or an
 * interrupt of {@link #await()}: fi_cancel, fi_endpoint(3). The future does not complete before the provider has given
 * the receive back; if a message has come meanwhile, the future completes with that message. Other operations are not
 * canceled, nor are receives where the provider cannot: their future ends when the operation has ended, or with {@code
 * ECANCELED} (125) when the endpoint is closed. That is how to end an operation whose peer has died.
 *
 * <p>{@link #complete}, {@link #completeExceptionally}, {@link #orTimeout} and {@link FutureThread#close} end the
 * future and not the operation, which then still uses its memory.
 */
public final class FabricFuture extends CompletableFuture<FutureThread.Result> {
    private final FutureThread futures;
    private final long token;
    /** Why the operation is to be canceled; null if it is not. */
    private RuntimeException reason;

    FabricFuture(FutureThread futures, long token) {
        this.futures = futures;
        this.token = token;
    }

    /**
     * Cancels the operation at a deadline, if it can be canceled; otherwise the deadline has no effect. The future then
     * ends with {@link FabricTimeoutException}, once the memory is free. To end a wait and leave the operation as it
     * is, use {@link #get(long, java.util.concurrent.TimeUnit)}.
     *
     * @param deadline the time from now; at once if it is not above zero
     * @return this future
     */
    public FabricFuture within(Duration deadline) {
        futures.cancelAfter(deadline, this);
        return this;
    }

    /**
     * Asks the provider to cancel the operation, if it can be canceled; fi_cancel, fi_endpoint(3). The future ends with
     * {@link CancellationException} when that has happened, which may be after this call.
     *
     * @param mayInterruptIfRunning ignored
     * @return whether the operation is canceled by now
     */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        cancel(new CancellationException("the operation was canceled"));
        return isCancelled();
    }

    /** Requests a cancellation, after which the future ends with an exception. */
    void cancel(RuntimeException why) {
        synchronized (this) {
            if (reason == null) { reason = why; }
        }
        if (isDone() || futures.cancelReceive(token)) { return; }
        synchronized (this) { // it goes on, and may fail for another reason
            if (reason == why) { reason = null; }
        }
    }

    /** Ends the future of an operation that has failed. */
    void failed(FabricException error) {
        RuntimeException why;
        synchronized (this) {
            why = error.errno() == Errno.ECANCELED && reason != null ? reason : error;
        }
        completeExceptionally(why);
    }

    /**
     * Waits until the operation has ended, and throws what it has ended with. A virtual thread releases its carrier
     * meanwhile. An interrupt cancels the operation, as {@link #cancel} does, and the wait goes on until it has ended.
     *
     * @return the result
     * @throws FabricException if the operation has failed; with errno {@code EINTR} (4) if it was canceled because of
     *         an interrupt. The interrupt status is set then, and also after an interrupt that came too late
     * @throws FabricTimeoutException if it was canceled at the deadline of {@link #within}
     * @throws CancellationException if it was canceled, or the {@link FutureThread} were closed
     * @throws IllegalStateException if an action of a future calls it before this future has ended. Actions run on the
     *         thread that completes futures: use {@link #thenCompose} there
     */
    public FutureThread.Result await() {
        if (!isDone() && futures.isPollingThread()) {
            throw new IllegalStateException("an action of a future waits for another future, which only its own thread"
                    + " could complete: use thenCompose, or a method that ends in Async");
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    cancel(new FabricException("await on an operation was interrupted: thread '"
                            + Thread.currentThread().getName() + "' has its interrupt status set.", "await",
                            Errno.EINTR));
                }
            }
        } catch (CancellationException e) {
            Throwable first = e.getCause() == null ? e : e.getCause(); // newer JDKs wrap it
            throw (CancellationException) new CancellationException(first.getMessage()).initCause(first);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                default -> throw new CompletionException(e.getCause());
            }
        } finally {
            if (interrupted) { Thread.currentThread().interrupt(); }
        }
    }
}
