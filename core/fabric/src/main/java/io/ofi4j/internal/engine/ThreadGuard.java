package io.ofi4j.internal.engine;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.Errno;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Enforces a threading model in a few nanoseconds: only the owner thread may enter, or one thread at a time, or both.
 * Off the data path it is entered as the resource of a try statement, whose end exits.
 *
 * <p>The owner may hand over to another thread, which takes over with its first call: only the thread itself makes
 * itself the owner, after it has read what the former owner wrote last. Any other thread finds itself in neither field.
 *
 * <p>What runs while a thread waits, or finds out whether a holder is still inside, uses neither lambdas nor string
 * concatenation: if their first use came when the stack is almost full, it would fail, and so would all later uses.
 */
public final class ThreadGuard implements AutoCloseable, LockOrder.Lock {
    private static final VarHandle HOLDER;
    private static final VarHandle NEXT;
    private static final VarHandle HEIR;
    private static final int SPINS = 100;
    /** After this wait a thread goes before others. */
    private static final long PRIORITY_AFTER_NANOS = 1_000_000;
    /**
     * The interval at which a waiting thread checks that the holder is still inside. The next number is the wait after
     * which it gives up.
     */
    private static final long HOLDER_CHECK_NANOS = 500_000_000;
    private static final long TIMEOUT_NANOS = 30_000_000_000L;

    static {
        try {
            HOLDER = MethodHandles.lookup().findVarHandle(ThreadGuard.class, "holder", long.class);
            NEXT = MethodHandles.lookup().findVarHandle(ThreadGuard.class, "next", Thread.class);
            HEIR = MethodHandles.lookup().findVarHandle(ThreadGuard.class, "heir", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final boolean isOwned;
    /** The owner; null if any thread may enter, and from a {@link #handOver} until the other thread takes over. */
    private Thread owner;
    /** The owner, if it needs no lock. */
    private Thread unlockedThread;
    /** The thread that has handed over last. */
    private Thread former;
    /** The thread that may take over, or null. */
    private volatile Thread heir;
    /** Sets the copies of {@link #unlockedThread}. */
    private Consumer<Thread> copies = thread -> {};
    private final boolean exclusive;
    private final String model;
    private final long timeoutNanos;
    private final LockOrder.Rank rank;
    /** The thread that is inside, as {@link #number} numbers it; 0 if none is. */
    private long holder;
    /** A thread that has waited for long, and goes next: otherwise others could keep it out for seconds. */
    private Thread next;

    private ThreadGuard(Thread owner, boolean exclusive, String model, long timeoutNanos, LockOrder.Rank rank) {
        this.isOwned = owner != null;
        this.owner = owner;
        this.unlockedThread = exclusive ? null : owner;
        this.exclusive = exclusive;
        this.model = model;
        this.timeoutNanos = timeoutNanos;
        this.rank = rank;
    }

    /** Any thread, one at a time. */
    public static ThreadGuard exclusive() { return exclusive(LockOrder.Rank.QUEUE); }

    public static ThreadGuard exclusive(LockOrder.Rank rank) {
        return new ThreadGuard(null, true, "SAFE", TIMEOUT_NANOS, rank);
    }

    static ThreadGuard exclusive(long timeoutNanos) {
        return new ThreadGuard(null, true, "SAFE", timeoutNanos, LockOrder.Rank.QUEUE);
    }

    /** The current thread only; nothing is locked. */
    public static ThreadGuard owned(String model) {
        return new ThreadGuard(Thread.currentThread(), false, model, TIMEOUT_NANOS, LockOrder.Rank.QUEUE);
    }

    /** Sets what changes each copy of {@link #unlockedThread()} when the owner changes, or is null for a while. */
    public void copies(Consumer<Thread> consumer) {
        copies = consumer;
    }

    /** The current thread only, and {@link #enterFromAnyThread} for other threads. */
    public static ThreadGuard ownedExclusive(String model, LockOrder.Rank rank) {
        return new ThreadGuard(Thread.currentThread(), true, model, TIMEOUT_NANOS, rank);
    }

    public ThreadGuard enter() {
        enter(this, unlockedThread);
        return this;
    }

    private void enterChecked() {
        checkThread();
        if (exclusive) { acquire(); }
    }

    private void acquire() {
        assert LockOrder.taken(rank, this);
        if ((Thread) NEXT.getOpaque(this) != null || !HOLDER.compareAndSet(this, 0L, number(Thread.currentThread()))) {
            await();
        }
    }

    /** Enters from any thread, if the model has a lock; otherwise as {@link #enter}. */
    public ThreadGuard enterFromAnyThread() {
        if (!exclusive) { return enter(); }
        acquire();
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

    public boolean admits(Thread thread) { return !isOwned || owner == thread || heir == thread; }

    public boolean sharesOwnerWith(ThreadGuard other) { return comingOwner() == other.comingOwner(); }

    private Thread comingOwner() {
        Thread coming = heir;
        return coming == null ? owner : coming;
    }

    /** Whether only one thread may enter. */
    public boolean isOwned() { return isOwned; }

    /**
     * Lets another thread take over with its next call; from now on this one is refused. It may choose a third one
     * until then. The caller makes sure that this thread is in no call that goes on afterwards.
     */
    public void handOver(Thread to) {
        Thread chosen = heir;
        if (chosen != null && former == Thread.currentThread() && HEIR.compareAndSet(this, chosen, to)) { return; }
        checkThread();
        former = owner;
        owner = null;
        setUnlocked(null);
        heir = to; // what takes over sees all that this thread has written
    }

    /** Checks that this thread may {@link #handOver}. */
    public void requireOwner() {
        if (heir == null || former != Thread.currentThread()) { checkThread(); }
    }

    private void takeOver() {
        Thread caller = Thread.currentThread();
        takeOverIfHeir();
        if (owner != caller) { throw wrongThread(); }
    }

    /**
     * Makes the calling thread the owner if this was handed over to it. Otherwise it does nothing, also where another
     * thread owns it.
     */
    public void takeOverIfHeir() {
        Thread caller = Thread.currentThread();
        if (heir != caller) { return; }
        StackRoom.require(); // after the next statement it would be nobody's
        if (!HEIR.compareAndSet(this, caller, (Thread) null)) { return; }
        owner = caller;
        setUnlocked(caller);
    }

    private void setUnlocked(Thread thread) {
        if (exclusive) { return; }
        unlockedThread = thread;
        copies.accept(thread);
    }

    public boolean admitsFromAnyThread(Thread thread) { return exclusive || admits(thread); }

    public void exit() { if (exclusive) { HOLDER.setRelease(this, 0L); } }

    @Override
    public void close() { exit(); }

    /** The thread that need not enter, or null. Callers keep it in a field. */
    public Thread unlockedThread() {
        return unlockedThread;
    }

    /**
     * As {@link #enter()}, but with only one comparison where nothing is locked. Returns whether
     * {@link #exit(ThreadGuard, boolean) exit} must be called. Keep the result in a local variable: it tells the
     * compiler which exit belongs to which enter.
     */
    public static boolean enter(ThreadGuard guard, Thread unlockedThread) {
        if (unlockedThread == Thread.currentThread()) { return false; }
        guard.enterChecked();
        return true;
    }

    public static void exit(ThreadGuard guard, boolean entered) { if (entered) { guard.exit(); } }

    public void checkThread() { if (isOwned && owner != Thread.currentThread()) { takeOver(); } }

    private void await() {
        Thread caller = Thread.currentThread();
        long number = number(caller);
        // guards are not nested: an earlier call did not exit
        if (HOLDER.compareAndSet(this, number, 0L)) { throw broken(number); }
        for (int spins = 0; spins < SPINS; spins++) {
            if (tryAcquire(caller, number)) { return; }
            Thread.onSpinWait();
        }
        try {
            awaitTurn(caller, number);
        } finally {
            NEXT.compareAndSet(this, caller, (Thread) null);
        }
    }

    private void awaitTurn(Thread caller, long number) {
        long begin = System.nanoTime();
        long nextCheck = HOLDER_CHECK_NANOS;
        while (!tryAcquire(caller, number)) {
            long waited = System.nanoTime() - begin;
            if (waited > PRIORITY_AFTER_NANOS) { NEXT.compareAndSet(this, (Thread) null, caller); }
            if (waited > nextCheck) {
                nextCheck = waited + HOLDER_CHECK_NANOS;
                requireHolderInside(caller, waited);
            }
            Thread.yield();
        }
    }

    /**
     * While this thread is {@link #next}, no other thread enters. A holder that is outside now has therefore not
     * exited.
     */
    private void requireHolderInside(Thread caller, long waited) {
        long currentHolder = holder();
        if (currentHolder != 0 && (Thread) NEXT.getOpaque(this) == caller && isOutside(currentHolder)
                && HOLDER.compareAndSet(this, currentHolder, 0L)) {
            // it did not exit while its stack was read
            throw broken(currentHolder);
        }
        if (waited > timeoutNanos) {
            throw new FabricException(
                    "a call of ".concat(name(currentHolder)).concat(
                            " on the same object has not returned for 30 s. Does a call into the provider hang?"),
                    "a call", Errno.ETIMEDOUT);
        }
    }

    /**
     * The exception after an Error, such as StackOverflowError, has kept a thread from exiting. Other threads may enter
     * again.
     */
    private static IllegalStateException broken(long by) {
        return new IllegalStateException("an Error, such as a StackOverflowError, broke off an earlier call in "
                .concat(name(by)).concat(", and completions may be missing. This call did nothing; later ones go on."
                        + " Closing the endpoints reports what is in flight as canceled"));
    }

    @Override
    public boolean isHeldByCaller() { return holder() == number(Thread.currentThread()); }

    /** Whether no thread is inside; another may enter at any moment. */
    public boolean isFree() {
        return holder() == 0;
    }

    private long holder() { return (long) HOLDER.getOpaque(this); }

    private boolean tryAcquire(Thread caller, long number) {
        Thread first = (Thread) NEXT.getOpaque(this);
        if (first != null && first != caller || !HOLDER.weakCompareAndSetAcquire(this, 0L, number)) { return false; }
        if (first == caller) { NEXT.setOpaque(this, (Thread) null); }
        return true;
    }

    /**
     * {@return the number of a thread inside a guard: never 0, below 0 for a virtual thread, whose stack other threads
     * cannot see}
     */
    private static long number(Thread thread) { return thread.isVirtual() ? -thread.threadId() : thread.threadId(); }

    /** {@return whether the thread with this number has ended, or is in no call of this library} */
    private static boolean isOutside(long number) {
        if (number < 0) { return false; }
        for (Map.Entry<Thread, StackTraceElement[]> thread : Thread.getAllStackTraces().entrySet()) {
            if (thread.getKey().threadId() == number) { return isOutside(thread.getValue()); }
        }
        return true;
    }

    private static boolean isOutside(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            String name = frame.getClassName();
            boolean isPublic = name.startsWith("io.ofi4j.") && Character.isUpperCase(name.charAt("io.ofi4j.".length()));
            if (isPublic || name.startsWith("io.ofi4j.internal.") || name.startsWith("io.ofi4j.verbs.")) {
                return false;
            }
        }
        return true;
    }

    private static String name(long number) {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.threadId() == number) { return "thread '".concat(thread.getName()).concat("'"); }
        }
        return number < 0 ? "a virtual thread" : "a thread that has ended";
    }

    private WrongThreadException wrongThread() {
        Thread its = comingOwner();
        return new WrongThreadException("threading model " + model + ": only thread '"
                + (its == null ? "that takes over" : its.getName()) + "' may call this, not '"
                + Thread.currentThread().getName() + "'; ask for ThreadingModel.SAFE to share it between threads");
    }
}
