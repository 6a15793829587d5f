package io.ofi4j.internal.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Enforces a threading model around a few nanoseconds of work: either the caller must be the owner thread, or one caller
 * at a time gets in, or both.
 */
public final class ThreadGuard {
    private static final VarHandle HELD;
    private static final VarHandle NEXT;
    private static final int SPINS = 100;
    /** How long a thread lets others get in before it; then they wait for it. */
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
    /** The owner, where it needs no lock. */
    private final Thread unlocked;
    private final boolean exclusive;
    private final String model;
    private int held;
    /** Who has waited for long, and gets in before others: they could come again and again, and keep it out for seconds. */
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

    /** The current thread only, and {@link #enterAsAnyone} for others who must look inside. */
    public static ThreadGuard ownedExclusive(String model) {
        return new ThreadGuard(Thread.currentThread(), true, model);
    }

    /** @throws WrongThreadException if the model names an owner and this is another thread */
    public void enter() {
        enter(this, unlocked);
    }

    private void enterOtherwise() {
        checkThread();
        if (exclusive) {
            enterAlone();
        }
    }

    private void enterAlone() {
        if ((Thread) NEXT.getOpaque(this) != null || !HELD.compareAndSet(this, 0, 1)) {
            await();
        }
    }

    /** Enters from a thread that need not be the owner, where the model allows that; otherwise as {@link #enter}. */
    public void enterAsAnyone() {
        if (exclusive) {
            enterAlone();
        } else {
            enter();
        }
    }

    /** Whether {@link #enter} would let a thread in. */
    public boolean admits(Thread thread) {
        return owner == null || owner == thread;
    }

    /** Whether the same threads may enter both. */
    public boolean sharesOwnerWith(ThreadGuard other) {
        return owner == other.owner;
    }

    /** Whether {@link #enterAsAnyone} would let a thread in. */
    public boolean admitsAnyone(Thread thread) {
        return exclusive || admits(thread);
    }

    public void exit() {
        if (exclusive) {
            HELD.setRelease(this, 0);
        }
    }

    /** The thread that need not enter; null where every thread must. For those who keep it where they have it at hand. */
    public Thread unlocked() {
        return unlocked;
    }

    /**
     * As {@link #enter()}, without a look at the guard where nothing is locked; whether there is something to {@link #exit(Guard,
     * boolean) exit}. In a local variable it tells the compiler which way out belongs to which way in.
     */
    public static boolean enter(ThreadGuard guard, Thread unlocked) {
        if (unlocked == Thread.currentThread()) { // one comparison where nothing is locked
            return false;
        }
        guard.enterOtherwise();
        return true;
    }

    /** As {@link #exit()}, where there is something to exit. */
    public static void exit(ThreadGuard guard, boolean entered) {
        if (entered) {
            guard.exit();
        }
    }

    /** The owner check alone. */
    public void checkThread() {
        if (owner != null && owner != Thread.currentThread()) {
            throw wrongThread();
        }
    }

    private void await() {
        Thread me = Thread.currentThread();
        for (int spins = 0; spins < SPINS; spins++) {
            if (getsIn(me)) {
                return;
            }
            Thread.onSpinWait();
        }
        long begin = System.nanoTime();
        while (!getsIn(me)) {
            if (System.nanoTime() - begin > PATIENCE_NANOS) {
                NEXT.compareAndSet(this, (Thread) null, me);
            }
            Thread.yield();
        }
    }

    private boolean getsIn(Thread me) {
        Thread first = (Thread) NEXT.getOpaque(this);
        if (first != null && first != me || !HELD.weakCompareAndSetAcquire(this, 0, 1)) {
            return false;
        }
        if (first == me) {
            NEXT.setOpaque(this, (Thread) null);
        }
        return true;
    }

    private WrongThreadException wrongThread() {
        return new WrongThreadException("threading model " + model + ": only thread '" + owner.getName()
                + "' may call this, not '" + Thread.currentThread().getName()
                + "'; ask for ThreadingModel.SAFE to share it between threads");
    }
}
