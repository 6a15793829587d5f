package io.ofi4j.jmh.compare;

import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MessageOrder;

/** What endpoints can do: each has workers of its own, as providers differ in speed by what is asked for. */
enum Family {
    RMA, ATOMIC, MSG, TAGGED;

    /** Whether an order of one-sided operations is asked for; set where the worker is started. */
    static final String ORDERED = "ofi4j.bench.ordered";

    /** {@return what to ask a provider for} */
    FabricHints hints() {
        return Boolean.getBoolean(ORDERED)
                ? plainHints().attributes(AttributeHints.none().messageOrder(MessageOrder.WAW))
                : plainHints();
    }

    private FabricHints plainHints() {
        return switch (this) {
            case RMA -> FabricHints.rma();
            case ATOMIC -> FabricHints.atomics();
            case MSG -> FabricHints.messages();
            case TAGGED -> FabricHints.tagged();
        };
    }

    boolean isTwoSided() { return this == MSG || this == TAGGED; }
}
