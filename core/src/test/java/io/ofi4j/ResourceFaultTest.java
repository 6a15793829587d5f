package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The machine has too little of something, or the process forks. Each test has a JVM of its own. */
class ResourceFaultTest {
    private static void survives(List<String> prefix, Class<?> main, String... arguments) {
        Forked.Result result = Forked.startBehind(prefix, main, arguments).await();

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** A shell that sets limits and becomes the JVM. */
    private static List<String> limited(String limit) {
        return List.of("sh", "-c", limit + "; exec \"$0\" \"$@\"");
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#transfers")
    void outOfDescriptors(String provider) {
        survives(limited("ulimit -n 96"), OpensUntilRefused.class, provider);
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#rma")
    void softwareProvidersLockNoMemory(String provider) {
        survives(limited("ulimit -l 0"), TransfersWithChildren.class, provider);
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#rma")
    void childProcessesWhileEndpointsAreOpen(String provider) {
        survives(List.of(), TransfersWithChildren.class, provider);
    }

    @Test
    void sharedMemoryThatIsFull() {
        List<String> output = new ArrayList<>();
        boolean able = FaultPeer.exit(List.of("unshare", "-m", "true"), output) == 0;
        assumeTrue(able, () -> "mounting needs root: " + output);
        survives(List.of("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=200m tmpfs /dev/shm; exec \"$0\" \"$@\""),
                FillsSharedMemory.class, "shm");
    }

    /** Opens endpoints until there are no descriptors left, and works again when they are closed. */
    static final class OpensUntilRefused {
        private static final int EMFILE = 24;
        private static final int MOST = 150;
        /** One of shm needs no descriptor, and 16 MB. */
        private static final int MOST_SHM = 4;

        private OpensUntilRefused() {
        }

        public static void main(String[] arguments) {
            String provider = arguments[0];
            TransfersWithChildren.transfer(provider); // whatever needs descriptors only once has them
            FabricException.of(-EMFILE, "none", provider); // classes are files, too
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(provider));
                    Domain domain = fabric.openDomain()) {
                List<AutoCloseable> open = new ArrayList<>();
                FabricException refused = null;
                int most = provider.equals("shm") ? MOST_SHM : MOST;
                try {
                    while (open.size() < most) {
                        open(domain, open);
                    }
                } catch (FabricException e) {
                    refused = e;
                }
                int opened = open.size();
                closeAll(open);
                System.out.println("faults " + provider + ": " + opened + " opened, then " + refused);
                if (refused == null && opened < most) {
                    throw new AssertionError("neither opened nor refused");
                }
            }
            TransfersWithChildren.transfer(provider);
        }

        private static void open(Domain domain, List<AutoCloseable> open) {
            CompletionQueue queue = domain.openCompletionQueue();
            open.add(queue);
            if (domain.info().endpoint().type() == EndpointType.RDM) {
                AddressVector vector = domain.openAddressVector();
                open.add(vector);
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue);
                open.add(endpoint);
                endpoint.enable();
            }
        }

        private static void closeAll(List<AutoCloseable> open) {
            for (AutoCloseable one : open.reversed()) {
                try {
                    one.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** Child processes are forked and run while operations are in flight. */
    static final class TransfersWithChildren {
        private TransfersWithChildren() {
        }

        public static void main(String[] arguments) throws IOException, InterruptedException {
            for (int child = 0; child < 5; child++) {
                transfer(arguments[0], () -> FaultPeer.run(List.of("true")));
            }
        }

        static void transfer(String provider) {
            transfer(provider, () -> {});
        }

        private static void transfer(String provider, Runnable meanwhile) {
            try (Pair pair = new Pair(provider);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                source.segment().fill((byte) 7);
                pair.rma().write(source, 0, 8, pair.far, target.remote(), 0, 1);
                meanwhile.run();
                pair.awaitCompletions(1);
                Waiting.YIELD.until(() -> {
                    pair.poll();
                    return target.segment().mismatch(source.segment()) < 0;
                }, Pair.DEADLINE);
            }
        }
    }

    /** Somebody else takes what room there is. */
    static final class FillsSharedMemory {
        private static final int ENOSPC = 28;

        private FillsSharedMemory() {
        }

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
                if (e.errno() == ENOSPC && e.getMessage().contains("/dev/shm")) {
                    return;
                }
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
