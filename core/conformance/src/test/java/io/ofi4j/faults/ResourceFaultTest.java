package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The machine has too little of something, or the process forks. Each test has a JVM of its own. */
@Tag("gate")
class ResourceFaultTest {
    private static void survives(List<String> prefix, Class<?> main, String... arguments) {
        Forked.Result result = Forked.startBehind(prefix, main, arguments).await();

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** A shell that sets limits and becomes the JVM. */
    private static List<String> limited(String limit) {
        return List.of("sh", "-c", limit + "; exec \"$0\" \"$@\"");
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void softwareProvidersLockNoMemory(String provider) {
        survives(limited("ulimit -l 0"), TransfersWithChildren.class, provider);
    }

    /** The JDK's own way, posix_spawn, leaves out what fork does to this process; the test above takes it. */
    @ForEachProvider
    @MethodSource("waysToStartChildren")
    void childProcessesWhileEndpointsAreOpen(String provider, String way) {
        survives(List.of(), TransfersWithChildren.class, "-Djdk.lang.Process.launchMechanism=" + way, provider);
    }

    static Stream<Arguments> waysToStartChildren() {
        return TestProviders.rma().flatMap(name -> Stream.of("FORK", "VFORK").map(way -> Arguments.of(name, way)));
    }

    @Test
    void sharedMemoryThatIsFull() {
        List<String> output = new ArrayList<>();
        boolean able = FaultPeer.exit(List.of("unshare", "-m", "true"), output) == 0;
        assumeTrue(able, () -> "mounting needs root: " + output);
        survives(List.of("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=200m tmpfs /dev/shm; exec \"$0\" \"$@\""),
                FillsSharedMemory.class, "shm");
    }

    /** Child processes come and go while transfers are in flight. */
    static final class TransfersWithChildren {
        private static final int CHILDREN = 5;
        private static final int LENGTH = 4 << 20;
        /** One of more packets may be late for other reasons. */
        private static final int RXD_LENGTH = 1000;

        private TransfersWithChildren() {}

        public static void main(String[] arguments) {
            int length = arguments[0].contains("ofi_rxd") ? RXD_LENGTH : LENGTH;
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion source = pair.domain.allocate(length, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(length, Access.REMOTE_WRITE)) {
                AtomicInteger children = new AtomicInteger();
                Thread parent = Thread.ofPlatform().daemon().start(() -> {
                    while (children.get() < CHILDREN) {
                        FaultPeer.run(List.of("true"));
                        children.incrementAndGet();
                    }
                });
                int transfers = 0;
                while (parent.isAlive() || transfers == 0) {
                    transfer(pair, source, target, ++transfers);
                }
                if (children.get() != CHILDREN) { throw new AssertionError(children + " children"); }
            }
        }

        static void transfer(String provider) {
            try (Pair pair = new Pair(provider);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                transfer(pair, source, target, 7);
            }
        }

        /** Of a content of its own, which must have arrived. */
        private static void transfer(Pair pair, MemoryRegion source, MemoryRegion target, int number) {
            for (long at = 0; at < source.length(); at += Long.BYTES) {
                source.segment().set(ValueLayout.JAVA_LONG, at, (long) number << 32 | at);
            }
            pair.rma().write(source.slice(0, source.length()), pair.far, target.remote(), number);
            pair.awaitToken(number);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return target.segment().mismatch(source.segment()) < 0;
            }, Pair.DEADLINE);
        }
    }

    /** Somebody else takes what room there is. */
    static final class FillsSharedMemory {
        private static final int ENOSPC = 28;

        private FillsSharedMemory() {}

        public static void main(String[] arguments) throws IOException {
            Path filler = Path.of("/dev/shm/filler");
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    Endpoint late = domain.openEndpoint().bind(vector).bind(queue)) {
                fill(filler);
                requireRefusal(late);
                Files.delete(filler);
            }
            TransfersWithChildren.transfer("shm");
        }

        private static void requireRefusal(Endpoint late) {
            try {
                late.enable();
            } catch (FabricException e) {
                if (e.errno() == ENOSPC && e.getMessage().contains("/dev/shm")) { return; }
                throw e;
            }
            throw new AssertionError("there was room");
        }

        private static void fill(Path filler) throws IOException {
            try (FileChannel channel = FileChannel.open(filler, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
                while (Files.getFileStore(filler).getUsableSpace() > bytes.capacity()) {
                    channel.write(bytes.clear());
                }
            }
        }
    }
}
