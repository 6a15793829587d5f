package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Atomic operations have come to an endpoint that has not polled since, and something closes. A provider that has the
 * target carry them out answers when it closes the connection. How many have come is up to the kernel: the process
 * survives in any case. In a JVM of its own.
 */
@Tag("gate")
class ArrivingAtomicsTest {
    static Stream<String> unconnected() {
        return TestProviders.atomics().filter(provider -> !provider.startsWith("MSG "));
    }

    static Stream<String> connected() {
        return TestProviders.atomics().filter(provider -> provider.startsWith("MSG "));
    }

    @ForEachProvider
    @MethodSource("unconnected")
    void theirTargetMayBeClosed(String provider) { requireSurvived(provider, "target"); }

    @ForEachProvider
    @MethodSource("unconnected")
    void theirInitiatorMayBeClosed(String provider) { requireSurvived(provider, "initiator"); }

    /** As a program ends that fails: each operation is answered with an error then. */
    @ForEachProvider
    @MethodSource("unconnected")
    void theirRegionsMayBeClosed(String provider) { requireSurvived(provider, "regions"); }

    /** Once in some hundred rounds the first write of a later connection got EACCES: not in the gate. */
    @Tag("nightly")
    @ForEachProvider
    @MethodSource("connected")
    void anEndOfAConnectionMayBeClosed(String provider) {
        for (String closed : List.of("target", "initiator", "regions")) {
            requireSurvived(provider, closed);
        }
    }

    private static void requireSurvived(String provider, String closed) {
        Forked.Result result = Forked.run(Closes.class, provider, closed);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("closed 4 times");
    }

    static final class Closes {
        private static final int ROUNDS = 4;
        private static final int OPERATIONS = 50;
        private static final int POLLS = 1000;
        private static final int CELL = 8;
        private static final long CONNECTED = 1000;
        private static final long MOMENT = Patience.seconds(1).toNanos() / 10;

        private Closes() {}

        /** Arguments: the provider, and what is closed first: the target, the initiator, or the regions. */
        @SuppressWarnings("try") // which end is closed first is what is tried
        public static void main(String[] arguments) {
            for (int round = 0; round < ROUNDS; round++) {
                try (Pair pair = new Pair(TestProviders.atomicHints(arguments[0]));
                        MemoryRegion source = pair.domain.allocate(CELL, Access.WRITE);
                        MemoryRegion target = pair.domain.allocate(CELL, Access.REMOTE_WRITE)) {
                    pair.rma().write(source.slice(0, CELL), pair.far, target.remote(), CONNECTED);
                    pair.awaitToken(CONNECTED);
                    int posted = 0;
                    long begin = System.nanoTime();
                    while (posted < OPERATIONS && System.nanoTime() - begin < MOMENT) {
                        posted += pair.endpoint.atomics().tryExecute(AtomicOperation.SUM, Datatype.INT64, source, 0, 1,
                                pair.far, target.remote(), 0, posted) ? 1 : 0;
                        pair.pollNear();
                    }
                    if (posted == 0) { throw new AssertionError("no atomic operation was accepted"); }
                    System.out.println(posted + " were posted, and " + pair.completed.size() + " completed");
                    LockSupport.parkNanos(MOMENT); // they come to the target's queue
                    switch (arguments[1]) {
                        case "target" -> pair.farEndpoint.close();
                        case "initiator" -> pair.endpoint.close();
                        default -> {
                            target.close();
                            source.close();
                            continue; // both endpoints are closed next
                        }
                    }
                    LockSupport.parkNanos(MOMENT); // the other end learns of it
                    for (int poll = 0; poll < POLLS; poll++) {
                        pair.poll();
                    }
                }
            }
            System.out.println("closed " + ROUNDS + " times");
        }
    }
}
