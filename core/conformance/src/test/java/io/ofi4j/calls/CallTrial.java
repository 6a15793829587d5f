package io.ofi4j.calls;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import java.util.function.UnaryOperator;

/**
 * Tries one call: throws what says that it is not offered, or anything else if it does not do what its man page says.
 */
@FunctionalInterface
interface CallTrial {
    void run(CallColumn column) throws Exception;

    /** What is tried on two endpoints. */
    interface Body {
        void run(Trial trial) throws Exception;
    }

    /** With two endpoints as the column opens them. */
    static CallTrial of(Body body) {
        return of(UnaryOperator.identity(), body);
    }

    /** With two endpoints that are asked for otherwise. */
    static CallTrial of(UnaryOperator<FabricHints> hints, Body body) {
        return column -> run(column, new Pair(hints.apply(column.hints())), body);
    }

    /** With two endpoints whose queues are opened otherwise. */
    static CallTrial of(CompletionQueueAttributes queues, Body body) {
        return column -> run(column, new Pair(column.hints(), queues), body);
    }

    /** With two endpoints that are asked for, and bound, otherwise. */
    static CallTrial of(UnaryOperator<FabricHints> hints, Pair.Wiring wiring, Body body) {
        return column -> run(column,
                new Pair(hints.apply(column.hints()), CompletionQueueAttributes.defaults(), wiring), body);
    }

    private static void run(CallColumn column, Pair pair, Body body) throws Exception {
        try (Trial trial = new Trial(pair, column.deadline())) {
            body.run(trial);
        }
    }

    /** Asks for a capability beside RMA. */
    static UnaryOperator<FabricHints> capability(Capability capability) {
        return hints -> hints.capabilities(Capability.RMA, capability);
    }
}
