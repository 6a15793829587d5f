package io.ofi4j.hostile;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The families of operations that a provider has. */
final class HostileFamilies {
    /** Its target ends the process when it answers an atomic operation of a peer that has closed: see tcp-rxm.md. */
    private static final String ANSWERS_KILL = "ofi_rxm";

    private static final String COLLECTIVES = "tcp;ofi_rxm";

    private HostileFamilies() {}

    /** {@return one of them; RMA is always one} */
    static Capability one(Random random, String provider) {
        List<Capability> families = new ArrayList<>(List.of(Capability.RMA, Capability.MSG));
        boolean hasAtomics = TestProviders.atomics().anyMatch(provider::equals);
        if (hasAtomics && !provider.contains(ANSWERS_KILL)) { families.add(Capability.ATOMIC); }
        if (TestProviders.rma().anyMatch(provider::equals)) { families.add(Capability.TAGGED); }
        if (provider.equals(COLLECTIVES)) { families.add(Capability.COLLECTIVE); }
        return families.get(random.nextInt(families.size()));
    }

    /** {@return what endpoints with RMA and a family are asked for with} */
    static FabricHints hints(String provider, Capability family) {
        FabricHints hints = TestProviders.hints(provider);
        if (family == Capability.RMA) { return hints; }
        return isDirected(provider, family)
                ? hints.capabilities(Capability.RMA, family, Capability.DIRECTED_RECV)
                : hints.capabilities(Capability.RMA, family);
    }

    /** {@return whether receives of a family may be from one peer} */
    static boolean isDirected(String provider, Capability family) {
        return (family == Capability.MSG || family == Capability.TAGGED)
                && TestProviders.rma().anyMatch(provider::equals);
    }
}
