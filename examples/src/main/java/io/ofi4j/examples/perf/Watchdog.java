package io.ofi4j.examples.perf;

import java.io.PrintWriter;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;

/**
 * Ends the process where a call of the provider does not return: over shm that happens where the other process was
 * stopped while it held a lock in the memory that both share. The measuring thread cannot see its deadline then, so
 * another looks.
 */
final class Watchdog implements AutoCloseable {
    /**
     * For a process that does nothing wrong, at an end where all takes long: the measuring thread's own deadline comes
     * first.
     */
    private static final Duration GRACE = Duration.ofSeconds(3);
    private static final long LOOK_MILLIS = 100;
    private static final VarHandle TURNS;

    static {
        try {
            TURNS = MethodHandles.lookup().findVarHandle(Watchdog.class, "turns", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Duration timeout;
    private final PrintWriter err;
    private final Thread thread;
    private final MethodHandle exit = exit();
    private long turns;
    private volatile boolean watching;

    private Watchdog(Duration timeout, PrintWriter err) {
        this.timeout = timeout;
        this.err = err;
        thread = Thread.ofPlatform().daemon().name("watchdog").unstarted(this::look);
    }

    /** {@return one that never ends anything: where both ends are in this process, nobody stops one alone} */
    static Watchdog asleep() {
        return new Watchdog(Duration.ZERO, null);
    }

    static Watchdog start(Duration timeout, PrintWriter err) {
        Watchdog watchdog = new Watchdog(timeout, err);
        watchdog.thread.start();
        return watchdog;
    }

    /** From now on the measuring thread calls {@link #beat} again and again, or {@link #rest}. */
    void watch() {
        beat();
        watching = true;
    }

    /** What follows may take as long as it takes. */
    void rest() { watching = false; }

    void beat() { TURNS.setOpaque(this, turns + 1); }

    private void look() {
        long seen = -1;
        long since = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            long now = System.nanoTime();
            long current = (long) TURNS.getOpaque(this);
            if (!watching || current != seen) {
                seen = current;
                since = now;
            } else if (now - since > timeout.plus(GRACE).toNanos()) { end(); }
            try {
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                return; // closed
            }
        }
    }

    /** Without shutdown hooks and without a safepoint: both would wait for the call that does not return. */
    private void end() {
        err.println("ofi4j: Nothing moved for " + timeout.plus(GRACE).toSeconds()
                + " s, and a call of the provider does not return:"
                + " is the other process stopped? 'ofi4j doctor --clean' removes what this one leaves.");
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
