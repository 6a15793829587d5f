package io.ofi4j.hostile;

import io.ofi4j.errors.FabricException;
import io.ofi4j.job.JobException;
import io.ofi4j.job.RendezvousException;
import io.ofi4j.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One run of a hostile program: its provider, its random values, how long it goes on, and the count of what it tried.
 */
final class HostileRun {
    /** The exceptions that the library's documentation names. */
    private static final List<Class<? extends RuntimeException>> NAMED = List.of(FabricException.class,
            IllegalStateException.class, IllegalArgumentException.class, UnsupportedOperationException.class,
            WrongThreadException.class, IndexOutOfBoundsException.class, NullPointerException.class,
            RendezvousException.class, JobException.class);
    private static final long JOIN_MILLIS = Patience.seconds(60).toMillis();

    final String provider;

    private final long seed;
    private final long nanos;
    /** How often it may go on; 0 if time says when it is over. */
    private final long most;
    private final AtomicLong asked = new AtomicLong();
    /** Begins with the first question whether to go on: what a program opens before takes none of its time. */
    private final AtomicLong begin = new AtomicLong();
    private final AtomicLong streams = new AtomicLong();
    private final Map<String, AtomicLong> tried = new ConcurrentSkipListMap<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** @param most how often it goes on, in place of a time, if this is not 0 */
    HostileRun(String provider, long seed, long seconds, long most) {
        this.provider = provider;
        this.seed = seed;
        this.nanos = seconds * 1_000_000_000;
        this.most = most;
    }

    /** A step that may be refused. */
    interface Step {
        void run() throws Exception;
    }

    /** {@return whether it is not over and nothing has failed} */
    boolean goesOn() {
        return failure.get() == null && (most > 0 ? asked.incrementAndGet() <= most : left() > 0);
    }

    private long left() {
        begin.compareAndSet(0, System.nanoTime());
        return nanos - (System.nanoTime() - begin.get());
    }

    /** {@return random values of their own for each caller: the n-th caller always gets the same} */
    Random random() {
        return new Random(seed * 31 + streams.incrementAndGet());
    }

    void tried(String what) { tried.computeIfAbsent(what, key -> new AtomicLong()).incrementAndGet(); }

    /** {@return how often this was tried} */
    long count(String what) {
        AtomicLong count = tried.get(what);
        return count == null ? 0 : count.get();
    }

    /** Tries a step, which may succeed or throw a named exception; whether it succeeded. */
    boolean attempt(String what, Step step) {
        try {
            step.run();
            tried(what);
            return true;
        } catch (Exception e) {
            requireNamed(what, e);
            tried(what + ", refused");
            return false;
        }
    }

    /** Fails unless this is an exception that the library's documentation names, with a text. */
    void requireNamed(String what, Exception thrown) {
        Class<?> type = thrown.getClass();
        boolean isOfJdk = thrown instanceof StringIndexOutOfBoundsException
                || thrown instanceof ArrayIndexOutOfBoundsException;
        boolean isNamed = !isOfJdk && NAMED.stream().anyMatch(named -> named.isAssignableFrom(type));
        if (!isNamed || thrown.getMessage() == null) { fail(new AssertionError(what + " ended in " + thrown, thrown)); }
    }

    void fail(Throwable thrown) { failure.compareAndSet(null, thrown); }

    /** Runs a step in so many threads until it has ended in all of them. */
    void inThreads(int count, Step step) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(start("hostile-" + i, step));
        }
        join(threads);
    }

    /** Starts a thread, whose exceptions are failures. */
    Thread start(String name, Step step) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                step.run();
            } catch (Throwable t) {
                fail(t);
            }
        });
    }

    void join(List<Thread> threads) throws InterruptedException {
        long deadline = System.nanoTime() + Math.max(left(), 0) + JOIN_MILLIS * 1_000_000;
        for (Thread thread : threads) {
            thread.join(Math.max((deadline - System.nanoTime()) / 1_000_000, 1));
            if (thread.isAlive()) {
                HostileWatch.print();
                fail(new AssertionError(thread.getName() + " hangs"));
                return;
            }
        }
    }

    /** Prints what was tried, and throws what failed. */
    void finish() {
        tried.forEach((what, count) -> System.out.println("tried " + count + " " + what));
        if (failure.get() != null) { throw new AssertionError(provider + ", seed " + seed, failure.get()); }
    }
}
