package io.ofi4j.command.perf;

import java.io.PrintWriter;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Ends the process where a call of the provider does not return: over shm that happens where the other process was
 * stopped or killed while it held a lock in the memory that both share. The measuring thread cannot see its deadline
 * then, so another looks.
 */
final class Watchdog implements AutoCloseable {
    /**
     * For a process that does nothing wrong, at an end where all takes long: the measuring thread's own deadline comes
     * first.
     */
    private static final Duration GRACE = Duration.ofSeconds(3);
    private static final long LOOK_MILLIS = 100;
    /** For calls that may take long: memory is registered, filled and compared in one piece. */
    private static final int SLOW_TIMEOUTS = 10;
    private static final VarHandle TURNS;

    static {
        try {
            TURNS = MethodHandles.lookup().findVarHandle(Watchdog.class, "turns", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Duration timeout;
    private final Consumer<Duration> end;
    private final Thread thread;
    private long turns;
    /** How long nothing may move, or null while nobody watches. */
    private volatile Duration limit;

    private Watchdog(Duration timeout, Consumer<Duration> end) {
        this.timeout = timeout;
        this.end = end;
        thread = Thread.ofPlatform().daemon().name("watchdog").unstarted(this::look);
    }

    /**
     * {@return one that ends the process}
     *
     * @param other the process that may hold the lock, such as "the server at" its address; empty where there is none
     */
    static Watchdog start(Duration timeout, PrintWriter err, String other) {
        MethodHandle exit = exit();
        return start(timeout, limit -> endProcess(limit, err, other, exit));
    }

    /** {@return one that does something else once, in a thread of its own, with how long nothing has moved} */
    static Watchdog start(Duration timeout, Consumer<Duration> end) {
        Watchdog watchdog = new Watchdog(timeout, end);
        watchdog.thread.start();
        return watchdog;
    }

    /** From now on the measuring thread calls {@link #beat} again and again, {@link #watchSlow} or {@link #rest}. */
    void watch() {
        watch(timeout);
    }

    /** What follows may take ten times as long, without a beat. */
    void watchSlow() {
        watch(timeout.multipliedBy(SLOW_TIMEOUTS));
    }

    private void watch(Duration most) {
        beat();
        limit = most.plus(GRACE);
    }

    /** What follows may take as long as it takes: this thread waits for another, which is watched. */
    void rest() {
        limit = null;
    }

    void beat() { TURNS.setOpaque(this, turns + 1); }

    private void look() {
        long seen = -1;
        long since = System.nanoTime();
        long last = since;
        while (!Thread.currentThread().isInterrupted()) {
            long now = System.nanoTime();
            Duration most = limit; // before the turns, so that a shorter limit comes with the beat before it
            long current = (long) TURNS.getOpaque(this);
            boolean wasStopped = now - last > GRACE.toNanos(); // the whole process: nothing could move
            last = now;
            if (most == null || current != seen || wasStopped) {
                seen = current;
                since = now;
            } else if (now - since > most.toNanos()) {
                end.accept(most);
                return;
            }
            try {
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                return; // closed
            }
        }
    }

    /** Without shutdown hooks and without a safepoint: both would wait for the call that does not return. */
    private static void endProcess(Duration most, PrintWriter err, String other, MethodHandle exit) {
        err.println("ofi4j: Nothing moved for " + most.toSeconds() + " s, and a call of the provider does not return"
                + (other.isEmpty() ? "." : ": was " + other + " stopped or killed?")
                + " 'ofi4j doctor --clean' removes what this process leaves.");
        err.flush();
        try {
            exit.invokeExact(1);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle exit() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find("_exit").orElseThrow(),
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
    }

    @Override
    public void close() { thread.interrupt(); }
}
