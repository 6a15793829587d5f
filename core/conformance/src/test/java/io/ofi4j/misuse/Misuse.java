package io.ofi4j.misuse;

import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One misuse of the library and how it must end.
 *
 * @param name what is done
 * @param expected the exception's class
 * @param words what its sentence says
 * @param call the misuse
 */
record Misuse(String name, Class<? extends Throwable> expected, String words, Consumer<MisuseStage> call) {
    /** The whole table. */
    static Stream<Misuse> all() {
        return Stream.of(MisuseOfTransfers.cases(), MisuseOfMessages.cases(), MisuseOfObjects.cases(),
                MisuseOfValues.cases(), MisuseOfConnections.cases(), MisuseOfThreads.cases(), MisuseInHandlers.cases(),
                MisuseOfAtomics.cases(), MisuseOfSaves.cases(), MisuseOfDeferredWork.cases(),
                MisuseOfCollectives.cases(), MisuseOfMulticast.cases(), MisuseOfContexts.cases(),
                MisuseOfRegions.cases(), MisuseOfUtilities.cases(), MisuseOfJobs.cases(), MisuseOfTests.cases(),
                MisuseOfVerbs.cases(), MisuseOfProviders.cases(), MisuseInForks.cases()).flatMap(cases -> cases);
    }

    static Misuse refused(String name, Class<? extends Throwable> expected, String words, Consumer<MisuseStage> call) {
        return new Misuse(name, expected, words, call);
    }

    /** Commits it on a stage of its own, which must still work afterwards, and returns what was thrown. */
    Throwable commit() {
        Throwable thrown = null;
        try (MisuseStage stage = new MisuseStage()) {
            try {
                call.accept(stage);
            } catch (Exception | OutOfMemoryError e) {
                thrown = e;
            }
            if (!expected.isInstance(thrown) || thrown.getMessage() == null || !thrown.getMessage().contains(words)) {
                throw new AssertionError(name + " must end in " + expected.getSimpleName() + " that says '" + words
                        + "', and ended in " + (thrown == null ? "nothing" : thrown.toString()), thrown);
            }
        }
        if (Thread.interrupted()) { throw new AssertionError(name + " left an interrupt"); }
        return thrown;
    }

    @Override
    public String toString() { return name; }
}
