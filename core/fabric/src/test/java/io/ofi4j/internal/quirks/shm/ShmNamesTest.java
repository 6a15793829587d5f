package io.ofi4j.internal.quirks.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
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
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.ShmFile;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The name of an shm endpoint that was closed can be used again, in this process too, and is not kept. */
@Tag("gate")
class ShmNamesTest {
    private static final int TIMES = Rounds.of(60);
    private static final int LENGTH = 8;

    /** Or it is refused, where the provider would end the process. */
    @Test
    void aNameIsUsedAgainInTheSameProcess() {
        if (TestProviders.info("shm").quirks().stream()
                .anyMatch(quirk -> quirk.isOn() && quirk.name().equals("shm-used-names"))) {
            assertThatThrownBy(() -> writeToEndpointsNamed(time -> "ofi4j-again-" + ProcessHandle.current().pid()))
                    .isInstanceOf(FabricException.class).hasMessageContaining("choose another name");
            return;
        }
        assertThat(writeToEndpointsNamed(time -> "ofi4j-again-" + ProcessHandle.current().pid())).isEqualTo(TIMES);
    }

    @Test
    void nothingIsKeptOfTheNamesThatWereUsed() {
        ShmCloseCoordinator coordinator = (ShmCloseCoordinator) Quirks.known().stream()
                .filter(ShmCloseCoordinator.class::isInstance).findFirst().orElseThrow();
        int before = coordinator.size();

        writeToEndpointsNamed(time -> "ofi4j-" + ProcessHandle.current().pid() + "-" + time);

        assertThat(coordinator.size()).isEqualTo(before);
    }

    /**
     * {@return how many endpoints were written to} Each is closed before the next is opened; its vector is closed with
     * it. Unnamed endpoints come and go between them, so that another than the successor takes the place of the closed
     * one in memory.
     */
    private static int writeToEndpointsNamed(IntFunction<String> name) {
        int written = 0;
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion source = domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            for (int time = 0; time < TIMES; time++) {
                EndpointAddress address = domain.info().addressNamed(name.apply(time));
                try (AddressVector vector = domain.openAddressVector();
                        Endpoint unnamed = (time % 3 == 0
                                ? domain.openEndpoint().bind(queue).bind(vector).enable()
                                : null);
                        Endpoint far = domain.openEndpoint().address(address).bind(queue).bind(vector).enable();
                        Endpoint near = domain.openEndpoint().bind(queue).bind(vector).enable()) {
                    assertThat(unnamed == null).isEqualTo(time % 3 != 0);
                    assertThat(far.address()).isEqualTo(address);
                    written += write(near, vector.insert(address), queue, source, target) ? 1 : 0;
                }
            }
        }
        return written;
    }

    private static boolean write(Endpoint near, Peer peer, CompletionQueue queue, MemoryRegion source,
            MemoryRegion target) {
        near.rma().write(source.slice(0, LENGTH), peer, target.remote(), 1);
        int[] completed = new int[1];
        return Waiting.YIELD.tryUntil(() -> {
            queue.poll((token, flags, length, data) -> completed[0]++, 1);
            return completed[0] == 1;
        }, Pair.DEADLINE);
    }

    /** As a process of another container with the same number, or the peers of one that was killed. */
    @Test
    void anEndpointTakesAnotherNameWhereItsOwnIsTaken() throws IOException {
        List<FileChannel> inUse = new ArrayList<>();
        try (Pair first = new Pair("shm")) {
            try {
                List<Path> taken = nextNames(first.farEndpoint);
                for (Path file : taken) {
                    Files.copy(ShmFile.of(first.farEndpoint), file);
                    inUse.add(FileChannel.open(file, StandardOpenOption.READ));
                }
                try (Pair second = new Pair("shm");
                        MemoryRegion source = second.domain.allocate(LENGTH, Access.WRITE);
                        MemoryRegion target = second.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                    assertThat(taken).doesNotContain(ShmFile.of(second.endpoint), ShmFile.of(second.farEndpoint));
                    assertThat(write(second.endpoint, second.far, second.queue, source, target)).isTrue();
                }
                assertThat(taken).allMatch(Files::exists);
            } finally {
                for (FileChannel channel : inUse) {
                    channel.close();
                }
                for (Path file : nextNames(first.farEndpoint)) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /** As in a container that starts again, and gives its process the number of the one that was killed. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFileThatAProcessOfTheSameNumberHasLeftIsReplaced(boolean isChosen) throws IOException {
        EndpointAddress chosen = TestProviders.info("shm").addressNamed("ofi4j-left-" + ProcessHandle.current().pid());
        Path left = null;
        try (Pair first = new Pair("shm")) {
            left = isChosen ? ShmFiles.path(chosen).orElseThrow() : nextNames(first.farEndpoint).getFirst();
            Files.copy(ShmFile.of(first.farEndpoint), left);
            try (Endpoint successor = first.domain.openEndpoint().bind(first.queue).bind(first.vector);
                    MemoryRegion source = first.domain.allocate(LENGTH, Access.WRITE);
                    MemoryRegion target = first.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                if (isChosen) { successor.address(chosen); }
                successor.enable();
                assertThat(ShmFile.of(successor)).isEqualTo(left);
                Peer peer = first.vector.insert(successor.address());
                assertThat(write(first.endpoint, peer, first.queue, source, target)).isTrue();
            }
            assertThat(left).doesNotExist();
        } finally {
            if (left != null) { Files.deleteIfExists(left); }
        }
    }

    /** The files of the endpoints that this process would open next. */
    private static List<Path> nextNames(Endpoint last) {
        String file = ShmFile.of(last).toString();
        int end = file.lastIndexOf(':') + 1;
        long number = Long.parseLong(file.substring(end));
        return LongStream.rangeClosed(number + 1, number + 2).mapToObj(next -> Path.of(file.substring(0, end) + next))
                .toList();
    }

    @Test
    void aNameThatNoFileCanHaveIsRefused() {
        Forked.Result result = Forked.run(OpensUnderBadNames.class, Forked.EVERY_COMPILER);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("4 refused, and then one was opened");
    }

    /** In a JVM of its own: the provider of libfabric 2.6 ends it. */
    private static final class OpensUnderBadNames {
        private OpensUnderBadNames() {}

        public static void main(String[] arguments) {
            int refused = 0;
            try (Pair pair = new Pair("shm")) {
                for (String name : new String[]{"a/b", "..", "/", "/a/b"}) {
                    EndpointAddress address = EndpointAddress
                            .of(("fi_shm://" + name + "\0").getBytes(StandardCharsets.UTF_8));
                    try (Endpoint endpoint = pair.domain.openEndpoint()) {
                        endpoint.address(address).bind(pair.queue).bind(pair.vector).enable();
                        System.out.println(name + " was not refused");
                    } catch (FabricException | IllegalArgumentException e) {
                        refused++;
                    }
                }
                pair.domain.openEndpoint()
                        .address(pair.domain.info().addressNamed("ofi4j-" + ProcessHandle.current().pid()))
                        .bind(pair.queue).bind(pair.vector).enable().close();
            }
            System.out.println(refused + " refused, and then one was opened");
        }
    }

    /** The process of a named endpoint is killed: its successor gets the name, as in a C program. */
    @Test
    void aNameThatAKilledProcessHasLeftIsTakenOver() {
        EndpointAddress name;
        try (FaultPeer killed = new FaultPeer("shm", "ofi4j-killed-" + ProcessHandle.current().pid())) {
            name = killed.address;
            killed.kill();
        }
        try (Pair pair = new Pair(TestProviders.hints("shm"));
                Endpoint successor = pair.domain.openEndpoint().address(name).bind(pair.queue).bind(pair.vector)
                        .enable()) {
            assertThat(successor.address()).isEqualTo(name);
        }
    }

    @Test
    void twoEndpointsOfOneProcessWriteToEachOther() {
        Forked.Result result = Forked.run(WritesBack.class);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** The second writes once it has been written to; with completion data, so that its target must act. */
    static final class WritesBack {
        private static final int SIZE = 1 << 16;

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(TestProviders.hints("shm"));
                    MemoryRegion source = pair.domain.allocate(SIZE, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
                Peer back = pair.vector.insert(pair.endpoint.address());
                for (int time = 0; time < TIMES; time++) {
                    pair.endpoint.rma().writeData(source.slice(0, SIZE), 1, pair.far, target.remote(), 1);
                    awaitBoth(pair);
                    pair.farEndpoint.rma().writeData(source.slice(0, SIZE), 1, back, target.remote(), 1);
                    awaitBoth(pair);
                }
            }
        }

        /** Until one end has written and the other has the data. */
        private static void awaitBoth(Pair pair) {
            int[] completed = new int[1];
            CompletionHandler counting = (token, flags, length, data) -> completed[0]++;
            Waiting.YIELD.until(() -> {
                pair.queue.poll(counting, 1);
                pair.farQueue.poll(counting, 1);
                return completed[0] == 2;
            }, Pair.DEADLINE);
        }
    }

    /**
     * The target has inserted the peer, so the peer's memory is mapped: it must not be mapped again, for the peer has
     * ended by then.
     */
    @Test
    void aPeerThatEndsAfterItsFirstOperationEndsNobodyElse() {
        Forked.Result result = Forked.run(LooksAfterThePeerHasEnded.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("still here");
    }

    static final class LooksAfterThePeerHasEnded {
        private static final int POLLS = 1000;

        private LooksAfterThePeerHasEnded() {}

        public static void main(String[] arguments) throws IOException {
            Path go = Files.createTempFile("ofi4j", ".go");
            Files.delete(go);
            try (Pair pair = new Pair("shm"); MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                HexFormat hex = HexFormat.of();
                Forked.Running peer = Forked.start(PostsAndEnds.class, hex.formatHex(pair.endpoint.address().encode()),
                        hex.formatHex(target.remote().encode()), go.toString());
                pair.vector.insert(EndpointAddress.decode(hex.parseHex(peer.awaitLine("address "))));
                Files.createFile(go);
                if (peer.await().exit() != 0) { throw new AssertionError(peer.output()); }
                for (int poll = 0; poll < POLLS; poll++) {
                    pair.pollNear();
                }
                System.out.println("still here");
            } finally {
                Files.deleteIfExists(go);
            }
        }
    }

    /** Ends while its endpoint is open, which removes the endpoint's file. */
    static final class PostsAndEnds {
        private PostsAndEnds() {}

        public static void main(String[] arguments) {
            HexFormat hex = HexFormat.of();
            Pair pair = new Pair("shm");
            MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
            Peer peer = pair.vector.insert(EndpointAddress.decode(hex.parseHex(arguments[0])));
            System.out.println("address " + hex.formatHex(pair.endpoint.address().encode()));
            Waiting.YIELD.until(() -> Files.exists(Path.of(arguments[2])), Pair.DEADLINE);
            pair.rma().tryWrite(source, 0, LENGTH, peer, RemoteRegion.decode(hex.parseHex(arguments[1])), 0, 1);
            System.exit(0);
        }
    }
}
