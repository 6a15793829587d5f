package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.ffi.Forged;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Address vectors: every way in, what comes back out, and what is refused. */
@Timeout(300)
class AddressVectorTest {
    private static final int LENGTH = 64;

    private static boolean hasPorts(Pair pair) {
        return pair.domain.info().addressFormat() == AddressFormat.SOCKADDR_IN;
    }

    private static boolean looksUpNames(String provider) {
        return !provider.equals("shm") && !provider.contains("ofi_rxd");
    }

    private static int port(EndpointAddress address) { return ByteBuffer.wrap(address.toBytes()).getShort(2) & 0xffff; }

    private static EndpointAddress withPort(EndpointAddress address, int port) {
        byte[] bytes = address.toBytes();
        ByteBuffer.wrap(bytes).putShort(2, (short) port);
        return EndpointAddress.of(bytes, address.format());
    }

    /** A transfer to it works. */
    private static void assertReaches(Pair pair, Peer peer) {
        try (MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            source.segment().fill((byte) 7);
            pair.rma().write(source.slice(0, LENGTH), peer, target.remote(), 1);
            pair.awaitToken(1);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return target.segment().mismatch(source.segment()) < 0;
            }, Pair.DEADLINE);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void manyAreInsertedAtOnceAndEachFailureIsReportedAtItsPlace(String provider) {
        try (Pair pair = new Pair(provider); AddressVector vector = pair.domain.openAddressVector()) {
            EndpointAddress far = pair.farEndpoint.address();
            EndpointAddress near = pair.endpoint.address();
            EndpointAddress otherKind = EndpointAddress.of(far.toBytes(), AddressFormat.SOCKADDR_IN6);
            EndpointAddress unreachable = hasPorts(pair) ? withPort(far, 0) : otherKind;

            List<InsertResult> all = vector.insertAll(List.of(far, unreachable, near, otherKind, far));

            assertThat(all).extracting(InsertResult::succeeded).containsExactly(true, false, true, false, true);
            assertThat(all.get(0).peer().fabricAddress()).isEqualTo(all.get(4).peer().fabricAddress())
                    .isNotEqualTo(all.get(2).peer().fabricAddress());
            assertThat(all.get(0).failure()).isEmpty();
            assertThat(all.get(3).failure().orElseThrow()).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not SOCKADDR_IN6");
            assertThatThrownBy(() -> all.get(1).peer()).isSameAs(all.get(1).failure().orElseThrow());
            if (hasPorts(pair)) {
                assertThatThrownBy(() -> all.get(1).peer()).isInstanceOf(FabricException.class)
                        .hasMessageContaining("fi_av_insert failed on provider " + provider);
            }
            assertThat(vector.address(all.get(0).peer())).isEqualTo(far);
            assertThat(vector.address(all.get(2).peer())).isEqualTo(near);
            all.stream().filter(InsertResult::succeeded).forEach(one -> vector.remove(one.peer()));
        }
    }

    /** Some providers take the length of all later addresses from the first one's family. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aLongAddressOfAnotherFamilySpoilsNoVector(String provider) {
        try (Pair pair = new Pair(provider); AddressVector vector = pair.domain.openAddressVector()) {
            if (!hasPorts(pair)) { return; }
            EndpointAddress far = pair.farEndpoint.address();
            byte[] foreign = Arrays.copyOf(far.toBytes(), 47);
            foreign[0] = 77;

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> vector.insert(EndpointAddress.of(foreign, far.format())))
                    .withMessageContaining("have the format");
            assertThat(vector.address(vector.insert(far))).isEqualTo(far);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAddressLongerThanTheFormatThatItSaysGoesToTheProviderAsItIs(String provider) {
        try (Pair pair = new Pair(provider)) {
            if (!hasPorts(pair)) { return; }
            EndpointAddress far = pair.farEndpoint.address();
            byte[] longer = Arrays.copyOf(far.toBytes(), 1500);
            pair.vector.remove(pair.far);

            assertReaches(pair, pair.vector.insert(EndpointAddress.of(longer, far.format())));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.vector.insert(EndpointAddress.of(longer)))
                    .withMessageContaining("16 bytes, not 1500");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.vector.insert(EndpointAddress.of(Arrays.copyOf(longer, 15), far.format())))
                    .withMessageContaining("16 bytes, not 15");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aTypeThatNobodyAskedForIsLeftToTheProvider(String provider) {
        Forged forged = new Forged(new byte[0]);
        try (Pair pair = new Pair(provider)) {
            forged.noteVectorTypes(pair.domain.handle());
            AddressVectorType theirs = pair.domain.info().domain().addressVectorType();
            try (AddressVector vector = pair.domain.openAddressVector()) {
                assertThat(forged.calls).containsExactly(
                        "vector " + theirs.value() + " opened as " + vector.attributes().type().value());
            }
        }
    }

    /** efa refuses flags with ENOSYS, verbs' datagrams with ENOEQ, and ofi_rxd above those counts 0. */
    @ParameterizedTest
    @ValueSource(ints = {-38, -261, 0})
    void aProviderThatInsertsOnlyWithoutFlagsTakesPeers(int answerToFlags) {
        try (Pair pair = new Pair("tcp;ofi_rxm"); AddressVector vector = pair.domain.openAddressVector()) {
            new Forged(new byte[0]).insertOnlyWithoutFlags(vector.handle(), answerToFlags);
            EndpointAddress address = pair.farEndpoint.address();

            assertThat(vector.insert(address).isReachable()).isTrue();
        }
    }

    @Test
    void theReasonWhyAPeerIsNotInsertedIsTheProviders() {
        int unreachable = 113;
        try (Pair pair = new Pair("tcp;ofi_rxm"); AddressVector vector = pair.domain.openAddressVector()) {
            new Forged(new byte[0]).insertNothing(vector.handle(), unreachable);

            assertThatExceptionOfType(FabricException.class).isThrownBy(() -> vector.insert(pair.farEndpoint.address()))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(unreachable));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void peersInsertedTogetherAreReached(String provider) {
        try (Pair pair = new Pair(provider)) {
            EndpointAddress far = pair.farEndpoint.address();
            EndpointAddress unreachable = hasPorts(pair)
                    ? withPort(far, 0)
                    : EndpointAddress.of(far.toBytes(), AddressFormat.SOCKADDR_IN6);
            pair.vector.remove(pair.far);

            List<InsertResult> all = pair.vector
                    .insertAll(List.of(unreachable, pair.endpoint.address(), unreachable, far));

            assertReaches(pair, all.get(3).peer());
            assertThat(pair.vector.insert(far).fabricAddress()).isEqualTo(all.get(3).peer().fabricAddress());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void hundredsOfAddressesGoInAndComeBack(String provider) {
        try (Pair pair = new Pair(provider)) {
            if (!hasPorts(pair)) {
                assertThat(provider).as("its addresses are files").isEqualTo("shm");
                return;
            }
            List<EndpointAddress> addresses = IntStream.range(1, 701)
                    .mapToObj(port -> withPort(pair.farEndpoint.address(), port)).toList();

            List<InsertResult> all = pair.vector.insertAll(addresses);

            assertThat(all).hasSize(700).allMatch(InsertResult::succeeded);
            assertThat(all.stream().map(one -> one.peer().fabricAddress()).distinct()).hasSize(700);
            for (int i = 0; i < 700; i++) {
                assertThat(pair.vector.address(all.get(i).peer())).isEqualTo(addresses.get(i));
            }
            all.forEach(one -> pair.vector.remove(one.peer()));
            assertReaches(pair, pair.far);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aPeersAddressIsLookedUpUntilItIsRemoved(String provider) {
        try (Pair pair = new Pair(provider); Pair other = new Pair(provider)) {
            EndpointAddress address = pair.vector.address(pair.far);

            assertThat(address).isEqualTo(pair.farEndpoint.address());
            assertThat(address.format()).isEqualTo(pair.domain.info().addressFormat());
            assertThat(pair.vector.toText(address)).isNotBlank();
            assertThatIllegalArgumentException().isThrownBy(() -> other.vector.address(pair.far))
                    .withMessageContaining("not in this address vector");
            pair.vector.remove(pair.far);
            assertThatIllegalArgumentException().isThrownBy(() -> pair.vector.address(pair.far))
                    .withMessageContaining("removed");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aNumberFindsThePeerOfItsAddressThatIsLeft(String provider) {
        try (Pair pair = new Pair(provider)) {
            pair.vector.remove(pair.vector.insert(pair.farEndpoint.address()));

            assertThat(pair.vector.peer(pair.far.fabricAddress())).containsSame(pair.far);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void theNumberOfARemovedPeerFindsNone(String provider) {
        try (Pair pair = new Pair(provider)) {
            pair.vector.remove(pair.far);

            assertThat(pair.vector.peer(pair.far.fabricAddress())).isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aPeerWhoseEndpointIsClosedIsRemovedOnce(String provider) {
        try (Pair pair = new Pair(provider)) {
            EndpointAddress address = pair.farEndpoint.address();
            Peer second = pair.vector.insert(address);
            pair.farEndpoint.close();

            assertThat(pair.vector.address(second)).isEqualTo(address);
            for (Peer peer : List.of(pair.far, second)) {
                pair.vector.remove(peer);
                assertThatIllegalArgumentException().isThrownBy(() -> pair.vector.remove(peer))
                        .withMessageContaining("(removed)");
            }
            try (Endpoint anew = pair.domain.openEndpoint().bind(pair.farQueue).bind(pair.vector).enable()) {
                assertReaches(pair, pair.vector.insert(anew.address()));
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aServiceIsInsertedByItsNames(String provider) {
        try (Pair pair = new Pair(provider)) {
            if (!looksUpNames(provider)) {
                assertThatThrownBy(() -> pair.vector.insertService("localhost", "7471"))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("fi_av_insertsvc is not offered by the provider " + provider);
                return;
            }
            String port = Integer.toString(port(pair.farEndpoint.address()));
            String node = TestProviders.address(provider);
            String name = nameOf(node);

            Peer byNumber = pair.vector.insertService(node, port);
            Peer byName = pair.vector.insertService(name, port);

            assertThat(byNumber.fabricAddress()).as("told once").isEqualTo(pair.far.fabricAddress());
            assertThat(pair.vector.address(byName)).isEqualTo(pair.farEndpoint.address());
            assertReaches(pair, byName);
            pair.vector.remove(byName);
            assertReaches(pair, byNumber);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> pair.vector.insertService(name, "no-such-service"))
                    .withMessageContaining("no address for node '" + name + "' and service 'no-such-service'");
        }
    }

    /** What a device's address is called nobody knows, and a bare root has no name for its own. */
    private static String nameOf(String node) {
        try (Stream<String> names = Files.lines(Path.of("/etc/hosts"))) {
            return node.equals("127.0.0.1")
                    && names.anyMatch(line -> line.matches("127\\.0\\.0\\.1\\s.*\\blocalhost\\b.*"))
                            ? "localhost"
                            : node;
        } catch (IOException e) {
            return node;
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void nodesAndPortsInARowAreInserted(String provider) {
        try (Pair pair = new Pair(provider)) {
            if (!looksUpNames(provider)) {
                assertThatThrownBy(() -> pair.vector.insertSymmetric("127.0.0.1", 2, "7471", 2))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("fi_av_insertsym is not offered by the provider " + provider);
                return;
            }
            EndpointAddress far = pair.farEndpoint.address();
            int first = Math.min(port(far), 65_534);

            String node = TestProviders.address(provider);
            String next = node.substring(0, node.lastIndexOf('.') + 1)
                    + (Integer.parseInt(node.substring(node.lastIndexOf('.') + 1)) + 1);
            List<InsertResult> all = pair.vector.insertSymmetric(node, 2, Integer.toString(first), 2);

            assertThat(all).hasSize(4).allMatch(InsertResult::succeeded);
            assertThat(all.stream().map(one -> one.peer().fabricAddress()).distinct()).hasSize(4);
            assertThat(all.get(port(far) - first).peer().fabricAddress()).isEqualTo(pair.far.fabricAddress());
            assertThat(all).extracting(one -> pair.vector.toText(pair.vector.address(one.peer()))).satisfiesExactly(
                    text -> assertThat(text).contains(node + ":" + first),
                    text -> assertThat(text).contains(node + ":" + (first + 1)),
                    text -> assertThat(text).contains(next + ":" + first),
                    text -> assertThat(text).contains(next + ":" + (first + 1)));
            assertReaches(pair, all.get(port(far) - first).peer());
        }
    }

    /** In a JVM of its own, which looking up what was not inserted would end. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void ofNodesInARowThoseThatAreNoneAreToldOneByOne(String provider) {
        if (!looksUpNames(provider) || provider.endsWith("sockets")) { return; } // sockets takes neither of the nodes
        Forked.Result result = Forked.run(InsertsPastTheLastNode.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("inserted: [true, true, false, false]");
    }

    /** After the last address of all comes 0.0.0.0, which is nobody's. */
    static final class InsertsPastTheLastNode {
        private InsertsPastTheLastNode() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(arguments[0])) {
                List<InsertResult> all = pair.vector.insertSymmetric("255.255.255.255", 2, "7471", 2);
                System.out.println("inserted: " + all.stream().map(InsertResult::succeeded).toList());
            }
        }
    }

    @Test
    void namesThatProvidersWouldMisreadAreRefused() {
        try (Pair pair = new Pair("tcp;ofi_rxm")) {
            AddressVector vector = pair.vector;
            for (ThrowingCallable call : new ThrowingCallable[]{() -> vector.insertService("", "1"),
                    () -> vector.insertService("12", "1"), () -> vector.insertService("a b", "1"),
                    () -> vector.insertService("host\0", "1"), () -> vector.insertService("host", ""),
                    () -> vector.insertService("x".repeat(64), "1"), () -> vector.insertSymmetric("node", 2, "1", 1),
                    () -> vector.insertSymmetric("127.0.0.1", 0, "1", 1),
                    () -> vector.insertSymmetric("127.0.0.1", 1, "1", -1),
                    () -> vector.insertSymmetric("127.0.0.1", 1 << 16, "1", 1 << 16),
                    () -> vector.insertSymmetric("127.0.0.1", 1, "0", 1),
                    () -> vector.insertSymmetric("127.0.0.1", 1, "65535", 2),
                    () -> vector.insertSymmetric("127.0.0.1", 1, "http", 1)}) {
                assertThatIllegalArgumentException().isThrownBy(call);
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void eachTypeOfVectorIsOpenedWhereTheDomainHasItAndRefusedByNameElsewhere(String provider) {
        for (AddressVectorType type : List.of(AddressVectorType.MAP, AddressVectorType.TABLE)) {
            AddressVectorType other = type == AddressVectorType.MAP ? AddressVectorType.TABLE : AddressVectorType.MAP;
            FabricHints hints = TestProviders.hints(provider).attributes(AttributeHints.none().addressVectorType(type));
            FabricInfo info = TestProviders.info(hints);
            AddressVectorType theirs = info.domain().addressVectorType();
            try (Fabric fabric = Libfabric.load().openFabric(info); Domain domain = fabric.openDomain()) {
                assertThat(theirs).isIn(type, AddressVectorType.UNSPECIFIED);
                try (AddressVector vector = domain
                        .openAddressVector(AddressVectorAttributes.defaults().type(type).count(4096))) {
                    assertThat(vector.attributes().type()).isEqualTo(type);
                    assertThat(vector.attributes().count()).isEqualTo(4096);
                }
                if (theirs == type) {
                    assertThatThrownBy(() -> domain.openAddressVector(AddressVectorAttributes.defaults().type(other)))
                            .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(provider)
                            .hasMessageContaining("of type " + type + ", not " + other);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MAP", "TABLE"})
    void transfersWorkWithEachType(AddressVectorType type) {
        TestProviders.rma().forEach(provider -> {
            try (Pair pair = new Pair(
                    TestProviders.hints(provider).attributes(AttributeHints.none().addressVectorType(type)))) {
                assertReaches(pair, pair.far);
            }
        });
    }

    @Test
    void attributesAreCheckedWhenTheyAreSaid() {
        AddressVectorAttributes attributes = AddressVectorAttributes.defaults();
        for (ThrowingCallable call : new ThrowingCallable[]{() -> attributes.count(-1),
                () -> attributes.count(Long.MAX_VALUE), () -> attributes.endpointsPerNode(-1),
                () -> attributes.receiveContextBits(-1), () -> attributes.receiveContextBits(17),
                () -> attributes.type(AddressVectorType.OTHER), () -> attributes.name(""), () -> attributes.name("a/b"),
                () -> attributes.name("../x"), () -> attributes.name("a\0")}) {
            assertThatIllegalArgumentException().isThrownBy(call);
        }
        assertThat(attributes.count(3).receiveContextBits(2).endpointsPerNode(1))
                .satisfies(one -> assertThat(one.count()).isEqualTo(3))
                .satisfies(one -> assertThat(one.receiveContextBits()).isEqualTo(2))
                .satisfies(one -> assertThat(one.endpointsPerNode()).isEqualTo(1));
        assertThat(attributes.count()).isZero();
    }

    static Stream<String> sharing() { return TestProviders.rma().filter("sockets"::equals); }

    @ForEachProvider
    @MethodSource("sharing")
    void aReaderOfASharedVectorFindsPeersByTheirIndex(String provider) {
        AddressVectorAttributes shared = AddressVectorAttributes.defaults().count(2)
                .name("ofi4j-test-index-" + ProcessHandle.current().pid());
        try (Pair pair = new Pair(provider); AddressVector writer = pair.domain.openAddressVector(shared)) {
            Peer inserted = writer.insert(pair.farEndpoint.address());
            try (AddressVector reader = pair.domain.openAddressVector(shared.readOnly())) {
                Peer first = reader.sharedPeer(0);

                assertThat(first.fabricAddress()).isEqualTo(inserted.fabricAddress());
                assertThat(reader.address(first)).isEqualTo(pair.farEndpoint.address());
                for (int index : new int[]{-1, 1, 2, Integer.MAX_VALUE}) {
                    assertThatExceptionOfType(IndexOutOfBoundsException.class)
                            .isThrownBy(() -> reader.sharedPeer(index)).withMessageContaining("no address");
                }
            }
            assertThatIllegalStateException().isThrownBy(() -> writer.sharedPeer(0))
                    .withMessageContaining("not read-only");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSharedVectorIsReadByOthersWhereTheProviderSharesThem(String provider) {
        AddressVectorAttributes shared = AddressVectorAttributes.defaults().count(2)
                .name("ofi4j-test-" + ProcessHandle.current().pid());
        try (Pair pair = new Pair(provider)) {
            if (!provider.equals("sockets")) {
                assertThatThrownBy(() -> pair.domain.openAddressVector(shared))
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("not offered by the provider " + provider);
                return;
            }
            EndpointAddress far = pair.farEndpoint.address();
            try (AddressVector writer = pair.domain.openAddressVector(shared)) {
                Peer peer = writer.insert(far);
                try (AddressVector reader = pair.domain.openAddressVector(shared.readOnly())) {
                    Peer same = reader.insert(far);
                    assertThat(same.fabricAddress()).isEqualTo(peer.fabricAddress());
                    assertThatExceptionOfType(FabricException.class)
                            .isThrownBy(() -> reader.insert(pair.endpoint.address()));
                    reader.remove(same);
                    assertThat(reader.insert(far).fabricAddress()).isEqualTo(peer.fabricAddress());
                }
                writer.insert(pair.endpoint.address());
                assertThatIllegalStateException().isThrownBy(() -> writer.insert(withPort(far, 1)))
                        .withMessageContaining("all 2 addresses");
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.openAddressVector(AddressVectorAttributes.defaults().readOnly()));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.openAddressVector(AddressVectorAttributes.defaults().name("x")))
                    .withMessageContaining("count");
        }
    }

    @Test
    void bytesThatAreNoAddressOfShmAreRefusedByNameIfTheyAreRefused() {
        try (Pair pair = new Pair("shm"); AddressVector vector = pair.domain.openAddressVector()) {
            for (String text : new String[]{"f", "://", "fi_shm://", "fi_shm://\0", "fi_shm://../x\0", "fi_shm:///\0",
                    "fi_shm://no end", "\0", "\0fi_shm://\0", "fi_ns://\uffff\0", "x".repeat(300)}) {
                EndpointAddress address = EndpointAddress.of(text.getBytes(StandardCharsets.UTF_8));
                for (ThrowingCallable call : new ThrowingCallable[]{() -> vector.insert(address),
                        () -> vector.insertAll(List.of(address)).getFirst().peer()}) {
                    Throwable thrown = catchThrowable(call);
                    if (thrown == null) { // from 2.0 on shm takes names that it does not know yet
                        assertThat(Libfabric.load().version().major()).as(text).isGreaterThan(1);
                        continue;
                    }
                    assertThat(thrown).as(text).isInstanceOfAny(FabricException.class, IllegalArgumentException.class,
                            IllegalStateException.class).hasMessageMatching("(?s).+");
                }
            }
        }
    }

    /**
     * Some providers take the locks of all endpoints of the vector then, in another order than the calls on those do.
     */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aPeerIsInsertedBetweenTheCallsOfOtherThreads(String provider) throws Exception {
        try (Pair pair = new Pair(TestProviders.hints(provider).threading(ThreadingModel.SAFE));
                CompletionQueue queue = pair.domain.openCompletionQueue();
                Endpoint stranger = pair.domain.openEndpoint().bind(queue).bind(pair.vector).enable();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            pair.queue.guard.enter(); // as in a call
            Future<Peer> inserted = other.submit(() -> pair.vector.insert(stranger.address()));
            assertThatThrownBy(() -> inserted.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            pair.queue.guard.exit();

            assertThat(inserted.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void aClosedVectorAnswersNothing() {
        try (Pair pair = new Pair("shm")) {
            AddressVector vector = pair.domain.openAddressVector();
            Peer peer = vector.insert(pair.farEndpoint.address());
            vector.close();
            for (ThrowingCallable call : new ThrowingCallable[]{() -> vector.insertAll(List.of()),
                    () -> vector.insertService("localhost", "1"), () -> vector.insertSymmetric("127.0.0.1", 1, "1", 1),
                    () -> vector.address(peer), () -> vector.remove(peer),
                    () -> vector.toText(pair.endpoint.address())}) {
                assertThatIllegalStateException().isThrownBy(call).withMessageContaining("closed");
            }
        }
    }

    @Test
    void anotherThreadThanTheOwnerIsRefused() throws Exception {
        try (Pair pair = new Pair(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN));
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            other.submit(() -> {
                for (ThrowingCallable call : new ThrowingCallable[]{() -> pair.vector.insertAll(List.of()),
                        () -> pair.vector.insertService("localhost", "1"), () -> pair.vector.address(pair.far),
                        () -> pair.domain.openAddressVector(AddressVectorAttributes.defaults())}) {
                    assertThatThrownBy(call).isInstanceOf(WrongThreadException.class);
                }
            }).get();
        }
    }
}
