package io.ofi4j.misuse;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Rma;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** What a misuse is committed on; closes everything at the end, in whatever state the misuse left it. */
final class MisuseStage implements AutoCloseable {
    static final int LENGTH = 4096;
    static final CompletionHandler IGNORING = (token, flags, length, data) -> {};

    final Pair pair;
    final MemoryRegion source;
    final MemoryRegion sink;
    final MemoryRegion target;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    MisuseStage() {
        pair = opened(new Pair("shm"));
        source = opened(pair.domain.allocate(LENGTH, Access.WRITE));
        sink = opened(pair.domain.allocate(LENGTH, Access.READ));
        target = opened(pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ));
    }

    /** Has something closed at the end. */
    <T extends AutoCloseable> T opened(T object) {
        open.push(object);
        return object;
    }

    /** Closes something at once. */
    static <T extends AutoCloseable> T closed(T object) {
        try {
            object.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        return object;
    }

    Rma rma() { return pair.rma(); }

    /** A write of 8 bytes with a token. */
    void write(long token) {
        rma().write(source.slice(0, 8), pair.far, target.remote(), token);
    }

    /** Another fabric with everything in it. */
    Pair other(String provider) { return opened(new Pair(provider)); }

    /** A domain with nothing in it. */
    Domain domain(FabricHints hints) {
        return opened(opened(Libfabric.load().openFabric(TestProviders.info(hints))).openDomain());
    }

    Pair owned(ThreadingModel model) { return opened(new Pair(TestProviders.hints("shm").threading(model))); }

    MemoryRegion region(Pair of, Access... access) { return opened(of.domain.allocate(LENGTH, access)); }

    /** Makes a call on a thread of its own; what it throws comes here. */
    static void elsewhere(Runnable call) {
        FutureTask<Void> task = new FutureTask<>(call, null);
        new Thread(task, "elsewhere").start();
        await(task);
    }

    static void await(FutureTask<?> task) {
        try {
            task.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) { throw cause; }
            throw new CompletionException(e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Makes a call with the thread's interrupt status set, and clears it. */
    static void interrupted(Runnable call) {
        Thread.currentThread().interrupt();
        try {
            call.run();
        } finally {
            if (!Thread.interrupted()) { throw new AssertionError("the interrupt status was lost"); }
        }
    }

    /** The result of a call that may throw what is checked. */
    static <T> T unchecked(Callable<T> call) {
        try {
            return call.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            closed(open.pop());
        }
    }
}
