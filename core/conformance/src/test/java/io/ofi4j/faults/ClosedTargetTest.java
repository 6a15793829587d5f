package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A region that peers write to and read from is closed while they are at it: providers look at its key when a transfer
 * begins, and copy afterwards. In a JVM of its own.
 */
@Tag("gate")
class ClosedTargetTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aRegionMayBeClosedUnderPeersTransfers(String provider) {
        Forked.Result result = Forked.run(ClosesTargets.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains(" regions were closed under transfers");
    }

    /** With shm a transfer may be one copy, within the call that posts it. */
    static Stream<String> thatTransferInPolls() {
        return TestProviders.transfers().filter(provider -> !provider.equals("shm"));
    }

    @Tag("long") // a provider's thread may be done before this one closes the region
    @ForEachProvider
    @MethodSource("thatTransferInPolls")
    void aTransferIsUnderWayWhenARegionIsClosed(String provider) {
        Forked.Result result = Forked.run(ClosesTargets.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).containsPattern("(?m)^[1-9]\\d* of ");
    }

    @Test
    void regionsThatWereClosedUnderAnOpenEndpointTakeNoMemory() {
        requireShm();
        Forked.Result result = Forked.run(ClosesMany.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(Long.parseLong(result.output().lines().toList().getLast())).as("pages more").isLessThan(20_000);
    }

    @Test
    void whatIsFreedWithARegionMayBeSomethingElseAtOnce() {
        requireShm();
        Forked.Result result = Forked.run(ReusesMemory.class);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    private static void requireShm() {
        assumeTrue(TestProviders.rma().anyMatch("shm"::equals),
                "this is about the structures of shm, which other providers were named instead of");
    }

    /** shm of libfabric 2.x goes on looking into its structure of a region while peers' transfers go on. */
    @SuppressWarnings("restricted")
    static final class ReusesMemory {
        private static final MethodHandle MALLOC = Linker.nativeLinker().downcallHandle(
                Linker.nativeLinker().defaultLookup().find("malloc").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        private static final int LARGE = 40 << 20;
        private static final int TIMES = 6;
        private static final int MAX_STRUCTURE = 256;
        private static final int PIECES = 64;
        private static final byte NO_KIND_OF_MEMORY = 0x5a;

        private ReusesMemory() {}

        public static void main(String[] arguments) throws Throwable {
            for (int time = 0; time < TIMES; time++) {
                try (Pair pair = new Pair("shm");
                        MemoryRegion here = pair.domain.allocate(LARGE, Access.WRITE, Access.READ)) {
                    MemoryRegion there = pair.domain.allocate(LARGE, Access.REMOTE_WRITE, Access.REMOTE_READ);
                    pair.rma().write(here.slice(0, 8), pair.far, there.remote(), 1);
                    pair.awaitCompletions(1);
                    if (time % 2 == 0) {
                        pair.rma().write(here.slice(0, LARGE), pair.far, there.remote(), 2);
                    } else {
                        pair.rma().read(here.slice(0, LARGE), pair.far, there.remote(), 2);
                    }
                    pair.farQueue.progress();
                    there.close();
                    fillWhatWasFreed();
                    for (int poll = 0; poll < 200; poll++) {
                        pair.poll();
                    }
                }
            }
        }

        private static void fillWhatWasFreed() throws Throwable {
            for (long size = 8; size <= MAX_STRUCTURE; size += 16) {
                for (int piece = 0; piece < PIECES; piece++) {
                    long memory = (long) MALLOC.invokeExact(size);
                    MemorySegment.ofAddress(memory).reinterpret(size).fill(NO_KIND_OF_MEMORY);
                }
            }
        }
    }

    static final class ClosesMany {
        private ClosesMany() {}

        public static void main(String[] arguments) throws IOException {
            try (Pair pair = new Pair("shm")) {
                long before = residentPages();
                for (int i = 0; i < 2000; i++) {
                    pair.domain.allocate(64 * 4096, Access.REMOTE_WRITE).close(); // 128,000 pages in all
                }
                System.out.println(residentPages() - before);
            }
        }

        private static long residentPages() throws IOException {
            return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
        }
    }

    static final class ClosesTargets {
        /** More than the C library keeps when it is freed. */
        private static final int LARGE = 40 << 20;
        private static final int TIMES = Rounds.of(6);
        private static final Duration TIMEOUT = Duration.ofMillis(200);
        private static final Random RANDOM = TestSeed.random("ClosedTargetTest");

        private ClosesTargets() {}

        public static void main(String[] arguments) {
            int under = 0;
            for (int time = 0; time < TIMES; time++) {
                try (Pair pair = new Pair(arguments[0]);
                        MemoryRegion here = pair.domain.allocate(LARGE, Access.WRITE, Access.READ);
                        MemoryRegion there = pair.domain.allocate(LARGE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
                    int polls = time < 2 ? 1 : 1 << RANDOM.nextInt(14);
                    under += closeUnder(pair, here, there, time % 2 == 0, polls) ? 1 : 0;
                }
            }
            System.out.println(under + " of " + TIMES + " regions were closed under transfers");
        }

        /** {@return whether transfers were under way} */
        private static boolean closeUnder(Pair pair, MemoryRegion here, MemoryRegion there, boolean writes, int polls) {
            long length = Math.min(LARGE, pair.rma().maximumMessageSize());
            pair.rma().write(here.slice(0, 8), pair.far, there.remote(), 1);
            pair.awaitCompletions(1);
            for (int token = 2; token < 5; token++) {
                if (writes) {
                    pair.rma().tryWrite(here, 0, length, pair.far, there.remote(), 0, token);
                } else {
                    pair.rma().tryRead(here, 0, length, pair.far, there.remote(), 0, token);
                }
            }
            for (int poll = 0; poll < polls; poll++) {
                pair.poll();
            }
            boolean isUnder = pair.queue.operationsInFlight() > 0;
            there.close();
            Waiting.YIELD.tryUntil(() -> {
                pair.poll();
                return pair.queue.operationsInFlight() == 0;
            }, TIMEOUT);
            return isUnder;
        }
    }
}
