package io.ofi4j.verbs.internal;

import java.util.function.Supplier;

/** Undoes the native part of an opening whose rest fails. */
public final class Rollback {
    private Rollback() {}

    /** {@return the result of the rest of an opening} If it fails, undoes what was opened, and throws why it failed. */
    public static <T> T ifFails(Runnable undo, Supplier<T> rest) {
        try {
            return rest.get();
        } catch (Throwable t) {
            try {
                undo.run();
            } catch (RuntimeException e) {
                t.addSuppressed(e);
            }
            throw t;
        }
    }
}
