package io.ofi4j.internal.observe;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The order in which a thread takes locks: each after those before it in {@link Rank}. Threads that keep to
 * it cannot deadlock. The document ARCHITECTURE says what each lock guards.
 *
 * <p>Used in assertions alone: {@code assert LockOrder.taken(rank, lock)}. Without {@code -ea}, nothing of this runs.
 * A released lock is noticed when the thread takes the next one; releases need no call.
 */
public final class LockOrder {
    /** The locks, from the first to the last. */
    public enum Rank {
        /** The lock of the thread that closes an endpoint. */
        ENDPOINT_CLOSE,
        /** The monitor of a fabric. */
        FABRIC,
        /** The monitor of an endpoint. */
        ENDPOINT,
        /** The monitor of a context that endpoints share, and of a scalable endpoint. */
        CONTEXT,
        /** The monitor of a domain. */
        DOMAIN,
        /** The lock of a fabric: one native call that manages connections, endpoints or vectors. */
        FABRIC_LOCK,
        /** The monitor of an address vector. */
        VECTOR,
        /** The monitor of a connection. */
        CONNECTION,
        /** The monitor of a quirk. */
        QUIRK,
        /** The guard of a completion queue: one, or with the lock of the fabric any number. */
        QUEUE,
        /** The guard of a counter, as of a queue. */
        COUNTER,
        /** The monitor of a domain's deferred work. */
        WORK,
        /** The monitor of a domain's quarantine. */
        QUARANTINE,
        /** Monitors in which nothing else is taken. */
        LEAF
    }

    /** A lock that is no monitor. */
    public interface Lock {
        /** {@return whether the calling thread holds it} */
        boolean isHeldByCaller();
    }

    private static final ThreadLocal<LockOrder> OF_THREAD = ThreadLocal.withInitial(LockOrder::new);

    /** The maximum number of released locks that a thread remembers. */
    private static final int MAX_RELEASED = 16;

    /** A lock that a thread took. The reference is weak, so that an unreachable object is still reported as a leak. */
    private static final class KnownLock {
        final Rank rank;
        final WeakReference<Object> lock;
        /**
         * Whether it may still be held. If not, the entry is kept for the next time, so that measured code allocates
         * nothing here.
         */
        boolean isTaken = true;

        KnownLock(Rank rank, Object lock) {
            this.rank = rank;
            this.lock = new WeakReference<>(lock);
        }
    }

    private final List<KnownLock> known = new ArrayList<>();

    private LockOrder() {}

    /**
     * Notes that the calling thread takes a lock next, or has just taken it.
     *
     * @param lock a {@link Lock}, a {@link ReentrantLock}, or an object whose monitor it is
     * @return true, for an assertion
     * @throws AssertionError if the thread holds one that comes later
     */
    public static boolean taken(Rank rank, Object lock) {
        OF_THREAD.get().note(rank, lock);
        return true;
    }

    /** As {@link #taken}, if the calling thread holds this monitor. */
    public static boolean takenIfHeld(Rank rank, Object monitor) {
        return !Thread.holdsLock(monitor) || taken(rank, monitor);
    }

    private void note(Rank rank, Object lock) {
        KnownLock previous = null;
        boolean isFabricLocked = false;
        int released = 0;
        for (int index = known.size() - 1; index >= 0; index--) {
            KnownLock one = known.get(index);
            Object held = one.lock.get();
            one.isTaken &= isHeld(held);
            if (one.isTaken) {
                if (held == lock) { return; } // taken again
                isFabricLocked |= one.rank == Rank.FABRIC_LOCK;
            } else if (held == lock && one.rank == rank) {
                previous = one;
            } else if (held == null || ++released > MAX_RELEASED) { known.remove(index); }
        }
        boolean mayHaveSeveral = isFabricLocked && (rank == Rank.QUEUE || rank == Rank.COUNTER);
        for (int index = 0; index < known.size(); index++) {
            KnownLock one = known.get(index);
            if (!one.isTaken) { continue; }
            if (one.rank.compareTo(rank) > 0 || one.rank == rank && !mayHaveSeveral) {
                throw new AssertionError("the lock " + rank + " of " + lock + " is taken inside " + one.rank + " of "
                        + one.lock.get() + ", against the order of locks");
            }
        }
        if (previous != null) {
            previous.isTaken = true;
        } else {
            known.add(new KnownLock(rank, lock));
        }
    }

    private static boolean isHeld(Object lock) {
        if (lock == null) { return false; }
        if (lock instanceof Lock one) { return one.isHeldByCaller(); }
        return lock instanceof ReentrantLock one ? one.isHeldByCurrentThread() : Thread.holdsLock(lock);
    }
}
