package io.ofi4j.internal.engine;

import io.ofi4j.FabricException;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.observe.LockOrder;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Enforces a threading model in a few nanoseconds: only the owner thread may enter, or one thread at a time, or both.
 * Off the data path it is entered as the resource of a try statement, whose end exits.
 */
public final class ThreadGuard implements AutoCloseable, LockOrder.Lock {
    private static final VarHandle HOLDER;
    private static final VarHandle NEXT;
    private static final int SPINS = 100;
    /** After this wait a thread goes before others. */
    private static final long PATIENCE_NANOS = 1_000_000;
    /** How often a waiting thread looks whether the holder is still inside, and when it gives up. */
    private static final long LOOK_NANOS = 500_000_000;
    private static final long LIMIT_NANOS = 30_000_000_000L;

    static {
        try {
            HOLDER = MethodHandles.lookup().findVarHandle(ThreadGuard.class, "holder", long.class);
            NEXT = MethodHandles.lookup().findVarHandle(ThreadGuard.class, "next", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Thread owner;
    /** The owner, if it needs no lock. */
    private final Thread unlocked;
    private final boolean exclusive;
    private final String model;
    private final long limitNanos;
    private final LockOrder.Rank rank;
    /** The thread that is inside, as {@link GuardHolder} numbers it; 0 if none is. */
    private long holder;
    /** A thread that has waited for long, and goes next: otherwise others could keep it out for seconds. */
    private Thread next;

    private ThreadGuard(Thread owner, boolean exclusive, String model, long limitNanos, LockOrder.Rank rank) {
        this.owner = owner;
        this.unlocked = exclusive ? null : owner;
        this.exclusive = exclusive;
        this.model = model;
        this.limitNanos = limitNanos;
        this.rank = rank;
    }

    /** Any thread, one at a time. */
    public static ThreadGuard exclusive() { return exclusive(LockOrder.Rank.QUEUE); }

    public static ThreadGuard exclusive(LockOrder.Rank rank) {
        return new ThreadGuard(null, true, "SAFE", LIMIT_NANOS, rank);
    }

    static ThreadGuard exclusive(long limitNanos) {
        return new ThreadGuard(null, true, "SAFE", limitNanos, LockOrder.Rank.QUEUE);
    }

    /** The current thread only; nothing is locked. */
    public static ThreadGuard owned(String model) {
        return new ThreadGuard(Thread.currentThread(), false, model, LIMIT_NANOS, LockOrder.Rank.QUEUE);
    }

    /** The current thread only, and {@link #enterAsAnyone} for other threads. */
    public static ThreadGuard ownedExclusive(String model, LockOrder.Rank rank) {
        return new ThreadGuard(Thread.currentThread(), true, model, LIMIT_NANOS, rank);
    }

    public ThreadGuard enter() {
        enter(this, unlocked);
        return this;
    }

    private void enterOtherwise() {
        checkThread();
        if (exclusive) { enterAlone(); }
    }

    private void enterAlone() {
        assert LockOrder.taken(rank, this);
        if ((Thread) NEXT.getOpaque(this) != null
                || !HOLDER.compareAndSet(this, 0L, GuardHolder.number(Thread.currentThread()))) {
            await();
        }
    }

    /** Enters from any thread, if the model has a lock; otherwise as {@link #enter}. */
    public ThreadGuard enterAsAnyone() {
        if (!exclusive) { return enter(); }
        enterAlone();
        return this;
    }

    /** The result of an action inside the guards of several objects, entered in their order. */
    public static <T, R> R insideAll(List<T> objects, Function<T, ThreadGuard> enter, Supplier<R> action) {
        Deque<ThreadGuard> entered = new ArrayDeque<>(objects.size());
        try {
            objects.forEach(each -> entered.add(enter.apply(each)));
            return action.get();
        } finally {
            entered.forEach(ThreadGuard::exit);
        }
    }

    /** Whether this thread has waited for so long that it goes before others. */
    boolean isNext(Thread thread) {
        return (Thread) NEXT.getOpaque(this) == thread;
    }

    public boolean admits(Thread thread) { return owner == null || owner == thread; }

    public boolean sharesOwnerWith(ThreadGuard other) { return owner == other.owner; }

    public boolean admitsAnyone(Thread thread) { return exclusive || admits(thread); }

    public void exit() { if (exclusive) { HOLDER.setRelease(this, 0L); } }

    @Override
    public void close() { exit(); }

    /** The thread that need not enter, or null. Callers keep it in a field. */
    public Thread unlocked() {
        return unlocked;
    }

    /**
     * As {@link #enter()}, with one comparison where nothing is locked; whether to
     * {@link #exit(ThreadGuard, boolean) exit}. In a local variable the result tells the compiler which exit belongs to
     * which enter.
     */
    public static boolean enter(ThreadGuard guard, Thread unlocked) {
        if (unlocked == Thread.currentThread()) { return false; }
        guard.enterOtherwise();
        return true;
    }

    public static void exit(ThreadGuard guard, boolean entered) { if (entered) { guard.exit(); } }

    public void checkThread() { if (owner != null && owner != Thread.currentThread()) { throw wrongThread(); } }

    private void await() {
        Thread me = Thread.currentThread();
        long number = GuardHolder.number(me);
        // guards are not nested: an earlier call did not exit
        if (HOLDER.compareAndSet(this, number, 0L)) { throw broken(number); }
        for (int spins = 0; spins < SPINS; spins++) {
            if (getsIn(me, number)) { return; }
            Thread.onSpinWait();
        }
        try {
            awaitTurn(me, number);
        } finally {
            NEXT.compareAndSet(this, me, (Thread) null);
        }
    }

    private void awaitTurn(Thread me, long number) {
        long begin = System.nanoTime();
        long look = LOOK_NANOS;
        while (!getsIn(me, number)) {
            long waited = System.nanoTime() - begin;
            if (waited > PATIENCE_NANOS) { NEXT.compareAndSet(this, (Thread) null, me); }
            if (waited > look) {
                look = waited + LOOK_NANOS;
                requireHolderInside(me, waited);
            }
            Thread.yield();
        }
    }

    /** While this thread is next nobody else enters: a holder that is outside now has not exited. */
    private void requireHolderInside(Thread me, long waited) {
        long inside = holder();
        if (inside != 0 && (Thread) NEXT.getOpaque(this) == me && GuardHolder.isOutside(inside)
                && HOLDER.compareAndSet(this, inside, 0L)) { // unless it has exited while its stack was looked at
            throw broken(inside);
        }
        if (waited > limitNanos) {
            throw new FabricException(
                    "a call of ".concat(GuardHolder.name(inside)).concat(
                            " on the same object has not returned for 30 s. Does a call into the provider hang?"),
                    "a call", Errno.ETIMEDOUT);
        }
    }

    /**
     * What to say after an Error, such as StackOverflowError, has kept a thread from exiting; others may enter again.
     */
    private static IllegalStateException broken(long by) {
        return new IllegalStateException(
                "an Error, such as a StackOverflowError, broke off an earlier call in ".concat(GuardHolder.name(by))
                        .concat(", and completions may be missing. This call did nothing; later ones go on."
                                + " Closing the endpoints reports what is in flight as canceled"));
    }

    @Override
    public boolean isHeldByCaller() { return holder() == GuardHolder.number(Thread.currentThread()); }

    private long holder() { return (long) HOLDER.getOpaque(this); }

    private boolean getsIn(Thread me, long number) {
        Thread first = (Thread) NEXT.getOpaque(this);
        if (first != null && first != me || !HOLDER.weakCompareAndSetAcquire(this, 0L, number)) { return false; }
        if (first == me) { NEXT.setOpaque(this, (Thread) null); }
        return true;
    }

    private WrongThreadException wrongThread() {
        return new WrongThreadException("threading model " + model + ": only thread '" + owner.getName()
                + "' may call this, not '" + Thread.currentThread().getName()
                + "'; ask for ThreadingModel.SAFE to share it between threads");
    }
}
