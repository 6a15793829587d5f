package io.ofi4j.hostile;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** As {@link HostileTest}, where an RDMA device is: {@code scripts/test --verbs} runs it. */
@Tag("long")
@Timeout(600)
class VerbsHostileTest {
    /** An emulated machine is slow. */
    private static final long MIN_SECONDS = 20;

    @Test
    void aHostileProgramEndsNeitherItselfNorTheKernel() {
        assumeTrue(HostileVerbs.devices().findAny().isPresent(),
                "no RDMA device was named with OFI4J_VERBS_ADDRESSES; scripts/test --verbs makes two");
        HostileTest.survive(HostileCase.VERBS, Math.max(HostileTest.SECONDS, MIN_SECONDS), 0);
    }
}
