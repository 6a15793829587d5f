package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** A key is what lets a peer in: where the library chooses it, nobody can guess it from those before. */
@Timeout(600)
class RandomKeysTest {
    private static final int COUNT = 1000;
    /** Of 8 bytes the highest bit is left out, so that no key is FI_KEY_NOTAVAIL. */
    private static final int BITS = Long.SIZE - 1;

    /** The keys of regions that are all open at once, registered in every way there is. */
    private static long[] keys(String provider, int count) {
        List<MemoryRegion> regions = new ArrayList<>();
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                Domain domain = fabric.openDomain();
                Arena arena = Arena.ofShared()) {
            try {
                MemorySegment memory = arena.allocate(64);
                while (regions.size() < count) {
                    regions.add(switch (regions.size() % 4) {
                        case 0 -> domain.register(memory, Access.REMOTE_READ);
                        case 1 -> domain.register(List.of(memory), Access.REMOTE_READ);
                        case 2 ->
                            domain.register(MemoryRegionAttributes.of(memory).access(Access.REMOTE_READ).randomKey());
                        default -> domain.allocate(64, Access.REMOTE_READ);
                    });
                }
                return regions.stream().mapToLong(region -> region.remote().key()).toArray();
            } finally {
                regions.forEach(MemoryRegion::close);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void keysThatTheLibraryChoosesCannotBeGuessed(String provider) {
        assertThat(TestProviders.info(provider).domain().memoryRegionMode()).as("who chooses")
                .doesNotContain(MemoryRegionMode.PROV_KEY);

        long[] keys = keys(provider, COUNT);

        assertThat(keys).doesNotHaveDuplicates().doesNotContain(Registration.NO_KEY);
        assertThat(differences(keys)).as("from one key to the next").doesNotHaveDuplicates();
        assertThat(differences(differences(keys))).doesNotHaveDuplicates();
        // 12 standard deviations on each side: by chance that happens never.
        assertThat(IntStream.range(0, BITS).mapToLong(bit -> ones(keys, bit))).as("how often each bit is set")
                .allSatisfy(ones -> assertThat(ones).isBetween(COUNT * 3L / 10, COUNT * 7L / 10));
        assertThat(IntStream.range(0, BITS).mapToLong(bit -> ones(changes(keys), bit))).as("how often each bit changes")
                .allSatisfy(ones -> assertThat(ones).isBetween(COUNT * 3L / 10, COUNT * 7L / 10));
    }

    private static long[] differences(long[] values) {
        return IntStream.range(1, values.length).mapToLong(i -> values[i] - values[i - 1]).toArray();
    }

    private static long[] changes(long[] values) {
        return IntStream.range(1, values.length).mapToLong(i -> values[i] ^ values[i - 1]).toArray();
    }

    private static long ones(long[] values, int bit) {
        return LongStream.of(values).filter(value -> (value >>> bit & 1) == 1).count();
    }

    @Test
    void anotherProcessHasOtherKeys() {
        List<String> printed = Forked.run(PrintedKeys.class).output().lines().filter(line -> line.startsWith("key "))
                .toList();

        assertThat(printed).hasSize(8)
                .doesNotContainAnyElementsOf(Forked.run(PrintedKeys.class).output().lines().toList());
    }

    /** Prints the first keys of a process. */
    static final class PrintedKeys {
        private PrintedKeys() {}

        public static void main(String[] arguments) {
            String provider = TestProviders.rma().findFirst().orElseThrow();
            LongStream.of(keys(provider, 8)).forEach(key -> System.out.println("key " + key));
        }
    }
}
