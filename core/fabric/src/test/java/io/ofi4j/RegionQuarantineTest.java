package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.internal.engine.RegionQuarantine;
import io.ofi4j.internal.os.Machine;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What stays of closed regions, beside endpoints that are open, is bounded. In a JVM of its own, whose memory is
 * counted.
 */
@Tag("gate")
@Tag("once")
class RegionQuarantineTest {
    private static final long MEGABYTE = 1 << 20;
    /** For the rest of the process. */
    private static final long MARGIN = 128 * MEGABYTE;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void closedRegionsTakeABoundedAddressSpaceAndNoMemory(String provider) {
        Memory more = more(provider, provider.equals("shm") ? 5_000 : 1_500, (int) MEGABYTE);

        assertThat(more.addressSpace).isLessThan(RegionQuarantine.MAX_BYTES + MARGIN);
        assertThat(more.committed).isLessThan(MARGIN);
        assertThat(more.resident).isLessThan(MARGIN);
    }

    @Test
    void smallRegionsAreBoundedByTheirNumber() {
        requireShm();
        long bound = RegionQuarantine.MAX_REGIONS * Machine.PAGE + MARGIN;
        int beyond = (int) (bound * 4 / 3 / Machine.PAGE);

        assertThat(more("shm", beyond, 8).addressSpace).isLessThan(bound);
    }

    @Test
    void aRegionThatIsLargerThanTheQuarantineIsKeptAlone() {
        requireShm();
        long large = RegionQuarantine.MAX_BYTES + MEGABYTE;

        assertThat(more("shm", 4, (int) large).addressSpace).isBetween(large - MEGABYTE, large + MARGIN);
    }

    private static void requireShm() {
        assumeTrue(TestProviders.rma().anyMatch("shm"::equals), "other providers were named");
    }

    private static Memory more(String provider, int count, int length) {
        Forked.Result result = Forked.run(ClosesMany.class, "-Xms256m", provider, Integer.toString(count),
                Integer.toString(length));
        assertThat(result.exit()).as(result.output()).isZero();
        return Memory.decode(result.output().lines().toList().getLast());
    }

    /**
     * Bytes of a process.
     *
     * @param committed what the system has promised it
     */
    private record Memory(long addressSpace, long committed, long resident) {
        static Memory ofThisProcess() throws IOException {
            long committed = Long.MAX_VALUE;
            for (int time = 0; time < 3; time++) { // a mapping that changes while the list is read may be in it twice
                committed = Math.min(committed, committedBytes());
            }
            return new Memory(status("VmSize:"), committed, status("VmRSS:"));
        }

        private static long status(String name) throws IOException {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith(name))
                    .mapToLong(Memory::kilobytes).findFirst().orElseThrow();
        }

        private static long kilobytes(String line) { return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10; }

        /** Of the mappings that the system accounts for. */
        private static long committedBytes() throws IOException {
            long sum = 0;
            long size = 0;
            for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
                if (line.startsWith("Size:")) {
                    size = kilobytes(line);
                } else if (line.startsWith("VmFlags:") && List.of(line.split(" ")).contains("ac")) { sum += size; }
            }
            return sum;
        }

        Memory since(Memory before) {
            return new Memory(addressSpace - before.addressSpace, committed - before.committed,
                    resident - before.resident);
        }

        String encode() { return addressSpace + " " + committed + " " + resident; }

        static Memory decode(String line) {
            String[] words = line.split(" ");
            return new Memory(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
        }
    }

    static final class ClosesMany {
        private ClosesMany() {}

        /** Arguments: the provider, how many regions, and of how many bytes. */
        public static void main(String[] arguments) throws IOException {
            try (Pair pair = new Pair(arguments[0])) {
                int length = Integer.parseInt(arguments[2]);
                pair.domain.allocate(1, Access.REMOTE_WRITE).close();
                Memory before = Memory.ofThisProcess();
                long begin = System.nanoTime();
                for (int i = Integer.parseInt(arguments[1]); i > 0; i--) {
                    pair.domain.allocate(length, Access.REMOTE_WRITE).close();
                }
                System.out.println((System.nanoTime() - begin) / 1_000_000 + " ms");
                System.out.println(Memory.ofThisProcess().since(before).encode());
            }
        }
    }
}
