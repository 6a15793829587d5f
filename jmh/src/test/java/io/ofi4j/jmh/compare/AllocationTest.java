package io.ofi4j.jmh.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Libfabric;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The data path allocates nothing, once C2 has compiled it: what the interpreter and C1 do not take apart is allocated
 * before.
 */
@Tag("gate")
class AllocationTest {
    private static final long DEADLINE = TimeUnit.SECONDS.toNanos(45);
    /**
     * What C2 inlines differs from JVM to JVM. In one of some hundred, on a busy machine, it left the handle of a call
     * out for good, and the 40 bytes of the call's address were allocated each time.
     */
    private static final int JVMS = 3;
    private static final int OPERATIONS = 2_000;
    /** Where the answer to "run" says how many bytes were allocated. */
    private static final int ALLOCATED = 2;

    static Stream<String> providers() {
        return Stream.of("shm", "tcp;ofi_rxm", Libfabric.load().version().major() >= 2 ? "tcp" : "net", "sockets",
                "udp;ofi_rxd");
    }

    @ParameterizedTest
    @MethodSource("providers")
    void operationsAndTheirCompletionsAllocateNothing(String provider) {
        requireNothingAllocated(provider, Family.RMA, "write", "read", "inject", "writedata", "slices", "poll");
    }

    @ParameterizedTest
    @MethodSource("providers")
    void messagesAndTheirReceivesAllocateNothing(String provider) {
        requireNothingAllocated(provider, Family.MSG, "roundtrip", "messages");
        requireNothingAllocated(provider, Family.TAGGED, "roundtrip", "messages");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "sockets"})
    void additionsAllocateNothing(String provider) {
        requireNothingAllocated(provider, Family.ATOMIC, "fetchadd", "injectadd");
    }

    private static void requireNothingAllocated(String provider, Family family, String... works) {
        String allocating = "";
        for (int jvm = 0; jvm < JVMS; jvm++) {
            allocating = firstThatAllocates(provider, family, works);
            if (allocating.isEmpty()) { return; }
        }
        assertThat(allocating).as("what allocates in each of %d JVMs", JVMS).isEmpty();
    }

    /** The first of the works that allocates in a JVM of its own, and how many bytes; empty if none does. */
    private static String firstThatAllocates(String provider, Family family, String... works) {
        try (Worker java = new Worker("the Java side", Jvm.command(JavaWorker.class))) {
            Models models = Models.toTry(provider, Libfabric.load().version().major()).getFirst();
            assertThat(java.ask("open " + provider + " " + (provider.equals("shm") ? "-" : "127.0.0.1") + " "
                    + models.threading() + " " + models.progress() + " " + Job.REGION + " " + family)).startsWith("ok");
            for (String work : works) {
                long allocated = leastAllocated(java, work);
                if (allocated > 0) { return allocated + " bytes by " + work + ", " + OPERATIONS + " times"; }
            }
            return "";
        }
    }

    /** What a slice allocates when it allocates nothing, or the deadline has come. */
    private static long leastAllocated(Worker java, String work) {
        long begun = System.nanoTime();
        long allocated;
        do {
            allocated = Long.parseLong(java.ask("run " + work + " 8 1 " + OPERATIONS)[ALLOCATED]);
        } while (allocated > 0 && System.nanoTime() - begun < DEADLINE);
        return allocated;
    }
}
