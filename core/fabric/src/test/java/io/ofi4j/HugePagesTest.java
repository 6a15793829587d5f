package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that a domain allocates comes in huge pages where it is large enough. */
class HugePagesTest {
    private static final long HUGE = NativeMemory.HUGE_PAGE;
    private static final long LENGTH = 2 * HUGE + 5;
    private static final int TIMES = 3;
    private static final Path SETTING = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");

    private Pair pair;

    @BeforeEach
    void open() { pair = new Pair("shm"); }

    @AfterEach
    void close() { pair.close(); }

    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "REMOTE_WRITE"})
    void aLargeRegionAsksForHugePages(Access access) throws IOException {
        assumeTrue(Files.exists(SETTING), "the system has no transparent huge pages");
        try (MemoryRegion region = pair.domain.allocate(LENGTH, access)) {
            long address = region.segment().address();
            assertThat(address % HUGE).as("where a huge page may begin").isZero();
            assertThat(List.of(lineAt(address, "VmFlags:").split(" "))).contains("hg");
        }
    }

    @Tag("long") // the system must have some that are free
    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "REMOTE_WRITE"})
    void aLargeRegionIsInHugePages(Access access) throws IOException {
        assumeTrue(Files.exists(SETTING) && !Files.readString(SETTING).contains("[never]"),
                "the system has no transparent huge pages, or they are switched off");
        try (MemoryRegion region = pair.domain.allocate(LENGTH, access)) {
            String huge = lineAt(region.segment().address(), "AnonHugePages:");
            assertThat(Long.parseLong(huge.replaceAll("[^0-9]", "")) << 10).isGreaterThanOrEqualTo(HUGE);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "REMOTE_WRITE"})
    void aLargeRegionIsZeroedToItsLastByte(Access access) {
        try (MemoryRegion region = pair.domain.allocate(LENGTH, access)) {
            assertThat(region.length()).isEqualTo(LENGTH);
            assertThat(region.segment().elements(ValueLayout.JAVA_BYTE)
                    .allMatch(one -> one.get(ValueLayout.JAVA_BYTE, 0) == 0)).isTrue();
        }
    }

    /** Other threads of the JVM may map memory meanwhile, but not each time. */
    @Test
    void aLargeRegionGivesItsMemoryBack() throws IOException {
        long least = Long.MAX_VALUE;
        for (int time = 0; time < TIMES; time++) {
            long before = addressSpace();
            for (int count = 0; count < 100; count++) {
                pair.domain.allocate(LENGTH, Access.WRITE).close();
            }
            least = Math.min(least, addressSpace() - before);
        }
        assertThat(least).isLessThan(10 * LENGTH);
    }

    /** What the system says of the mapping at an address, in a line that begins so. */
    private static String lineAt(long address, String beginning) throws IOException {
        boolean inside = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                String[] range = line.split("[- ]");
                inside = Long.parseUnsignedLong(range[0], 16) <= address
                        && address < Long.parseUnsignedLong(range[1], 16);
            } else if (inside && line.startsWith(beginning)) { return line; }
        }
        throw new AssertionError("nothing is mapped there");
    }

    private static long addressSpace() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmSize:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10).findFirst().orElseThrow();
    }
}
