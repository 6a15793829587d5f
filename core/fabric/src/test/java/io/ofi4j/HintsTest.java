package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.internal.engine.MismatchReport;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.OtherThread;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** What a program can ask fi_getinfo for beside attributes, and what an info says of its device. */
class HintsTest {
    private static final Libfabric LIBFABRIC = Libfabric.load();

    static Stream<String> networks() { return TestProviders.transfers().filter(provider -> !provider.equals("shm")); }

    @ForEachProvider
    @MethodSource("networks")
    void anInfoHasASourceAndADestination(String provider) {
        String host = TestProviders.address(provider);
        FabricHints hints = TestProviders.hints(provider).source(host, null).destination(host, "7471");

        FabricInfo info = TestProviders.info(hints);

        assertThat(info.sourceAddress().orElseThrow().toString()).startsWith(host + ":");
        assertThat(info.destinationAddress().orElseThrow()).hasToString(host + ":7471");
    }

    @ForEachProvider
    @MethodSource("networks")
    void addressesAreGivenAsBytes(String provider) {
        String host = TestProviders.address(provider);
        EndpointAddress source = EndpointAddress.of(new InetSocketAddress(host, 0));
        EndpointAddress destination = EndpointAddress.of(new InetSocketAddress(host, 7471));

        FabricInfo info = TestProviders.info(TestProviders.hints(provider).source(source).destination(destination));

        assertThat(info.destinationAddress()).contains(destination);
        assertThat(info.sourceAddress().orElseThrow().toString()).startsWith(host + ":");
        assertThat(info.addressFormat()).isEqualTo(source.format());
    }

    /** Some providers copy as many bytes as an address has into a place of 48. */
    @ForEachProvider
    @MethodSource("networks")
    void anAddressThatIsNotAsLongAsItsFormatReachesNoProvider(String provider) {
        byte[] bytes = EndpointAddress.of(new InetSocketAddress(TestProviders.address(provider), 0)).toBytes();
        byte[] ofNoFamily = {77, 0};
        FabricHints hints = TestProviders.hints(provider);

        for (int length : new int[]{1, bytes.length - 1, bytes.length + 1, 49, 65_535}) {
            EndpointAddress other = EndpointAddress.of(Arrays.copyOf(bytes, length), AddressFormat.SOCKADDR_IN);
            assertRefused(hints.source(other), length);
            assertRefused(hints.destination(other), length);
        }
        assertRefused(hints.source(EndpointAddress.of(Arrays.copyOf(bytes, 17))), 17);
        assertRefused(hints.destination(EndpointAddress.of(Arrays.copyOf(ofNoFamily, 49))), 49);
    }

    private static void assertRefused(FabricHints hints, int length) {
        assertThatIllegalArgumentException().isThrownBy(() -> LIBFABRIC.info(hints))
                .withMessageContaining(length + " bytes are no address");
    }

    @ForEachProvider
    @MethodSource("networks")
    void aDestinationLongerThanItsFormatIsRefused(String provider) {
        FabricInfo info = TestProviders.info(provider);
        EndpointAddress address = EndpointAddress.of(new InetSocketAddress(TestProviders.address(provider), 7471));
        EndpointAddress longer = EndpointAddress.of(Arrays.copyOf(address.toBytes(), 60_000), info.addressFormat());

        assertThatIllegalArgumentException().isThrownBy(() -> info.withDestination(longer))
                .withMessageContaining("bytes, not 60000");
    }

    @ForEachProvider
    @MethodSource("networks")
    void anAddressFormatIsMet(String provider) {
        assertThat(LIBFABRIC.info(TestProviders.hints(provider).addressFormat(AddressFormat.SOCKADDR_IN))).isNotEmpty()
                .allMatch(info -> info.addressFormat() == AddressFormat.SOCKADDR_IN);
    }

    @ForEachProvider
    @MethodSource("networks")
    void anotherProvidersAddressFormatIsRefusedByName(String provider) {
        FabricHints hints = TestProviders.hints(provider).addressFormat(AddressFormat.PSMX3);

        assertThatThrownBy(() -> LIBFABRIC.info(hints)).isInstanceOf(NoProviderException.class)
                .hasMessageContaining("PSMX3");
    }

    @ForEachProvider
    @MethodSource("networks")
    void aNumericHostIsFound(String provider) {
        assertThat(LIBFABRIC.info(TestProviders.hints(provider).numericHost())).isNotEmpty();
    }

    /** fi_tostr has one buffer for all of them. */
    @Test
    void theTextsOfTwoThreadsDoNotMix() {
        FabricInfo info = TestProviders.info("tcp;ofi_rxm");
        String name = info.protocolName();
        try (OtherThread other = new OtherThread()) {
            AtomicBoolean isOver = new AtomicBoolean();
            Future<?> reading = other.begin(() -> {
                while (!isOver.get()) {
                    info.details();
                }
                return null;
            });
            Set<String> names = Stream.generate(info::protocolName).limit(5000).collect(Collectors.toSet());
            isOver.set(true);

            assertThat(names).containsExactly(name);
            assertThat(reading).succeedsWithin(Pair.DEADLINE);
        }
    }

    /** Most providers look at neither before a connection is made. */
    @Test
    void aSourceThatNothingMatchesIsNamedBesideTheDestination() {
        FabricHints hints = FabricHints.any().source("192.0.2.1", null).destination("192.0.2.2", "1");
        List<FabricInfo> others = List.of(TestProviders.info("tcp;ofi_rxm"));

        assertThat(new MismatchReport(LIBFABRIC, asked -> others, asked -> false, hints).explanation())
                .contains("source address 192.0.2.1:*", "destination address 192.0.2.2:1");
    }

    @Test
    void capabilitiesReplaceAndAreAdded() {
        FabricHints hints = FabricHints.rma();

        assertThat(hints.capabilities(Capability.MSG).capabilities()).isEqualTo(Set.of(Capability.MSG));
        assertThat(hints.addCapabilities(Capability.MSG).capabilities())
                .isEqualTo(Set.of(Capability.MSG, Capability.RMA));
        assertThat(hints.capabilities()).isEqualTo(Set.of(Capability.RMA));
    }

    @Test
    void aSourceAndADestinationStayBesideEachOther() {
        FabricHints hints = FabricHints.any().source("a", "1").destination("[::1]", null);

        assertThat(hints.sourceNode()).contains("a");
        assertThat(hints.sourceService()).contains("1");
        assertThat(hints.destinationNode()).contains("::1");
        assertThat(hints.destinationService()).isEmpty();
        assertThat(hints).hasToString("threading SAFE, source a:1, destination ::1");
        EndpointAddress raw = EndpointAddress.of(new byte[]{1});
        assertThat(hints.source(raw).sourceNode()).isEmpty();
        assertThat(hints.source(raw).source("b", null).sourceAddress()).isEmpty();
    }

    @Test
    void aRescanIsDoneOrRefusedByVersion() {
        FabricHints hints = FabricHints.any().rescan();
        if (TestProviders.isBefore(2, 2)) {
            assertThatThrownBy(() -> LIBFABRIC.info(hints)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("needs libfabric 2.2");
        } else {
            assertThat(LIBFABRIC.info(hints)).isNotEmpty();
        }
    }

    @Test
    void installedProvidersAreMoreThanThoseThatCanBeUsed() {
        List<String> names = LIBFABRIC.installedProviders().stream().map(FabricAttributes::provider).toList();

        assertThat(names).contains("shm", "tcp", "sockets").doesNotHaveDuplicates();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void receivesCompleteByDefault(String provider) {
        assertThat(LIBFABRIC.info(TestProviders.hints(provider).addCapabilities(Capability.MSG)
                .receiveOperationFlags(OperationFlag.COMPLETION))).isNotEmpty();
    }

    @Test
    void aTrafficClassIsACodePointOrALabel() {
        TrafficClass point = TrafficClass.ofCodePoint(46);

        assertThat(point.value()).isEqualTo(0x12e);
        assertThat(point.codePoint()).hasValue(46);
        assertThat(TrafficClass.BULK_DATA.codePoint()).isEmpty();
        assertThat(List.of(point, TrafficClass.SCAVENGER, TrafficClass.UNSPECIFIED, TrafficClass.of(0x206)))
                .hasToString("[DSCP 46, SCAVENGER, UNSPECIFIED, 0x206]");
    }

    @Test
    void trafficClassesWithTheSameNumberAreEqual() {
        assertThat(TrafficClass.of(0x203)).isEqualTo(TrafficClass.BULK_DATA).hasSameHashCodeAs(TrafficClass.BULK_DATA)
                .isNotEqualTo(TrafficClass.SCAVENGER);
    }

    @Test
    void aKeyIsCopied() {
        byte[] key = {1, 2};
        AttributeHints hints = AttributeHints.none().authorizationKey(key);
        key[0] = 9;
        hints.authorizationKey()[1] = 9;

        assertThat(hints.authorizationKey()).isEqualTo(new byte[]{1, 2});
        assertThat(hints).hasToString("authorization key of 2 bytes");
    }

    @Test
    void aPlaceOnTheBusIsWrittenAsItsToolsDo() {
        assertThat(new NetworkDevice.PciAddress(0, 0xaf, 3, 1)).hasToString("0000:af:03.1");
    }
}
