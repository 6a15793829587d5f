package io.ofi4j;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.os.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Closes everything that was opened in it, children before parents, even if a close throws. Opened by
 * {@link Libfabric#openScope}.
 *
 * <pre>{@code
 * try (Scope scope = libfabric.openScope()) {
 *     Fabric fabric = scope.openFabric(info);
 *     Domain domain = fabric.openDomain();
 *     regions = new Regions(domain); // keeps regions in fields, and closes none
 *     serve(domain);
 * }
 * }</pre>
 *
 * <p>A fabric that the scope opened belongs to it with everything that is opened through it: domains, endpoints with
 * their aliases and multicast groups, contexts, regions, queues, vectors, counters, progress threads, listeners,
 * connection requests. {@link #add} adds other objects, such as a {@code Job}, an arena, or the endpoint of one
 * connection. A program may close the objects of its fabrics itself, earlier.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@link #close} closes what the calling thread may close: a domain
 * with {@link ThreadingModel#DOMAIN}, and a queue with {@link ThreadingModel#COMPLETION}, only on its owner. Each owner
 * then calls it when its own work is done, and each call closes what is left and may be closed there.
 */
public final class Scope implements AutoCloseable {
    /** The default of {@link #closeTimeout}. */
    public static final Duration DEFAULT_CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final Libfabric libfabric;
    /** What is not closed, in the order of opening. */
    private final List<AutoCloseable> members = new ArrayList<>();
    private Duration closeTimeout = DEFAULT_CLOSE_TIMEOUT;
    private boolean closed;
    /** The thread that is in {@link #close}, the last one if another has waited in vain; or null. */
    private Thread closer;

    Scope(Libfabric libfabric) { this.libfabric = libfabric; }

    /**
     * Opens the fabric of an info, which this scope closes with everything in it; fi_fabric(3).
     *
     * @throws IllegalArgumentException if the info is not one that {@link Libfabric} has returned
     * @throws IllegalStateException if the scope is closed
     */
    public synchronized Fabric openFabric(FabricInfo info) {
        requireOpen();
        members.removeIf(member -> member instanceof Fabric fabric && fabric.isClosed());
        Fabric fabric = libfabric.openFabric(info);
        members.add(fabric);
        return fabric;
    }

    /**
     * Adds an object, which this scope closes before those that were added earlier. A domain or an endpoint is closed
     * with everything that was opened through it. An object that other members need is closed after them, whatever the
     * order in which they were added.
     *
     * @param object the object. If the program closes it too, a second close must do nothing, as with objects of ofi4j;
     *        that of an arena throws
     * @return the object
     * @throws IllegalStateException if the scope is closed; the object stays open
     */
    public synchronized <T extends AutoCloseable> T add(T object) {
        Objects.requireNonNull(object, "object");
        requireOpen();
        members.add(object);
        return object;
    }

    /**
     * Sets the longest time that {@link #close} waits in all, for operations that the provider cannot cancel and for
     * progress threads that are in a call. When it has passed, objects are closed without a wait, except that a
     * progress thread still has a second to end. The default is 10 seconds.
     *
     * @param timeout above zero
     * @return this scope
     * @throws IllegalArgumentException if the timeout is not above zero
     */
    public synchronized Scope closeTimeout(Duration timeout) {
        closeTimeout = Deadlines.requireSome(timeout);
        return this;
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException("the scope is closed"); } }

    /**
     * Closes everything that is open, the last first and children before parents; fi_close of each. Operations in
     * flight complete with {@code ECANCELED} (125), as when an endpoint is closed, and requests that were not accepted
     * are rejected. From now on the scope takes no objects. Open nothing through those that it has.
     *
     * <p><b>If closing an object throws,</b> the rest is closed, except what the object needs. The first exception
     * comes out of this method, further ones are suppressed in it. Parents of an object that is still open add none. A
     * checked exception of an added object is the cause of a {@link java.util.concurrent.CompletionException}. Call
     * this again to go on with what is left. While another thread is in this method, the call first waits for it, at
     * most for {@link #closeTimeout}.
     *
     * <p>A thread that hangs in a call into the provider delays the close by up to 30 seconds for each object that it
     * uses, whatever {@link #closeTimeout} says.
     *
     * @throws WrongThreadException if an object belongs to another thread; the other objects are closed
     * @throws IllegalStateException if an object cannot be closed because something outside of this scope needs it, or
     *         deferred work waits for its counter
     */
    @Override
    public void close() {
        List<AutoCloseable> left;
        ScopeClose close;
        synchronized (this) {
            closed = true;
            if (closer == Thread.currentThread()) { return; } // an added object closes the scope that closes it
            close = new ScopeClose(closeTimeout);
            awaitCloser(close);
            closer = Thread.currentThread();
            left = new ArrayList<>(members.reversed());
        }
        try {
            close.closeAll(left);
        } finally {
            synchronized (this) {
                Set<AutoCloseable> open = Collections.newSetFromMap(new IdentityHashMap<>());
                open.addAll(left);
                members.removeIf(member -> !open.contains(member));
                closer = null;
                notifyAll();
            }
        }
        close.throwFailure();
    }

    /** Waits until no other thread closes the scope, at most as long as a close may wait. */
    private void awaitCloser(ScopeClose close) {
        boolean interrupted = false;
        while (closer != null && !close.remaining().isZero()) {
            try {
                wait(Math.max(1, close.remaining().toMillis()));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) { Thread.currentThread().interrupt(); }
    }

    @Override
    public synchronized String toString() { return "Scope with " + members.size() + " objects"; }
}
