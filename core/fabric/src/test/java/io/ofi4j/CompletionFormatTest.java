package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What completions tell, in each format, and where they come from. */
@Timeout(300)
class CompletionFormatTest {
    private static final long DATA = 0x1234;

    /** What a handler was told. */
    private record Told(long token, long flags, long length, long data, long buffer, long tag, long source) {}

    static Stream<Arguments> providersAndFormats() {
        return TestProviders.rma().flatMap(
                provider -> Stream.of(CompletionFormat.values()).map(format -> Arguments.of(provider, format)));
    }

    private static DetailedCompletionHandler into(List<Told> told) {
        return (token, flags, length, data, buffer, tag, source) -> told
                .add(new Told(token, flags, length, data, buffer, tag, source));
    }

    /** Writes with data from the near end: what near and far end were told, one completion each. */
    private static List<Told> writeData(Pair pair, boolean keptFirst) {
        List<Told> near = new ArrayList<>();
        List<Told> far = new ArrayList<>();
        try (MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            pair.rma().writeData(source.slice(0, 8), DATA, pair.far, target.remote(), 7);
            Waiting.YIELD.until(() -> {
                if (keptFirst) {
                    pair.queue.progress();
                    pair.farQueue.progress();
                }
                pair.queue.poll(into(near), 64);
                pair.farQueue.poll(into(far), 64);
                return near.size() > 0 && far.size() > 0;
            }, Pair.DEADLINE);
        }
        assertThat(near).hasSize(1);
        assertThat(far).hasSize(1);
        return List.of(near.getFirst(), far.getFirst());
    }

    @ForEachProvider
    @MethodSource("providersAndFormats")
    void aFormatGivesWhatItHasAndZeroForTheRest(String provider, CompletionFormat format) {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().format(format);
        for (boolean keptFirst : new boolean[]{false, true}) {
            try (Pair pair = new Pair(TestProviders.hints(provider), attributes)) {
                List<Told> told = writeData(pair, keptFirst);

                Told near = told.get(0);
                assertThat(near.token).isEqualTo(7);
                assertThat(near.source).isEqualTo(Peer.ADDRESS_NOT_AVAILABLE);
                Told far = told.get(1);
                assertThat(far.token).isEqualTo(CompletionHandler.NO_TOKEN);
                assertThat(far.tag).isZero();
                long said = CompletionFlags.REMOTE_CQ_DATA; // shm of 2.1 does not say that it was a write
                assertThat(far.flags & said).isEqualTo(format == CompletionFormat.CONTEXT ? 0 : said);
                boolean hasData = format.compareTo(CompletionFormat.DATA) >= 0;
                assertThat(far.data).isEqualTo(hasData ? DATA : 0);
                if (!hasData) { assertThat(far.buffer).isZero(); }
            }
        }
    }

    @Test
    void aSimpleHandlerTakesEveryFormat() {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED);
        try (Pair pair = new Pair(TestProviders.hints("shm"), attributes);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 3);
            pair.awaitToken(3);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSourceIsThePeerWhereTheProviderTellsIt(String provider) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.RMA, Capability.SOURCE);
        boolean tells = !provider.contains("ofi_rx"); // of messages only
        for (CompletionFormat format : CompletionFormat.values()) {
            try (Pair pair = new Pair(hints, CompletionQueueAttributes.defaults().format(format))) {
                Peer near = pair.vector.insert(pair.endpoint.address());
                List<Told> told = writeData(pair, format == CompletionFormat.DATA);

                assertThat(told.get(0).source).isEqualTo(Peer.ADDRESS_NOT_AVAILABLE);
                long source = told.get(1).source;
                // as shm of 2.6 is within a process
                if (tells && format != CompletionFormat.CONTEXT && !near.entry.isRespelled) {
                    assertThat(source).isEqualTo(near.fabricAddress());
                    assertThat(pair.vector.peer(source)).containsSame(near);
                } else {
                    assertThat(source).isEqualTo(Peer.ADDRESS_NOT_AVAILABLE);
                    assertThat(pair.vector.peer(source)).isEmpty();
                }
            }
        }
    }

    @Test
    void aVectorKnowsThePeerBehindASource() {
        try (Pair pair = new Pair("sockets")) {
            Peer near = pair.vector.insert(pair.endpoint.address());
            assertThat(pair.vector.peer(pair.far.fabricAddress())).containsSame(pair.far);
            assertThat(pair.vector.peer(near.fabricAddress())).containsSame(near);
            pair.vector.remove(near);
            assertThat(pair.vector.peer(near.fabricAddress())).isEmpty();
        }
    }

    @Test
    void anErrorOfAnUnknownSourceCarriesItsAddress() {
        byte[] address = {2, 0, 3, 4};
        CompletionError error = new CompletionError(-1, false, 0, 0, 0, 0, 0, 0, 99, 0, "", address, "some");
        assertThat(error.source()).contains(EndpointAddress.of(address));
        assertThat(error.providerData()).containsExactly(address).isNotSameAs(error.providerData());
        assertThat(new CompletionError(-1, false, 0, 0, 0, 0, 0, 0, 5, 0, "", address, "some").source()).isEmpty();
    }

    @Test
    void attributesAreChecked() {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults();
        assertThat(attributes.size()).isEmpty();
        assertThat(attributes.format()).isEqualTo(CompletionFormat.DATA);
        assertThat(attributes.waitObject()).isEqualTo(WaitObject.NONE);
        assertThat(attributes.signalingVector()).isEmpty();
        assertThat(attributes.waitThreshold()).isEqualTo(1);
        assertThat(attributes.size(5).format(CompletionFormat.TAGGED).size()).hasValue(5);
        assertThat(attributes.signalingVector(1).signalingVector()).hasValue(1);
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.size(0))
                .withMessageContaining("1,048,576".replace(",", ""));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.signalingVector(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.waitThreshold(0));
        for (WaitObject object : Set.of(WaitObject.SET, WaitObject.MUTEX_COND, WaitObject.POLLFD)) {
            assertThatThrownBy(() -> attributes.waitObject(object)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(object.name());
        }
        assertThat(attributes.size()).isEmpty();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSignalingVectorIsTakenOrRefusedByName(String provider) {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().signalingVector(0);
        try (Pair pair = new Pair(TestProviders.hints(provider), attributes)) {
            assertThat(writeData(pair, false)).hasSize(2);
        }
    }
}
