package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionOrder;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Limit;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.Protocol;
import io.ofi4j.info.ResourceManagement;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every hint of the attributes, with every provider: it is met, or refused by name. */
class AttributeHintsTest {
    private static final AttributeHints NONE = AttributeHints.none();
    private static final long HUGE = 1L << 40;

    /** A hint, and whether what was found meets it. */
    private record Hint(AttributeHints attributes, Predicate<FabricInfo> isMet) {
        @Override
        public String toString() { return attributes.toString(); }
    }

    private static Stream<Hint> hints() {
        return Stream
                .of(vectorTypes(), managements(), trafficClasses(), messageOrders(), completionOrders(), sizes(),
                        completionDataSizes(), limits(), wishes(), protocols(), codePoints(), directions())
                .flatMap(all -> all);
    }

    /** Limits that providers check. */
    private static Stream<Hint> limits() {
        return Stream.of(1L, 2L, HUGE).flatMap(limit -> Stream.of(
                new Hint(NONE.atLeast(Limit.TRANSMIT_IOV_LIMIT, limit), info -> info.transmit().iovLimit() >= limit),
                new Hint(NONE.atLeast(Limit.RMA_IOV_LIMIT, limit), info -> info.transmit().rmaIovLimit() >= limit),
                new Hint(NONE.atLeast(Limit.RECEIVE_IOV_LIMIT, limit), info -> info.receive().iovLimit() >= limit),
                new Hint(NONE.atLeast(Limit.MAXIMUM_MESSAGE_SIZE, limit),
                        info -> info.endpoint().maximumMessageSize() >= limit)));
    }

    /** What a provider may check, or take as a wish: HintCodecTest shows that it arrives. */
    private static Stream<Hint> wishes() {
        return Stream.of(NONE.atLeast(Limit.MEMORY_REGION_IOV_LIMIT, HUGE),
                NONE.atLeast(Limit.MAXIMUM_ORDER_READ_AFTER_WRITE, HUGE),
                NONE.atLeast(Limit.MAXIMUM_ORDER_WRITE_AFTER_READ, HUGE),
                NONE.atLeast(Limit.MAXIMUM_ORDER_WRITE_AFTER_WRITE, HUGE),
                NONE.atLeast(Limit.BUFFERED_RECEIVE_SIZE, HUGE), NONE.atLeast(Limit.KEY_SIZE, HUGE),
                NONE.atLeast(Limit.ERROR_DATA_SIZE, HUGE), NONE.atLeast(Limit.COMPLETION_QUEUES, HUGE),
                NONE.atLeast(Limit.ENDPOINTS, HUGE), NONE.atLeast(Limit.COUNTERS, HUGE),
                NONE.atLeast(Limit.MEMORY_REGIONS, HUGE), NONE.atLeast(Limit.DOMAIN_TRANSMIT_CONTEXTS, HUGE),
                NONE.atLeast(Limit.DOMAIN_RECEIVE_CONTEXTS, HUGE),
                NONE.atLeast(Limit.TRANSMIT_CONTEXTS_PER_ENDPOINT, HUGE),
                NONE.atLeast(Limit.RECEIVE_CONTEXTS_PER_ENDPOINT, HUGE),
                NONE.atLeast(Limit.SHARED_TRANSMIT_CONTEXTS, HUGE), NONE.atLeast(Limit.SHARED_RECEIVE_CONTEXTS, HUGE),
                NONE.atLeast(Limit.AUTHORIZATION_KEYS_PER_ENDPOINT, HUGE), NONE.atLeast(Limit.MAXIMUM_GROUP_ID, 1000),
                NONE.authorizationKey(new byte[16])).map(hints -> new Hint(hints, info -> true));
    }

    private static Stream<Hint> protocols() {
        return Stream.concat(Stream.of(new Hint(NONE.protocolVersion(1), info -> true)),
                Stream.of(Protocol.SHM, Protocol.RXM, Protocol.SOCK_TCP, Protocol.CXI).map(
                        protocol -> new Hint(NONE.protocol(protocol), info -> info.endpoint().protocol() == protocol)));
    }

    /** As {@link #trafficClasses}. */
    private static Stream<Hint> codePoints() {
        return Stream.of(0, 46, 63)
                .map(point -> new Hint(NONE.trafficClass(TrafficClass.ofCodePoint(point)), info -> true));
    }

    private static Stream<Hint> directions() {
        return Stream.of(
                new Hint(NONE.transmitCapabilities(Capability.RMA, Capability.WRITE),
                        info -> info.transmit().capabilities().contains(Capability.RMA)),
                new Hint(NONE.receiveCapabilities(Capability.RMA, Capability.REMOTE_WRITE),
                        info -> info.receive().capabilities().contains(Capability.RMA)));
    }

    private static Stream<Hint> vectorTypes() {
        return Stream.of(AddressVectorType.MAP, AddressVectorType.TABLE)
                .map(type -> new Hint(NONE.addressVectorType(type), info -> info.domain().addressVectorType() == type));
    }

    private static Stream<Hint> managements() {
        return Stream.of(ResourceManagement.DISABLED, ResourceManagement.ENABLED)
                .map(management -> new Hint(NONE.resourceManagement(management),
                        info -> info.domain().resourceManagement().value() >= management.value())); // more is no harm
    }

    /** None of these providers says one, and all take it. */
    private static Stream<Hint> trafficClasses() {
        return Stream
                .of(TrafficClass.BEST_EFFORT, TrafficClass.LOW_LATENCY, TrafficClass.DEDICATED_ACCESS,
                        TrafficClass.BULK_DATA, TrafficClass.SCAVENGER, TrafficClass.NETWORK_CTRL)
                .map(wanted -> new Hint(NONE.trafficClass(wanted),
                        info -> info.domain().trafficClass().equals(TrafficClass.UNSPECIFIED)));
    }

    private static Stream<Hint> messageOrders() {
        return Arrays.stream(MessageOrder.values()).map(
                order -> new Hint(NONE.messageOrder(order), info -> info.transmit().messageOrder().contains(order)));
    }

    private static Stream<Hint> completionOrders() {
        return Arrays.stream(CompletionOrder.values()).map(order -> new Hint(NONE.completionOrder(order),
                info -> info.transmit().completionOrder().contains(order)));
    }

    private static Stream<Hint> sizes() {
        return Stream.of(1L, 64L, HUGE)
                .flatMap(size -> Stream.of(
                        new Hint(NONE.atLeast(Limit.TRANSMIT_SIZE, size), info -> info.transmit().size() >= size),
                        new Hint(NONE.atLeast(Limit.RECEIVE_SIZE, size), info -> info.receive().size() >= size),
                        new Hint(NONE.atLeast(Limit.INJECT_SIZE, size), info -> info.transmit().injectSize() >= size)));
    }

    private static Stream<Hint> completionDataSizes() {
        return Stream.of(1L, 4L, 8L, HUGE).map(size -> new Hint(NONE.atLeast(Limit.COMPLETION_DATA_SIZE, size),
                info -> info.domain().completionDataSize() >= size));
    }

    static Stream<Arguments> hintsOfProviders() {
        return TestProviders.transfers().flatMap(provider -> hints().map(hint -> Arguments.of(provider, hint)));
    }

    @ForEachProvider
    @MethodSource("hintsOfProviders")
    void aHintIsMetOrRefusedByName(String provider, Hint hint) {
        List<FabricInfo> found;
        try {
            found = Libfabric.load().info(TestProviders.hints(provider).attributes(hint.attributes));
        } catch (NoProviderException e) {
            assertThat(e).hasMessageContaining(hint.attributes.toString()).hasMessageContaining("not offered by");
            return;
        }
        assertThat(found).isNotEmpty().allMatch(hint.isMet);
    }

    /** One field, three fields, what stands for no fields at all, and every bit. */
    static Stream<Arguments> formatsOfProviders() {
        return TestProviders.rma()
                .flatMap(provider -> Stream.of(0xffL, 0x30ffL, 0xaaaa_aaaa_aaaaL, 0xaaaa_aaaa_aaaa_aaaaL, -1L)
                        .map(format -> Arguments.of(provider, format)));
    }

    @ForEachProvider
    @MethodSource("formatsOfProviders")
    void aTagFormatIsMetOrRefusedByName(String provider, long format) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.TAGGED)
                .attributes(NONE.tagFormat(format));
        List<FabricInfo> found;
        try {
            found = Libfabric.load().info(hints);
        } catch (NoProviderException e) {
            assertThat(e).hasMessageContaining("tag format 0x" + Long.toHexString(format));
            return;
        }
        assertThat(found).isNotEmpty().allMatch(
                info -> Long.numberOfLeadingZeros(info.endpoint().tagFormat()) <= Long.numberOfLeadingZeros(format));
    }

    @ForEachProvider
    @MethodSource("formatsOfProviders")
    void tagsKeepToTheFormatThatIsTold(String provider, long format) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.TAGGED)
                .attributes(NONE.tagFormat(format));
        FabricInfo info;
        try {
            info = TestProviders.info(hints);
        } catch (NoProviderException e) {
            return; // as above
        }
        try (Pair pair = new Pair(hints); MemoryRegion region = pair.domain.allocate(64, Access.SEND, Access.RECEIVE)) {
            Tagged tagged = pair.endpoint.tagged();
            long highest = Long.highestOneBit(info.endpoint().tagFormat());

            assertThat(tagged.tagBits() & highest).isEqualTo(highest);
            assertThat(tagged.tryReceive(region, 0, 64, highest, 0, 1)).isTrue();
            if (highest > 0) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> tagged.tryReceive(region, 0, 64, highest << 1, 0, 2))
                        .withMessageContaining("0x" + Long.toHexString(highest << 1));
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void whatNoProviderHasIsRefused(String provider) {
        for (AttributeHints impossible : List.of(NONE.atLeast(Limit.TRANSMIT_SIZE, HUGE),
                NONE.atLeast(Limit.RECEIVE_SIZE, HUGE), NONE.atLeast(Limit.INJECT_SIZE, HUGE))) {
            assertThatThrownBy(() -> Libfabric.load()
                    .info(TestProviders.hints(provider).attributes(impossible.trafficClass(TrafficClass.BULK_DATA))))
                    .isInstanceOf(NoProviderException.class).hasMessageContaining(impossible.toString())
                    .hasMessageContaining("BULK_DATA");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void sizesAreGivenAsTheyWereAskedFor(String provider) {
        FabricInfo info = TestProviders.info(TestProviders.hints(provider).attributes(
                NONE.atLeast(Limit.TRANSMIT_SIZE, 32).atLeast(Limit.RECEIVE_SIZE, 16).atLeast(Limit.INJECT_SIZE, 8)));

        assertThat(info.transmit().size()).isEqualTo(32);
        assertThat(info.receive().size()).isEqualTo(16);
        assertThat(info.transmit().injectSize()).isEqualTo(8);
    }
}
