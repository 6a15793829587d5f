package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory of ranks that are threads of this process. {@link JobTest} has processes. */
@Tag("gate")
class SymmetricMemoryTest {
    private static final int BLOCK = 100_000;

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.ATOMIC, Capability.TAGGED)
                .operationFlags(OperationFlag.DELIVERY_COMPLETE);
    }

    /** Ranks have no connections. */
    static Stream<String> atomics() {
        return TestProviders.atomics().filter(name -> !name.startsWith("MSG "));
    }

    private interface Work {
        void run(Job job, SymmetricMemory memory);
    }

    private static void run(String provider, int ranks, long bytes, Work work) {
        JobOfThreads.run(hints(provider), ranks, (job, domain) -> {
            try (SymmetricMemory memory = allocate(job, domain, bytes)) {
                work.run(job, memory);
                job.barrier(); // makes progress for others that still use this rank's memory
            }
        });
    }

    private static SymmetricMemory allocate(Job job, Domain domain, long bytes) {
        return SymmetricMemory.allocate(job.group(), domain, bytes, Waiting.BACKOFF);
    }

    private static byte[] block(int rank) {
        byte[] bytes = new byte[BLOCK];
        Arrays.fill(bytes, (byte) (rank + 1));
        return bytes;
    }

    /** Each rank puts a block into its right neighbour's memory, and gets the block that its left neighbour got. */
    @ParameterizedTest
    @MethodSource("atomics")
    void whatIsPutIsThereAfterQuietAndABarrier(String provider) {
        int ranks = 3;
        run(provider, ranks, 3 * BLOCK, (job, memory) -> {
            int left = Math.floorMod(job.rank() - 1, ranks);
            int right = (job.rank() + 1) % ranks;
            MemorySegment bytes = memory.segment();
            MemorySegment.copy(block(job.rank()), 0, bytes, ValueLayout.JAVA_BYTE, 0, BLOCK);
            memory.put(right, BLOCK, memory.region().slice(0, BLOCK));
            memory.quiet();
            job.barrier();

            assertThat(bytes.asSlice(BLOCK, BLOCK).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(block(left));
            memory.get(left, BLOCK, memory.region().slice(2 * BLOCK, BLOCK));
            memory.quiet();
            assertThat(bytes.asSlice(2 * BLOCK, BLOCK).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(block(Math.floorMod(left - 1, ranks)));
        });
    }

    @ParameterizedTest
    @MethodSource("atomics")
    void numbersThatAllRanksRaiseAreExact(String provider) {
        int ranks = 3;
        int rounds = 50;
        run(provider, ranks, 16, (job, memory) -> {
            for (int i = 0; i < rounds; i++) {
                memory.fetchAdd(1, 0, 1);
                raiseUnderALock(memory);
            }
            job.barrier();
            if (job.rank() == 1) {
                assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(ranks * rounds);
                assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(ranks * rounds);
            }
        });
    }

    /** A compare-and-swap that fails is tried again with the number that it found. */
    private static void raiseUnderALock(SymmetricMemory memory) {
        long expected = 0;
        for (;;) {
            long found = memory.compareSwap(1, 8, expected, expected + 1);
            if (found == expected) { return; }
            expected = found;
        }
    }

    @ParameterizedTest
    @MethodSource("atomics")
    void aSignalTellsThatTheBytesAreThere(String provider) {
        run(provider, 2, 64 + BLOCK, (job, memory) -> {
            for (int round = 1; round <= 20; round++) {
                if (job.rank() == 0) {
                    memory.segment().asSlice(64).fill((byte) round);
                    memory.putThenSignal(1, 64, memory.region().slice(64, BLOCK), 0, round);
                    memory.awaitSignal(8, Long.valueOf(round)::equals);
                } else {
                    int expected = round;
                    assertThat(memory.awaitSignal(0, number -> number >= expected)).isEqualTo(round);
                    byte[] bytes = memory.segment().asSlice(64, BLOCK).toArray(ValueLayout.JAVA_BYTE);
                    assertThat(bytes).containsOnly((byte) round);
                    memory.segment().set(ValueLayout.JAVA_LONG, 16, round);
                    memory.put(0, 8, memory.region().slice(16, 8));
                    memory.quiet();
                }
            }
        });
    }

    @Test
    void aGroupHasMemoryOfItsOwn() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 4, (job, domain) -> {
            JobGroup half = job.split(job.rank() % 2, 0);
            try (SymmetricMemory memory = SymmetricMemory.allocate(half, domain, 8, Waiting.BACKOFF)) {
                memory.fetchAdd(0, 0, 1L << job.rank());
                job.barrier();
                if (half.rank() == 0) {
                    assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0))
                            .isEqualTo(job.rank() == 0 ? 0b0101 : 0b1010);
                }
                job.barrier();
            }
        });
    }

    /** Its answer may come later, and must not be taken for that of the next. */
    @Test
    void behindACallThatWasBrokenOffNoneBegins() {
        CountDownLatch isBrokenOff = new CountDownLatch(1);
        run("tcp;ofi_rxm", 2, 8, (job, memory) -> {
            if (job.rank() == 1) {
                awaitWithoutProgress(isBrokenOff);
                return;
            }
            try {
                memory.deadline(Duration.ofMillis(300));
                assertThatExceptionOfType(JobException.class).isThrownBy(() -> memory.fetchAdd(1, 0, 1))
                        .withMessageMatching(
                                "rank 0 of 2 still waits in fetch-add after 300 ms for rank 1 \\(process .*"
                                        + "does that rank make progress, in a call that waits or by progress\\(\\)\\?.*");
                assertThatExceptionOfType(JobException.class).isThrownBy(() -> memory.fetchAdd(0, 0, 1))
                        .withMessageContaining("fetch-add did not end. Close the symmetric memory");
            } finally {
                isBrokenOff.countDown();
            }
        });
    }

    private static void awaitWithoutProgress(CountDownLatch latch) {
        try {
            assertThat(latch.await(Patience.seconds(60).toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void misuseIsNamed() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 2, (job, domain) -> {
            SymmetricMemory memory = allocate(job, domain, 64);
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> memory.put(2, 0, memory.region().slice(0, 8)));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> memory.put(0, 60, memory.region().slice(0, 8)));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> memory.fetchAdd(0, 64, 1));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> memory.putThenSignal(0, 0, memory.region().slice(0, 8), 4, 1))
                    .withMessageContaining("multiple of 8, not 4");
            try (MemoryRegion other = domain.allocate(8, Access.SEND)) {
                assertThatIllegalArgumentException().isThrownBy(() -> memory.put(0, 0, other.slice(0, 8)))
                        .withMessageContaining("lacks [WRITE]");
            }
            job.barrier();
            memory.close();
            assertThatIllegalStateException().isThrownBy(memory::progress);
        });
    }

    @Test
    void aDomainThatDoesNotWaitForDeliveryIsRefused() {
        FabricHints without = TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.RMA, Capability.ATOMIC);
        JobOfThreads.run(without, 1, (job, domain) -> assertThatIllegalArgumentException()
                .isThrownBy(() -> allocate(job, domain, 64)).withMessageContaining("SymmetricMemory.hints()"));
    }

    @Test
    void anotherSizeIsRefusedByTheRankThatHasIt() {
        JobOfThreads.run(hints("tcp;ofi_rxm"), 2, (job, domain) -> {
            assertThatExceptionOfType(JobException.class)
                    .isThrownBy(() -> allocate(job, domain, job.rank() == 0 ? 64 : 128)).withMessageMatching(
                            "rank \\d \\(process .*\\) has \\d+ bytes of symmetric memory, and rank \\d has \\d+: .*");
            job.barrier();
        });
    }
}
