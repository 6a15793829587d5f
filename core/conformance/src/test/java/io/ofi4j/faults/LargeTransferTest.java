package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.FaultLink;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One operation moves more bytes to another process, and back, than an int can count, signed and unsigned, over every
 * provider that promises so long ones.
 */
@Tag("long")
class LargeTransferTest {
    private static final long BEYOND_SIGNED = (2L << 30) + (1 << 20) + Long.BYTES;
    private static final long BEYOND_UNSIGNED = (4L << 30) + (1 << 20) + Long.BYTES;
    /** Twice the longer one, and room for two JVMs. */
    private static final long NEEDED_KIBIBYTES = 10L << 20;
    private static final Duration DEADLINE = Patience.seconds(600);
    private static final long FACTOR = 0x9E3779B97F4A7C15L;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed = token; }

        @Override
        public void onError(CompletionError error) { throw error.toException(); }
    };
    private long completed;

    @BeforeEach
    void requireMemory() throws IOException {
        long available = Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElse(0);
        assumeTrue(available >= NEEDED_KIBIBYTES,
                () -> "it needs 10 GiB of memory, and there are " + available + " KiB");
    }

    static Stream<String> providersOfLargeTransfers() {
        return TestProviders.transfers()
                .filter(name -> TestProviders.info(name).endpoint().maximumMessageSize() >= BEYOND_UNSIGNED);
    }

    @ForEachProvider
    @MethodSource("providersOfLargeTransfers")
    void bytesBeyondTheRangeOfAnIntArriveAndComeBack(String provider) {
        FabricInfo info = TestProviders.info(FaultTarget.hints(provider, FaultTarget.ANY, FaultTarget.ANY));
        try (FaultPeer peer = new FaultPeer(List.of(), Target.class, provider);
                Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                MemoryRegion region = domain.allocate(BEYOND_UNSIGNED, Access.WRITE, Access.READ);
                FaultLink link = new FaultLink(fabric, domain, peer.address)) {
            sendAndFetch(provider, peer, region, link, BEYOND_SIGNED);
            if (link.rma().maximumMessageSize() >= BEYOND_UNSIGNED) {
                sendAndFetch(provider, peer, region, link, BEYOND_UNSIGNED);
            }
        }
    }

    private void sendAndFetch(String provider, FaultPeer peer, MemoryRegion region, FaultLink link, long length) {
        MemorySegment bytes = region.segment().asSlice(0, length);
        fill(bytes, length);
        double written = seconds(() -> {
            link.rma().write(region.slice(0, length), link.peer(), peer.region, length);
            await(link, length);
        });
        bytes.fill((byte) 0);
        double read = seconds(() -> {
            link.rma().read(region.slice(0, length), link.peer(), peer.region, length + 1);
            await(link, length + 1);
        });
        System.out.println(
                String.format(Locale.ROOT, "large transfers over %s: %d bytes written in %.1f s, read in %.1f s",
                        provider, length, written, read));

        assertThat(firstDifference(bytes, length)).as("the first long that is another").isEqualTo(-1);
    }

    private void await(FaultLink link, long token) {
        Waiting.YIELD.until(() -> link.polled(handler) && completed == token, DEADLINE);
    }

    private static double seconds(Runnable action) {
        long start = System.nanoTime();
        action.run();
        return (System.nanoTime() - start) / 1e9;
    }

    /** Each long is another one, also in the pattern of another seed. */
    private static void fill(MemorySegment bytes, long seed) {
        for (long index = 0; index < bytes.byteSize() / Long.BYTES; index++) {
            bytes.setAtIndex(ValueLayout.JAVA_LONG, index, (index + seed) * FACTOR);
        }
    }

    private static long firstDifference(MemorySegment bytes, long seed) {
        for (long index = 0; index < bytes.byteSize() / Long.BYTES; index++) {
            if (bytes.getAtIndex(ValueLayout.JAVA_LONG, index) != (index + seed) * FACTOR) { return index; }
        }
        return -1;
    }

    /** Has the memory that is written to. */
    static final class Target {
        private Target() {}

        /** The argument is the provider; others are those of every target. */
        public static void main(String[] arguments) {
            FabricInfo info = TestProviders.info(FaultTarget.hints(arguments[0], FaultTarget.ANY, FaultTarget.ANY));
            Fabric fabric = Libfabric.load().openFabric(info);
            Domain domain = fabric.openDomain();
            MemoryRegion region = domain.allocate(BEYOND_UNSIGNED, Access.REMOTE_WRITE, Access.REMOTE_READ);
            FaultTarget.serve(fabric, domain, HexFormat.of().formatHex(region.remote().encode()));
        }
    }
}
