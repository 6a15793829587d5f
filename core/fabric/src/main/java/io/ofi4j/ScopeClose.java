package io.ofi4j;

import io.ofi4j.internal.os.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;

/** One close of a scope: closes objects with everything in them, within one deadline, and keeps what is thrown. */
final class ScopeClose {
    /** The time that a progress thread has even after the deadline. It needs less unless it hangs. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(1);

    private final long start = System.nanoTime();
    private final long timeout;
    private Throwable failure;
    /** Why an object is still open although nothing has failed; the first one of the last round. */
    private IllegalStateException obstacle;
    private boolean hasWrongThread;

    ScopeClose(Duration timeout) { this.timeout = Deadlines.nanos(timeout); }

    /** The time that is left for waits, possibly none. */
    Duration remaining() {
        return Duration.ofNanos(Math.max(0, timeout - (System.nanoTime() - start)));
    }

    private Duration atLeast(Duration least) {
        Duration left = remaining();
        return left.compareTo(least) < 0 ? least : left;
    }

    /**
     * Closes objects in their order. Those that others of them need are closed after these. Leaves the ones in the list
     * that are still open.
     */
    void closeAll(List<AutoCloseable> objects) {
        List<AutoCloseable> waiting = new ArrayList<>(objects);
        Set<AutoCloseable> closed = Collections.newSetFromMap(new IdentityHashMap<>());
        IllegalStateException obstacleBefore = obstacle;
        int before;
        try {
            do {
                before = waiting.size();
                obstacle = obstacleBefore; // what an earlier round met may be gone
                waiting.removeIf(one -> {
                    Outcome outcome = closeWithChildren(one);
                    if (outcome == Outcome.CLOSED) { closed.add(one); }
                    return outcome != Outcome.NEEDED;
                });
            } while (!waiting.isEmpty() && waiting.size() < before);
        } finally {
            objects.removeIf(closed::contains); // once: there may be many
        }
    }

    private enum Outcome {
        CLOSED, FAILED, NEEDED
    }

    private Outcome closeWithChildren(AutoCloseable object) {
        try {
            switch (object) {
                case Fabric fabric -> fabric.closeChildren(this);
                case Domain domain -> domain.closeChildren(this);
                case ScalableEndpoint endpoint -> endpoint.closeChildren(this);
                case Endpoint endpoint -> endpoint.closeChildren(this);
                default -> {
                }
            }
            switch (object) {
                case Endpoint endpoint -> endpoint.lifeCycle.close(remaining());
                case ProgressThread thread -> thread.close(atLeast(STOP_TIMEOUT));
                default -> object.close();
            }
            return Outcome.CLOSED;
        } catch (IllegalStateException e) {
            if (!isNeeded(object)) {
                failed(e);
                return Outcome.FAILED;
            }
            if (obstacle == null) { obstacle = e; } // the later ones are often its consequence
            return Outcome.NEEDED;
        } catch (WrongThreadException e) { // each object of that thread would throw one
            if (!hasWrongThread) { failed(e); }
            hasWrongThread = true;
            return Outcome.FAILED;
        } catch (RuntimeException | Error e) {
            failed(e);
            return Outcome.FAILED;
        } catch (Exception e) {
            if (e instanceof InterruptedException) { Thread.currentThread().interrupt(); }
            failed(new CompletionException(e));
            return Outcome.FAILED;
        }
    }

    /** Whether an object cannot be closed because others that need it are open. */
    private static boolean isNeeded(AutoCloseable object) {
        return switch (object) {
            case Fabric fabric -> fabric.hasChildren();
            case Domain domain -> !domain.children.isEmpty();
            case CompletionQueue queue -> !queue.endpoints().isEmpty();
            case AddressVector vector -> !vector.endpoints().isEmpty();
            case Counter counter -> counter.isBound();
            case EventQueue queue -> queue.isBound();
            case SharedTransmitContext context -> !context.endpoints().isEmpty();
            case Endpoint endpoint -> !endpoint.children.isEmpty() || !endpoint.bindings.sharers.isEmpty();
            case ScalableEndpoint endpoint -> endpoint.hasContexts();
            case PassiveEndpoint endpoint -> endpoint.hasTakenRequests();
            default -> false;
        };
    }

    private void failed(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        } else if (failure != thrown) { failure.addSuppressed(thrown); }
    }

    /** Throws what the first failing close has thrown, or why something is still open. */
    void throwFailure() {
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {
                if (obstacle != null) { throw obstacle; }
            }
        }
    }
}
