package io.ofi4j.internal.observe;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The order in which a thread takes locks: each after those before it in {@link Rank}. A thread that keeps to it cannot
 * wait for one that waits for it. The document ARCHITECTURE says what each lock guards.
 *
 * <p>Used in assertions alone: {@code assert LockOrder.taken(rank, lock)}. Without {@code -ea}, nothing of this runs.
 * What is held no more is noticed with the next lock; releases need no call.
 */
public final class LockOrder {
    /** The locks, from the first to the last. */
    public enum Rank {
        /** Of the thread that closes an endpoint. */
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

    /** So many locks a thread remembers that it holds no more. */
    private static final int MAX_RELEASED = 16;

    /** A lock that a thread took. Weak, for an object that nobody refers to any more is to be found as a leak. */
    private static final class Taken {
        final Rank rank;
        final WeakReference<Object> lock;
        /**
         * Whether it may still be held. If not, it stays for the next time: what is measured allocates nothing here.
         */
        boolean isTaken = true;

        Taken(Rank rank, Object lock) {
            this.rank = rank;
            this.lock = new WeakReference<>(lock);
        }
    }

    private final List<Taken> known = new ArrayList<>();

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
        Taken again = null;
        boolean isFabricLocked = false;
        int released = 0;
        for (int index = known.size() - 1; index >= 0; index--) {
            Taken one = known.get(index);
            Object its = one.lock.get();
            one.isTaken &= isHeld(its);
            if (one.isTaken) {
                if (its == lock) { return; } // taken again
                isFabricLocked |= one.rank == Rank.FABRIC_LOCK;
            } else if (its == lock && one.rank == rank) {
                again = one;
            } else if (its == null || ++released > MAX_RELEASED) { known.remove(index); }
        }
        boolean mayHaveSeveral = isFabricLocked && (rank == Rank.QUEUE || rank == Rank.COUNTER);
        for (int index = 0; index < known.size(); index++) {
            Taken one = known.get(index);
            if (!one.isTaken) { continue; }
            if (one.rank.compareTo(rank) > 0 || one.rank == rank && !mayHaveSeveral) {
                throw new AssertionError("the lock " + rank + " of " + lock + " is taken inside " + one.rank + " of "
                        + one.lock.get() + ", against the order of locks");
            }
        }
        if (again != null) {
            again.isTaken = true;
        } else {
            known.add(new Taken(rank, lock));
        }
    }

    private static boolean isHeld(Object lock) {
        if (lock == null) { return false; }
        if (lock instanceof Lock one) { return one.isHeldByCaller(); }
        return lock instanceof ReentrantLock one ? one.isHeldByCurrentThread() : Thread.holdsLock(lock);
    }
}
