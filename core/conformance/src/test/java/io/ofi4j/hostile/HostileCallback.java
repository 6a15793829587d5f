package io.ofi4j.hostile;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * What the callbacks of a hostile program do when the library calls them: they return, throw, take their time, or call
 * the library. What they throw must come out of the call that called them, and nothing else instead.
 */
final class HostileCallback {
    private static final int MAX_DEPTH = 3;

    /** As a handler's own exception is. */
    private static final class CallbackException extends RuntimeException {
        private static final long serialVersionUID = 1;

        CallbackException() { super("thrown by a callback"); }
    }

    private final HostileRun run;
    private final Random random;
    private final List<HostileRun.Step> calls;
    /** Of all threads: a thread of the library may be the caller. */
    private final Set<Throwable> thrown = Collections
            .synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    private int depth;

    /** @param calls what a callback may call, beside throwing and waiting */
    HostileCallback(HostileRun run, Random random, List<HostileRun.Step> calls) {
        this.run = run;
        this.random = random;
        this.calls = calls;
    }

    /** What a callback does. */
    void misbehave() {
        switch (random.nextInt(6)) {
            case 0 -> throwSomething();
            case 1 -> pause();
            case 2, 3 -> call();
            default -> {
                // as most callbacks do
            }
        }
    }

    private void throwSomething() {
        Throwable chosen = switch (random.nextInt(4)) {
            case 0 -> new AssertionError("an assertion of a callback");
            case 1 -> new StackOverflowError("of a callback");
            case 2 -> new OutOfMemoryError("of a callback");
            default -> new CallbackException();
        };
        thrown.add(chosen);
        if (chosen instanceof Error e) { throw e; }
        throw (RuntimeException) chosen;
    }

    private void pause() {
        try {
            Thread.sleep(0, 1 + random.nextInt(900_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void call() {
        if (depth >= MAX_DEPTH || calls.isEmpty()) { return; }
        depth++;
        try {
            calls.get(random.nextInt(calls.size())).run();
            run.tried("calls in a callback");
        } catch (Exception e) {
            if (thrown.contains(e)) { throw (RuntimeException) e; }
            run.requireNamed("a call in a callback", e);
            run.tried("calls in a callback, refused");
        } finally {
            depth--;
        }
    }

    /** {@return whether a callback has thrown this} */
    boolean hasThrown(Throwable one) { return thrown.contains(one); }

    /**
     * Makes a call that calls callbacks. If one of them throws, the call must throw that. Returns whether it returned.
     */
    boolean calls(String what, HostileRun.Step step) {
        int before = thrown.size();
        try {
            step.run();
            if (thrown.size() > before) { run.fail(new AssertionError(what + " kept what a callback has thrown")); }
            run.tried(what);
            return true;
        } catch (Throwable t) {
            if (thrown.contains(t)) {
                run.tried(what + ", thrown by a callback");
            } else if (t instanceof Exception e && thrown.size() == before) {
                run.requireNamed(what, e);
                run.tried(what + ", refused");
            } else {
                run.fail(new AssertionError(what + " threw something in the place of what a callback has thrown", t));
            }
            return false;
        } finally {
            Thread.interrupted(); // of a callback
        }
    }
}
