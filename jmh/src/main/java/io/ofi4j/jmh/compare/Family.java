package io.ofi4j.jmh.compare;

import io.ofi4j.info.FabricHints;

/** What endpoints can do: each has workers of its own, as providers differ in speed by what is asked for. */
enum Family {
    RMA, ATOMIC, MSG, TAGGED;

    /** {@return what to ask a provider for} */
    FabricHints hints() {
        return switch (this) {
            case RMA -> FabricHints.rma();
            case ATOMIC -> FabricHints.atomics();
            case MSG -> FabricHints.messages();
            case TAGGED -> FabricHints.tagged();
        };
    }

    boolean isTwoSided() { return this == MSG || this == TAGGED; }
}
