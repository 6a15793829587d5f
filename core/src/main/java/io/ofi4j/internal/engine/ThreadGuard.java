package io.ofi4j.internal.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Enforces a threading model in a few nanoseconds: only the owner thread may enter, or one thread at a time, or both. */
public final class ThreadGuard {
    private static final VarHandle HELD;
    private static final VarHandle NEXT;
    private static final int SPINS = 100;
    /** After this wait a thread goes before others. */
    private static final long PATIENCE_NANOS = 1_000_000;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(ThreadGuard.class, "held", int.class);
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
    private int held;
    /** A thread that has waited for long, and goes next: otherwise others could keep it out for seconds. */
    private Thread next;

    private ThreadGuard(Thread owner, boolean exclusive, String model) {
        this.owner = owner;
        this.unlocked = exclusive ? null : owner;
        this.exclusive = exclusive;
        this.model = model;
    }

    /** Any thread, one at a time. */
    public static ThreadGuard exclusive() {
        return new ThreadGuard(null, true, "SAFE");
    }

    /** The current thread only; nothing is locked. */
    public static ThreadGuard owned(String model) {
        return new ThreadGuard(Thread.currentThread(), false, model);
    }

    /** The current thread only, and {@link #enterAsAnyone} for other threads. */
    public static ThreadGuard ownedExclusive(String model) {
        return new ThreadGuard(Thread.currentThread(), true, model);
    }

    public void enter() { enter(this, unlocked); }

    private void enterOtherwise() {
        checkThread();
        if (exclusive) { enterAlone(); }
    }

    private void enterAlone() {
        if ((Thread) NEXT.getOpaque(this) != null || !HELD.compareAndSet(this, 0, 1)) { await(); }
    }

    /** Enters from any thread, if the model has a lock; otherwise as {@link #enter}. */
    public void enterAsAnyone() {
        if (exclusive) {
            enterAlone();
        } else {
            enter();
        }
    }

    public boolean admits(Thread thread) { return owner == null || owner == thread; }

    public boolean sharesOwnerWith(ThreadGuard other) { return owner == other.owner; }

    public boolean admitsAnyone(Thread thread) { return exclusive || admits(thread); }

    public void exit() { if (exclusive) { HELD.setRelease(this, 0); } }

    /** The thread that need not enter, or null. Callers keep it in a field. */
    public Thread unlocked() {
        return unlocked;
    }

    /**
     * As {@link #enter()}, with one comparison where nothing is locked; whether to {@link #exit(ThreadGuard, boolean) exit}. In a
     * local variable the result tells the compiler which exit belongs to which enter.
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
        for (int spins = 0; spins < SPINS; spins++) {
            if (getsIn(me)) { return; }
            Thread.onSpinWait();
        }
        long begin = System.nanoTime();
        while (!getsIn(me)) {
            if (System.nanoTime() - begin > PATIENCE_NANOS) { NEXT.compareAndSet(this, (Thread) null, me); }
            Thread.yield();
        }
    }

    private boolean getsIn(Thread me) {
        Thread first = (Thread) NEXT.getOpaque(this);
        if (first != null && first != me || !HELD.weakCompareAndSetAcquire(this, 0, 1)) { return false; }
        if (first == me) { NEXT.setOpaque(this, (Thread) null); }
        return true;
    }

    private WrongThreadException wrongThread() {
        return new WrongThreadException("threading model " + model + ": only thread '" + owner.getName()
                + "' may call this, not '" + Thread.currentThread().getName()
                + "'; ask for ThreadingModel.SAFE to share it between threads");
    }
}
