package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An endpoint is closed while the answer to a large read comes in, after any number of polls. In a JVM of its own, which ofi_rxm
 * over tcp of libfabric 1.x would end.
 */
class ClosedUnderReadTest {
    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#transfers")
    void anEndpointMayBeClosedWhileItReads(String provider) {
        Forked.Result result = Forked.run(ClosesWhileItReads.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    static final class ClosesWhileItReads {
        private static final int SIZE = 4 << 20;
        private static final int TIMES = 24;
        private static final int MOST_POLLS = 12;

        private ClosesWhileItReads() {
        }

        public static void main(String[] arguments) {
            for (int time = 0; time < TIMES; time++) {
                try (Pair pair = new Pair(arguments[0]);
                        MemoryRegion here = pair.domain.allocate(SIZE, Access.WRITE, Access.READ);
                        MemoryRegion there = pair.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
                    pair.rma().write(here, 0, 8, pair.far, there.remote(), 0, 1);
                    pair.awaitCompletions(1);
                    pair.rma().read(here, 0, SIZE, pair.far, there.remote(), 0, 2);
                    for (int poll = 0; poll < time % MOST_POLLS; poll++) {
                        pair.farQueue.progress();
                        if (poll % 2 == 1) {
                            pair.pollNear();
                        }
                    }
                    pair.endpoint.close();
                    pair.pollNear();
                    if (pair.completed.size() + pair.errors.size() != 2) {
                        throw new AssertionError(pair.completed + " completed, failed: " + pair.errors);
                    }
                }
            }
        }
    }
}
