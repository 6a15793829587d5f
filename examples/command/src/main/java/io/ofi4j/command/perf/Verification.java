package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;

/** Finds out whether every byte of a sweep is where it belongs, and no other has changed. */
final class Verification {
    private final Operation operation;
    private final boolean isPingPong;
    private final Target target;
    private final End end;
    private final MemorySegment here;
    /** Where answers go; without any, the same as {@link #here}. */
    private final MemorySegment answers;
    private final Layout layout;
    private long seed;

    Verification(Operation operation, boolean isPingPong, Place place, Layout layout) {
        this.operation = operation;
        this.isPingPong = isPingPong;
        this.target = place.target();
        this.end = place.here();
        this.here = end.memory();
        this.answers = operation.hasAnswers() || isPingPong ? here.asSlice(end.answers()) : here;
        this.layout = layout;
    }

    /** A sweep with other bytes begins. */
    void prepareTarget(long newSeed) {
        seed = newSeed;
        target.prepare(layout, operation == Operation.READ || operation == Operation.ATOMIC, seed);
    }

    void prepareHere() {
        switch (operation) {
            case READ -> Pattern.clear(here, layout);
            case ATOMIC -> Transfer.OfAtomics.fill(here, answers, layout, seed, ~seed);
            default -> Pattern.fill(here, layout, seed);
        }
        if (operation == Operation.ATOMIC || isPingPong) { Pattern.clear(answers, layout); }
        end.store();
    }

    /** {@return how many operations went wrong} */
    long damaged() {
        end.load();
        return switch (operation) {
            case READ -> Pattern.damaged(here, layout, seed);
            case ATOMIC -> Pattern.damaged(answers, layout, seed) + target.damaged(layout, ~seed);
            default -> target.damaged(layout, seed) + (isPingPong ? Pattern.damaged(answers, layout, seed) : 0);
        };
    }
}
