package io.ofi4j.command.soak;

import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What a soak has done, and what was held meanwhile.
 *
 * @param tally what it has done
 * @param faultsAsked whether faults were asked for
 * @param before what was held before the first round
 * @param warm what was held when usage should not grow any more; null where no round ended after that
 * @param end what was held after the last round
 * @param leftAtEnd how many files there are in /dev/shm of processes that have ended, or of this one after all is
 *         closed
 */
record Outcome(Tally tally, boolean faultsAsked, Held before, Held warm, Held end, long leftAtEnd) {
    /**
     * What a C library and a provider's buffers may still take while nothing leaks, or if that is more, a third of what
     * is taken when warm: ofi_rxm's buffers are most of that, and touched little by little.
     */
    private static final long RESIDENT_ALLOWANCE = 64L << 20;
    private static final int ALLOWED_PART = 3;
    private static final int DESCRIPTOR_ALLOWANCE = 8;

    /** {@return what is wrong, in one sentence, or nothing} */
    Optional<String> complaint() { return complaint(false); }

    /** {@return as above; of a soak that was ended early, it is no complaint that it was short} */
    Optional<String> complaint(boolean isInterrupted) {
        if (isInterrupted) { return mismatches(); }
        return Stream.of(mismatches(), tooShort(), growth()).flatMap(Optional::stream).findFirst();
    }

    private Optional<String> mismatches() {
        return when(tally.mismatchCount() > 0,
                () -> "Mismatches: " + tally.mismatchCount() + "; the first: " + tally.mismatches().getFirst() + ".");
    }

    private Optional<String> tooShort() {
        return when(faultsAsked && tally.faults().isEmpty(),
                () -> "No fault was injected, though faults were asked for")
                .or(() -> when(warm == null, () -> "No round ended late enough to say what was held when all was warm"))
                .map(sentence -> sentence + ": take more time, with --duration.");
    }

    /** {@return what is held that should not be, in one sentence, or nothing} */
    Optional<String> growth() {
        Held reference = warm == null ? end : warm;
        return Stream
                .of(grown("The first process", reference.driver(), end.driver()),
                        grown("The second process", reference.target(), end.target()),
                        when(tally.slotsTaken > 0, () -> tally.slotsTaken
                                + " slots of completion queues were still taken when their endpoints were closed."),
                        when(tally.regionsOpen > 0,
                                () -> tally.regionsOpen + " regions are still there, though all were closed."),
                        when(leftAtEnd > 0,
                                () -> leftAtEnd + " files of endpoints that are no more are left in /dev/shm."))
                .flatMap(Optional::stream).findFirst();
    }

    private static Optional<String> grown(String process, Usage warm, Usage end) {
        long allowance = Math.max(RESIDENT_ALLOWANCE, warm.resident() / ALLOWED_PART);
        boolean isFlat = end.resident() <= warm.resident() + allowance
                && end.descriptors() <= warm.descriptors() + DESCRIPTOR_ALLOWANCE
                && end.sharedFiles() <= warm.sharedFiles();
        return when(!isFlat, () -> process + " grew: " + warm + " when warm, and " + end + " at the end.");
    }

    private static Optional<String> when(boolean wrong, Supplier<String> sentence) {
        return wrong ? Optional.of(sentence.get()) : Optional.empty();
    }
}
