package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.ffi.Forged;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What providers may demand of registrations and none of Debian's does: shm is opened as if it did, and where it must
 * answer, the test answers in its place.
 */
@Timeout(300)
class MemoryRegionDemandsTest {
    private static final int LENGTH = 64;

    private final Forged forged = new Forged(new byte[]{5, 6, 7, 8, 9, 10, 11, 12, 13});

    private static FabricInfo demanding(MemoryRegionMode mode) {
        return new NativeFabricInfo(
                Forged.demanding(NativeFabricInfo.of(TestProviders.info("shm")).handle(), mode.bit()),
                Libfabric.load().version());
    }

    private void patch(MemoryRegion region) throws ReflectiveOperationException {
        Field handle = MemoryRegion.class.getDeclaredField("handle");
        handle.setAccessible(true);
        forged.patch((Handle) handle.get(region));
    }

    @Test
    void aRegionIsTiedToTheFirstEndpointAndGoesBeforeIt() throws ReflectiveOperationException {
        FabricInfo info = demanding(MemoryRegionMode.ENDPOINT);
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector()) {
            Endpoint first = domain.openEndpoint().bind(vector).bind(queue);
            Endpoint second = domain.openEndpoint().bind(vector).bind(queue);
            MemoryRegion any = domain.allocate(LENGTH, Access.WRITE);
            MemoryRegion ofSecond = domain.register(MemoryRegionAttributes.of(Arena.ofAuto().allocate(LENGTH))
                    .access(Access.REMOTE_WRITE).endpoint(second));
            patch(any);
            patch(ofSecond);
            assertThatIllegalStateException().isThrownBy(any::remote).withMessageContaining("FI_MR_ENDPOINT");

            first.enable();
            assertThat(forged.calls).containsExactly("bind 0", "enable");
            assertThat(any.remote().length()).isEqualTo(LENGTH);
            assertThatIllegalStateException().isThrownBy(ofSecond::remote).withMessageContaining("enable one first");
            second.enable();
            assertThat(ofSecond.remote().access()).containsExactly(Access.REMOTE_WRITE);
            forged.calls.clear();

            first.close();
            assertThat(forged.calls).containsExactly("close");
            assertThat(any.isOpen()).isFalse();
            assertThat(any.segment().scope().isAlive()).isFalse();
            assertThat(ofSecond.isOpen()).isTrue();
            ofSecond.close();
            second.close();
            assertThat(forged.calls).containsExactly("close", "close");
        }
    }

    @Test
    void anInfoWithoutALimitOfSegmentsIsUsedAsAnyOther() {
        NativeFabricInfo limited = NativeFabricInfo.of(TestProviders.info("shm"));
        TransmitAttributes its = limited.transmit();
        FabricInfo info = new NativeFabricInfo(limited.handle(), limited.runtime(),
                new TransmitAttributes(its.capabilities(), its.operationFlags(), its.messageOrder(),
                        its.completionOrder(), its.injectSize(), its.size(), Long.MAX_VALUE, Long.MAX_VALUE,
                        its.trafficClass()),
                limited.receive(), limited.endpoint(), limited.domain(), limited.fabric());
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
                MemoryRegion source = domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            source.segment().fill((byte) 7);
            endpoint.rma().prepare().peer(vector.insert(endpoint.address())).local(source, 0, LENGTH)
                    .remote(target.remote(), 0, LENGTH / 2).remote(target.remote(), LENGTH / 2, LENGTH / 2).write(1);
            int[] completed = {0};
            Waiting.YIELD.until(() -> {
                completed[0] += queue.poll((token, flags, length, data) -> {}, 1);
                return target.segment().mismatch(source.segment()) == -1; // the target may be later than the completion
            }, Pair.DEADLINE);
            Waiting.YIELD.until(() -> completed[0] + queue.poll((token, flags, length, data) -> {}, 1) > 0,
                    Pair.DEADLINE);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aProviderThatHasOnlyTheGeneralFormRegistersWithIt(boolean isMissing) {
        try (Pair pair = new Pair("shm")) {
            forged.restrictToRegattr(pair.domain.handle(), isMissing);
            try (MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                    MemoryRegion target = pair.domain.register(List.of(Arena.ofAuto().allocate(LENGTH)),
                            Access.REMOTE_WRITE)) {
                source.segment().fill((byte) 7);
                pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
                pair.awaitToken(1);

                assertThat(target.segments().getFirst().mismatch(source.segment())).isEqualTo(-1);
                assertThat(forged.calls).isEqualTo(isMissing ? List.of() : List.of("reg", "regv"));
            }
        }
    }

    @Test
    void aRegionThatCannotBeTiedIsNotLeftBehind() {
        FabricInfo info = demanding(MemoryRegionMode.ENDPOINT);
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
            assertThat(endpoint.address()).isNotNull();
            assertThatThrownBy(() -> domain.allocate(LENGTH, Access.WRITE)).isInstanceOf(FabricException.class)
                    .hasMessageContaining("fi_mr_bind");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 300})
    void rawKeysGoFromRegionToDomain(int size) throws ReflectiveOperationException {
        byte[] key = new byte[size];
        Arrays.fill(key, (byte) 9);
        Forged answers = new Forged(key);
        FabricInfo info = demanding(MemoryRegionMode.RAW);
        try (Fabric fabric = Libfabric.load().openFabric(info); Domain domain = fabric.openDomain()) {
            Field handle = MemoryRegion.class.getDeclaredField("handle");
            handle.setAccessible(true);
            MemoryRegion region = domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.WRITE);
            answers.patch((Handle) handle.get(region));
            answers.patch(domain.handle());
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(region::remote)
                    .withMessageContaining("rawKey()");

            RawKey raw = RawKey.decode(region.rawKey().encode());
            MappedKey mapped = domain.mapRawKey(raw);

            assertThat(raw.key()).isEqualTo(key);
            assertThat(raw.access()).containsExactly(Access.REMOTE_WRITE);
            assertThat(mapped.remote())
                    .isEqualTo(new RemoteRegion(Forged.RAW_BASE, LENGTH, Forged.MAPPED_KEY, Access.REMOTE_WRITE.bit()));
            assertThat(answers.calls).endsWith("map " + Forged.RAW_BASE + " " + size + " 9");
            region.close();
            assertThatIllegalStateException().isThrownBy(domain::close).withMessageContaining("MappedKey");
            mapped.close();
            mapped.close();
            assertThat(answers.calls).endsWith("close", "unmap " + Forged.MAPPED_KEY);
        }
    }

    @Test
    void aRefreshNamesTheRange() throws ReflectiveOperationException {
        try (Pair pair = new Pair("shm"); MemoryRegion region = pair.domain.allocate(LENGTH, Access.WRITE)) {
            patch(region);

            region.refresh();
            region.refresh(8, 16);

            long address = region.segment().address();
            assertThat(forged.calls).containsExactly("refresh 1 " + address + " " + LENGTH,
                    "refresh 1 " + (address + 8) + " 16");
        }
    }

    @Test
    void aKeyThatTheProviderChoosesCannotBeRequested() {
        FabricInfo info = demanding(MemoryRegionMode.PROV_KEY);
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                Arena arena = Arena.ofShared()) {
            MemoryRegionAttributes attributes = MemoryRegionAttributes.of(arena.allocate(LENGTH))
                    .access(Access.REMOTE_WRITE);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> domain.register(attributes.requestedKey(77)))
                    .withMessageContaining("FI_MR_PROV_KEY");
            domain.register(attributes).close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "COLLECTIVE")
    void whatIsNotHandledIsRefusedBeforeTheDomainIsOpened(MemoryRegionMode mode) {
        FabricInfo info = demanding(mode);
        try (Fabric fabric = Libfabric.load().openFabric(info)) {
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(fabric::openDomain)
                    .withMessageContaining("provider shm").withMessageContaining(mode.name());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCounterOfRemoteWritesIsBoundWhereTheProviderCounts(String provider) {
        boolean claimed = TestProviders.info(provider).capabilities().contains(Capability.RMA_EVENT);
        FabricHints hints = TestProviders.hints(provider);
        try (Pair pair = new Pair(claimed ? hints.capabilities(Capability.RMA, Capability.RMA_EVENT) : hints);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE)) {
            Counter counter = pair.domain.openCounter();
            MemoryRegionAttributes attributes = MemoryRegionAttributes.of(Arena.ofAuto().allocate(LENGTH))
                    .access(Access.REMOTE_WRITE).countedBy(counter);
            if (provider.equals("sockets")) {
                try (MemoryRegion target = pair.domain.register(attributes)) {
                    source.segment().set(JAVA_BYTE, 0, (byte) 1);
                    pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
                    pair.awaitToken(1);
                    Waiting.YIELD.until(() -> {
                        pair.poll();
                        return counter.read() == 1;
                    }, Pair.DEADLINE);
                }
            } else {
                assertThatExceptionOfType(UnsupportedOperationException.class)
                        .isThrownBy(() -> pair.domain.register(attributes)).withMessageContaining(provider);
            }
            counter.close();
        }
    }
}
