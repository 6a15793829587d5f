package io.ofi4j.conformance.calls;

import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricHints;
import java.util.function.UnaryOperator;

/** What is tried on two ends with regions for one-sided calls. */
interface RmaTrial {
    void run(RmaSetting setting) throws Exception;

    /** With two ends of the subject. */
    static Trial of(RmaTrial body) { return of(UnaryOperator.identity(), body); }

    /** With two ends that are asked for otherwise. */
    static Trial of(UnaryOperator<FabricHints> hints, RmaTrial body) {
        return of(hints, Ends.QUEUES, body);
    }

    /** With two ends whose queues are opened otherwise. */
    static Trial of(CompletionQueueAttributes queues, RmaTrial body) {
        return subject -> run(subject, new Ends(subject, subject.hints(), queues, Ends.QUEUES), body);
    }

    /** With two ends that are asked for, and bound, otherwise. */
    static Trial of(UnaryOperator<FabricHints> hints, Ends.Wiring wiring, RmaTrial body) {
        return subject -> run(subject,
                new Ends(subject, hints.apply(subject.hints()), CompletionQueueAttributes.defaults(), wiring), body);
    }

    private static void run(Subject subject, Ends ends, RmaTrial body) throws Exception {
        try (RmaSetting setting = new RmaSetting(ends, subject.deadline())) {
            body.run(setting);
        }
    }

    /** Asks for a capability beside RMA. */
    static UnaryOperator<FabricHints> capability(Capability capability) {
        return hints -> hints.capabilities(Capability.RMA, capability);
    }
}
