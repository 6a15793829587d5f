package io.ofi4j.verbs;

import io.ofi4j.errors.FabricTimeoutException;
import java.util.function.Consumer;

/**
 * One misuse of the verbs path and how it must end, before the device is reached.
 *
 * @param name what is done
 * @param expected the exception's class
 * @param words what its sentence says
 * @param call the misuse, on a link where it needs a device
 */
record VerbsMisuse(String name, Class<? extends Throwable> expected, String words, Consumer<VerbsMisuseStage> call) {
    static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    static final Class<? extends Throwable> STATE = IllegalStateException.class;
    static final Class<? extends Throwable> BOUNDS = IndexOutOfBoundsException.class;
    static final Class<? extends Throwable> TIMEOUT = FabricTimeoutException.class;
    static final Class<? extends Throwable> UNSUPPORTED = UnsupportedOperationException.class;

    static VerbsMisuse refused(String name, Class<? extends Throwable> expected, String words,
            Consumer<VerbsMisuseStage> call) {
        return new VerbsMisuse(name, expected, words, call);
    }

    /** Of a value, without a device. */
    static VerbsMisuse value(String name, String words, Runnable call) {
        return new VerbsMisuse(name, ARGUMENT, words, stage -> call.run());
    }

    void commit(VerbsMisuseStage stage) {
        Throwable thrown = null;
        try {
            call.accept(stage);
        } catch (Exception e) {
            thrown = e;
        }
        if (!expected.isInstance(thrown) || thrown.getMessage() == null || !thrown.getMessage().contains(words)) {
            throw new AssertionError(name + " must end in " + expected.getSimpleName() + " that says '" + words
                    + "', and ended in " + (thrown == null ? "nothing" : thrown.toString()), thrown);
        }
    }

    @Override
    public String toString() { return name; }
}
