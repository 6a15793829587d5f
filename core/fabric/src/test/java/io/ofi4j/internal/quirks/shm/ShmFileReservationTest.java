package io.ofi4j.internal.quirks.shm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
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
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.ShmFile;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An endpoint of shm that is open has all of its room in /dev/shm, whatever others take of it later: the kernel would
 * end who writes where there is none. In JVMs of their own, with a /dev/shm of their own.
 */
@Tag("gate")
@Timeout(900)
class ShmFileReservationTest {
    private static final int ENOENT = 2;
    private static final int ENOMEM = 12;
    private static final int ENOSPC = 28;
    private static final int EADDRINUSE = 98;
    private static final int MEGABYTES_OF_LARGE = 32;
    private static final int ROOM = 200;
    private static final int LITTLE = 72;
    private static final int LENGTH = 4096;
    private static final int MAX_POSTS = 5000;
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final Path FILLER = FOLDER.resolve("filler");
    /** As a C program's endpoint: with a file in which there is room for what was written to only. */
    private static final String AS_IN_C = "-Dio.ofi4j.shm.reserve=false";

    @BeforeEach
    void requireMounts() {
        List<String> output = new ArrayList<>();
        boolean able = FaultPeer.exit(List.of("unshare", "-m", "true"), output) == 0;
        assumeTrue(able, () -> "mounting needs root: " + output);
    }

    /** A /dev/shm of that size; the provider is there only if each processor of the machine could have an endpoint. */
    private static List<String> mounted(int megabytes) throws IOException {
        long processors = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("processor")).count();
        return List.of("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size="
                + Math.max(megabytes, processors * MEGABYTES_OF_LARGE + 8) + "m tmpfs /dev/shm; exec \"$0\" \"$@\"");
    }

    private static void survives(List<String> prefix, Class<?> main, String... arguments) {
        Forked.Result result = Forked.startBehind(prefix, main, arguments).await();

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** With what may make the provider write to other places of the file, and make the file longer. */
    @ParameterizedTest
    @ValueSource(strings = {"ANY=0", "FI_SHM_DISABLE_CMA=1", "FI_SHM_RX_SIZE=4096"})
    void whatOthersTakeLaterChangesNothingForAnEndpointThatIsOpen(String variable) throws IOException {
        List<String> prefix = new ArrayList<>(List.of("env", variable));
        prefix.addAll(mounted(ROOM));

        survives(prefix, FillsWhileOpen.class);
    }

    /** As many as a container's 64 MB are good for, and more, at once. */
    @Test
    void processesThatTakeTheLastRoomTogetherGetItOrARefusal() throws IOException {
        survives(mounted(LITTLE), StartsMany.class);
    }

    @Test
    void aPeerWhoseFileHasNoRoomIsRefusedAndGetsItWhenThereIsSome() throws IOException {
        survives(mounted(ROOM), MeetsASparsePeer.class);
    }

    /** With libfabric 1.x it cannot be inserted before. */
    @Test
    void aPeerThatComesLaterIsReachedWhenItIsThere() throws IOException { survives(mounted(ROOM), AwaitsAPeer.class); }

    @Test
    void anotherEndpointOrFileOfThatNameStaysAsItIs() throws IOException {
        survives(mounted(ROOM), TakesANameThatIsTaken.class);
    }

    /** As another libfabric leaves one. */
    @Test
    void aFileThatNobodyUsesGivesItsNameAndItsRoom() throws IOException {
        survives(mounted(ROOM), TakesALeftFile.class);
    }

    /** Takes all the room there is, to the last byte. */
    private static void fill() {
        try (FileChannel channel = FileChannel.open(FILLER, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            for (int length = 1 << 20; length >= 4096; length /= 2) {
                fill(channel, ByteBuffer.allocate(length));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void fill(FileChannel channel, ByteBuffer bytes) {
        try {
            while (channel.write(bytes.clear()) == bytes.capacity()) {
                continue;
            }
        } catch (IOException e) {
            return; // full
        }
    }

    private static void free() {
        try {
            Files.delete(FILLER);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) { throw new AssertionError(otherwise); }
    }

    private static FabricException requireRefusal(Runnable action) {
        try {
            action.run();
        } catch (FabricException e) {
            return e;
        }
        throw new AssertionError("not refused");
    }

    /** Posts as much as there is place for, so that every page is written to; every way that bytes may take. */
    private static void useAll(Pair pair) {
        int length = 1 << 17;
        try (MemoryRegion source = pair.domain.allocate(length, Access.WRITE);
                MemoryRegion copy = pair.domain.allocate(length, Access.READ);
                MemoryRegion target = pair.domain.allocate(length, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            source.segment().fill((byte) 7);
            int inject = (int) pair.rma().injectSize();
            repeat(() -> pair.rma().tryInjectWriteData(source, 0, inject, 1, pair.far, target.remote(), 0));
            awaitQuiet(pair);
            repeat(() -> pair.rma().tryWriteData(source, 0, length, 1, pair.far, target.remote(), 0, 1));
            awaitQuiet(pair);
            awaitCopy(pair, source, target);
            repeat(() -> pair.rma().tryRead(copy, 0, length, pair.far, target.remote(), 0, 2));
            awaitQuiet(pair);
            awaitCopy(pair, target, copy);
            require(pair.errors.isEmpty(), "errors " + pair.errors);
        }
    }

    private static void awaitQuiet(Pair pair) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return pair.queue.operationsInFlight() == 0;
        }, Pair.DEADLINE);
    }

    private static void awaitCopy(Pair pair, MemoryRegion source, MemoryRegion target) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return target.segment().mismatch(source.segment()) < 0;
        }, Pair.DEADLINE);
    }

    private static void repeat(BooleanSupplier post) {
        for (int i = 0; i < MAX_POSTS && post.getAsBoolean(); i++) {
            continue;
        }
    }

    /** Somebody takes all the room while two endpoints are open. */
    static final class FillsWhileOpen {
        private FillsWhileOpen() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair("shm")) {
                fill();
                FabricException refused = requireRefusal(() -> open(pair.domain, pair.queue, pair.vector));
                require(refused.errno() == ENOSPC && refused.getMessage().contains("df /dev/shm"),
                        refused.getMessage());
                useAll(pair);
                free();
                open(pair.domain, pair.queue, pair.vector);
                useAll(pair);
            }
        }

        private static void open(Domain domain, CompletionQueue queue, AddressVector vector) {
            try (Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector)) {
                endpoint.enable();
            }
        }
    }

    /** Processes open endpoints at the same time, of which a few fit in. */
    static final class StartsMany {
        private static final int PROCESSES = 4;

        private StartsMany() {}

        public static void main(String[] arguments) {
            List<Forked.Running> running = new ArrayList<>();
            for (int i = 0; i < PROCESSES; i++) {
                running.add(Forked.start(OpensAgainAndAgain.class));
            }
            running.forEach(one -> one.awaitLine("ready"));
            try {
                Files.createFile(FOLDER.resolve("go"));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            for (Forked.Running one : running) {
                Forked.Result result = one.await();
                require(result.exit() == 0, result.output());
                require(result.output().contains("opened "), result.output());
            }
        }
    }

    static final class OpensAgainAndAgain {
        private static final int ROUNDS = Rounds.of(10);
        private static final int ENDPOINTS = 2;

        private OpensAgainAndAgain() {}

        public static void main(String[] arguments) {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector()) {
                System.out.println("ready");
                Waiting.YIELD.until(() -> Files.exists(FOLDER.resolve("go")), Pair.DEADLINE);
                int opened = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    List<Endpoint> open = new ArrayList<>();
                    for (int i = 0; i < ENDPOINTS; i++) {
                        Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector);
                        open.add(endpoint);
                        opened += isEnabled(endpoint) ? 1 : 0;
                    }
                    open.forEach(Endpoint::close);
                }
                System.out.println("opened " + opened + " of " + ROUNDS * ENDPOINTS);
            }
        }

        private static boolean isEnabled(Endpoint endpoint) {
            try {
                endpoint.enable();
                return true;
            } catch (FabricException e) {
                require(e.errno() == ENOSPC, e.getMessage());
                return false;
            }
        }
    }

    /** The peer has its file as the provider makes it. */
    static final class MeetsASparsePeer {
        private MeetsASparsePeer() {}

        public static void main(String[] arguments) throws IOException {
            Forked.Running sparse = Forked.start(IsWrittenTo.class, AS_IN_C);
            try (Pair pair = new Pair("shm")) {
                String[] ready = sparse.awaitLine("ready ").split(" ");
                EndpointAddress address = EndpointAddress.of(HexFormat.of().parseHex(ready[0]));
                fill();
                FabricException refused = requireRefusal(() -> pair.vector.insert(address));
                require(refused.errno() == ENOSPC && refused.getMessage().contains("/dev/shm"), refused.getMessage());
                free();
                Peer peer = pair.vector.insert(address);
                fill();
                useAll(pair, peer, RemoteRegion.decode(HexFormat.of().parseHex(ready[1])), sparse);
                free();
            } finally {
                sparse.process().destroyForcibly();
            }
        }

        static void useAll(Pair pair, Peer peer, RemoteRegion remote, Forked.Running sparse) throws IOException {
            try (MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE)) {
                source.segment().fill((byte) 7);
                pair.rma().write(source.slice(0, 1), peer, remote, 0);
                sparse.awaitLine("stopped");
                int taken = 1;
                while (taken < MAX_POSTS && pair.rma().tryWriteData(source, 0, LENGTH, 1, peer, remote, 0, taken)) {
                    taken++;
                }
                require(taken > 100, taken + " taken");
                sparse.process().getOutputStream().write('\n');
                sparse.process().getOutputStream().flush();
                pair.awaitCompletions(taken);
                require(pair.errors.isEmpty(), "errors " + pair.errors);
                Forked.Result end = sparse.await();
                require(end.exit() == 0, end.output());
            }
        }
    }

    /** The peer is inserted before it is there. */
    static final class AwaitsAPeer {
        private static final String NAME = "ofi4j-awaited";

        private AwaitsAPeer() {}

        public static void main(String[] arguments) throws IOException {
            try (Pair pair = new Pair("shm");
                    MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                    MemoryRegion any = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                String own = new String(pair.endpoint.address().toBytes());
                String user = own.substring(own.lastIndexOf(':', own.lastIndexOf(':') - 1));
                EndpointAddress address = EndpointAddress.of(("fi_shm://" + NAME + user).getBytes());
                if (Libfabric.load().version().major() < 2) {
                    require(requireRefusal(() -> pair.vector.insert(address)).errno() == ENOENT, "inserted");
                    return;
                }
                Peer peer = pair.vector.insert(address);
                require(!pair.rma().tryWrite(source, 0, 1, peer, any.remote(), 0, 1), "taken");
                meet(pair, source, peer, address);
            }
        }

        private static void meet(Pair pair, MemoryRegion source, Peer peer, EndpointAddress address)
                throws IOException {
            Forked.Running other = Forked.start(IsWrittenTo.class, NAME);
            try {
                String[] ready = other.awaitLine("ready ").split(" ");
                require(EndpointAddress.of(HexFormat.of().parseHex(ready[0])).equals(address), "another address");
                MeetsASparsePeer.useAll(pair, peer, RemoteRegion.decode(HexFormat.of().parseHex(ready[1])), other);
            } finally {
                other.process().destroyForcibly();
            }
        }
    }

    /** Once it has got a byte it works off nothing until it is told to; ends when the rest is there. */
    static final class IsWrittenTo {
        private IsWrittenTo() {}

        public static void main(String[] arguments) throws IOException {
            FabricHints hints = TestProviders.hints("shm");
            try (Pair pair = new Pair(arguments.length == 0 ? hints : hints.source(arguments[0], null));
                    MemoryRegion region = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                HexFormat hex = HexFormat.of();
                System.out.println("ready " + hex.formatHex(pair.endpoint.address().toBytes()) + " "
                        + hex.formatHex(region.remote().encode()));
                await(pair, region, 0);
                System.out.println("stopped");
                System.in.read();
                await(pair, region, LENGTH - 1);
            }
        }

        private static void await(Pair pair, MemoryRegion region, long place) {
            Waiting.YIELD.until(() -> {
                pair.poll();
                return region.segment().get(JAVA_BYTE, place) == 7;
            }, Pair.DEADLINE);
        }
    }

    /** Of another process's endpoint, which stays reachable, and of a file that is something else. */
    static final class TakesANameThatIsTaken {
        private static final String NAME = "ofi4j-name";

        private TakesANameThatIsTaken() {}

        public static void main(String[] arguments) throws IOException {
            Path file;
            try (FaultPeer first = new FaultPeer("shm", NAME); Pair pair = new Pair("shm")) {
                requireInUse("Another endpoint");
                pair.vector.insert(first.address);
                file = ShmFile.of(first.address);
            }
            Files.writeString(file, "another's");
            requireInUse(file.toString());
            require(Files.readString(file).equals("another's"), "it was changed");
        }

        private static void requireInUse(String reason) {
            Forked.Result second = Forked.run(TakesAName.class, NAME, reason);
            require(second.exit() == 0, second.output());
        }
    }

    /** It is removed before room is looked for: with it, there is none. */
    static final class TakesALeftFile {
        private static final String NAME = "ofi4j-left";

        private TakesALeftFile() {}

        public static void main(String[] arguments) throws IOException {
            byte[] left = new byte[MEGABYTES_OF_LARGE << 20];
            Arrays.fill(left, (byte) 9);
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    Endpoint endpoint = domain.openEndpoint().address(domain.info().addressNamed(NAME)).bind(queue)
                            .bind(vector)) {
                Files.write(FOLDER.resolve(NAME), left);
                fill();
                endpoint.enable();
            }
        }
    }

    /** The first endpoint of a process with that name. */
    static final class TakesAName {
        private TakesAName() {}

        public static void main(String[] arguments) {
            try (Fabric fabric = Libfabric.load()
                    .openFabric(TestProviders.info(TestProviders.hints("shm").source(arguments[0], null)));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector)) {
                FabricException refused = requireRefusal(endpoint::enable);
                require(refused.errno() == EADDRINUSE && refused.getMessage().contains(arguments[1]),
                        refused.getMessage());
            }
        }
    }

    /** The provider would use the address of a map that failed. */
    @Test
    void aPeerWhoseFileCannotBeMappedIsRefused() {
        survives(List.of("sh", "-c", "ulimit -v 5000000; exec \"$0\" \"$@\""), Crowded.class, "-Xmx64m",
                "-XX:ReservedCodeCacheSize=32m", "-XX:CompressedClassSpaceSize=32m");
    }

    /** Has an endpoint. */
    static final class Neighbour {
        public static void main(String[] arguments) throws InterruptedException {
            Domain domain = Libfabric.load().openFabric(TestProviders.info("shm")).openDomain();
            Endpoint endpoint = domain.openEndpoint().bind(domain.openAddressVector())
                    .bind(domain.openCompletionQueue()).enable();
            System.out.println("address " + HexFormat.of().formatHex(endpoint.address().toBytes()));
            Thread.sleep(Pair.DEADLINE.multipliedBy(20));
        }
    }

    /** Inserts it with an address space that is almost full, and then with one that is not. */
    static final class Crowded {
        private static final int PIECE = 4 << 20;
        /** Left to the JVM, which loads classes: less than the 16 MB of a peer's file. */
        private static final int FREE_PIECES = 2;

        public static void main(String[] arguments) throws IOException {
            Forked.Running neighbour = Forked.start(Neighbour.class, "-Xmx64m", "-XX:ReservedCodeCacheSize=32m",
                    "-XX:CompressedClassSpaceSize=32m");
            EndpointAddress address = EndpointAddress.of(HexFormat.of().parseHex(neighbour.awaitLine("address ")));
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    Endpoint endpoint = domain.openEndpoint()) {
                endpoint.bind(vector).bind(queue).enable();
                List<Arena> pieces = fill();
                try {
                    FabricException refused = requireRefusal(() -> vector.insert(address));
                    require(refused.errno() == ENOMEM, refused.toString());
                } finally {
                    pieces.forEach(Arena::close);
                }
                vector.insert(address);
            } finally {
                neighbour.process().destroy();
            }
        }

        /** Maps a file until nothing more can be mapped, and takes the last pieces back. */
        private static List<Arena> fill() throws IOException {
            List<Arena> pieces = new ArrayList<>();
            Path file = Files.createTempFile("ofi4j", "sparse");
            try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
                sparse.setLength(PIECE);
                while (true) {
                    pieces.add(Arena.ofShared());
                    sparse.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, PIECE, pieces.getLast());
                }
            } catch (IOException e) { // there is no more
                for (int piece = 0; piece <= FREE_PIECES; piece++) { // of which the last has nothing
                    pieces.removeLast().close();
                }
                if (!(e.getCause() instanceof OutOfMemoryError)) { throw e; }
            } finally {
                Files.delete(file);
            }
            return pieces;
        }
    }
}
