package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.ffi.Forged;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Registering memory in every way that fi_mr(3) has, with what each provider makes of it. */
@Timeout(300)
class MemoryRegionTest {
    private static final int LENGTH = 256;
    private static final long KEY = 0x1234_5678L;

    private static void fill(MemorySegment memory, int value) { memory.fill((byte) value); }

    private static void awaitFilled(Pair pair, MemorySegment memory, int value) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return memory.elements(JAVA_BYTE).allMatch(one -> one.get(JAVA_BYTE, 0) == value);
        }, Pair.DEADLINE);
    }

    private static void awaitWrite(Pair pair, MemoryRegion source, RemoteRegion target, long length) {
        pair.rma().write(source.slice(0, length), pair.far, target, 5);
        pair.awaitToken(5);
    }

    private static boolean choosesKeys(String provider) {
        return TestProviders.info(provider).domain().memoryRegionMode().contains(MemoryRegionMode.PROV_KEY);
    }

    private static void requireNoKeyIsTaken(Pair pair, MemoryRegionAttributes attributes) {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> pair.domain.register(attributes)).withMessageContaining(pair.domain.info().provider())
                .withMessageContaining("FI_MR_PROV_KEY").withMessageContaining("leave out requestedKey");
        pair.domain.register(attributes.randomKey()).close();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aRequestedKeyIsTheKeyThatPeersUseOrIsRefusedByName(String provider) {
        try (Pair pair = new Pair(provider); Arena arena = Arena.ofShared()) {
            if (choosesKeys(provider)) {
                requireNoKeyIsTaken(pair, MemoryRegionAttributes.of(arena.allocate(LENGTH)).access(Access.REMOTE_WRITE)
                        .requestedKey(KEY));
            } else {
                writeWithARequestedKey(pair, arena);
            }
        }
    }

    /** The sum of address and length overflows in the check of a provider at the owner, and ends its process. */
    @Test
    void aRemoteRegionAtAnAddressThatNoProcessHasIsRefused() {
        long bits = Access.REMOTE_WRITE.bit();
        for (long base : new long[]{-8, -1, Long.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> new RemoteRegion(base, LENGTH, KEY, bits))
                    .withMessageContaining("cannot begin at 0x");
        }
        assertThat(new RemoteRegion(Long.MAX_VALUE - LENGTH, LENGTH, KEY, bits).length()).isEqualTo(LENGTH);
    }

    private static void writeWithARequestedKey(Pair pair, Arena arena) {
        try (MemoryRegion source = pair.domain.register(
                MemoryRegionAttributes.of(arena.allocate(LENGTH)).access(Access.WRITE).requestedKey(1).randomKey());
                MemoryRegion target = pair.domain.register(MemoryRegionAttributes.of(arena.allocate(LENGTH))
                        .access(Access.REMOTE_WRITE, Access.REMOTE_READ).requestedKey(KEY))) {
            fill(source.segment(), 7);
            RemoteRegion built = new RemoteRegion(target.remote().base(), LENGTH, KEY, Access.REMOTE_WRITE.bit());

            awaitWrite(pair, source, built, LENGTH);

            awaitFilled(pair, target.segment(), 7);
            assertThat(target.remote().key()).isEqualTo(KEY);
            assertThat(target.access()).containsExactly(Access.REMOTE_READ, Access.REMOTE_WRITE);
            assertThat(source.remote().key()).isNotEqualTo(1).isNotEqualTo(KEY);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aKeyThatIsTakenIsRefusedUntilItIsFree(String provider) {
        try (Pair pair = new Pair(provider); Arena arena = Arena.ofShared()) {
            MemoryRegionAttributes attributes = MemoryRegionAttributes.of(arena.allocate(LENGTH))
                    .access(Access.REMOTE_WRITE).requestedKey(KEY);
            if (choosesKeys(provider)) {
                requireNoKeyIsTaken(pair, attributes);
                return;
            }
            MemoryRegion first = pair.domain.register(attributes);

            assertThatThrownBy(() -> pair.domain.register(attributes))
                    .isInstanceOfSatisfying(FabricException.class, e -> assertThat(e.errno()).isEqualTo(266))
                    .hasMessageContaining("fi_mr_regattr").hasMessageContaining("another region's");

            first.close();
            pair.domain.register(attributes).close();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void keysAreTheApplicationsAndOfEightBytesOrTheDevicesAndOfFour(String provider) {
        DomainAttributes domain = TestProviders.info(provider).domain();

        assertThat(domain.memoryRegionMode()).doesNotContain(MemoryRegionMode.RAW, MemoryRegionMode.ENDPOINT);
        assertThat(domain.keySize()).isEqualTo(choosesKeys(provider) ? 4 : 8);
        assertThat(choosesKeys(provider)).isEqualTo(provider.startsWith("verbs"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryRegionAttributes.of(MemorySegment.NULL).requestedKey(-1))
                .withMessageContaining("FI_KEY_NOTAVAIL");
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void severalSegmentsAreOneRegionAsFarAsTheProviderGoes(String provider) {
        try (Pair pair = new Pair(provider); Arena arena = Arena.ofShared()) {
            int limit = Math.toIntExact(pair.domain.info().domain().memoryRegionIovLimit());
            List<MemorySegment> fitting = Stream.generate(() -> arena.allocate(LENGTH)).limit(limit).toList();
            List<MemorySegment> more = Stream.generate(() -> arena.allocate(LENGTH)).limit(limit + 1L).toList();

            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(more, Access.WRITE))
                    .withMessageContaining("at most " + limit + " segments, not " + (limit + 1));
            assertThatIllegalArgumentException().isThrownBy(
                    () -> pair.domain.register(MemoryRegionAttributes.of(more).access(Access.REMOTE_WRITE)));
            if (limit > 1) {
                assertThatExceptionOfType(UnsupportedOperationException.class)
                        .isThrownBy(() -> pair.domain.register(fitting, Access.WRITE, Access.REMOTE_READ))
                        .withMessageContaining(provider).withMessageContaining("register a region for each");
            }
            for (MemoryRegion region : List.of(pair.domain.register(fitting, Access.WRITE, Access.READ),
                    pair.domain.register(MemoryRegionAttributes.of(fitting).access(Access.WRITE, Access.READ)))) {
                assertThat(region.segments()).containsExactlyElementsOf(fitting);
                assertThat(region.length()).isEqualTo((long) limit * LENGTH);
                transferEachPart(pair, region);
                region.close();
                assertThat(region.parts()).noneMatch(MemoryRegion::isOpen);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE", "TWO"}, value = Several.class)
    @SuppressWarnings("restricted") // no memory is that large; the first byte of each segment is there
    void bytesThatCannotBeCountedAreRefused(Several provider) {
        try (Pair pair = new Pair(provider.provider); Arena arena = Arena.ofShared()) {
            MemorySegment half = arena.allocate(8).reinterpret(Long.MAX_VALUE / 2 + 1);

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.register(List.of(half, half), Access.WRITE))
                    .withMessageContaining("more bytes than a long can count");
            try (MemoryRegion whole = pair.domain.register(arena.allocate(8).reinterpret(Long.MAX_VALUE), Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                PreparedRma message = pair.rma().prepare().peer(pair.far).local(whole, 0, Long.MAX_VALUE)
                        .local(whole, 0, Long.MAX_VALUE).local(whole, 0, 10).remote(target.remote(), 0, 8);
                assertThatIllegalStateException().isThrownBy(() -> message.tryWrite(1))
                        .withMessageContaining("the same number of bytes");
            }
        }
    }

    private static void transferEachPart(Pair pair, MemoryRegion region) {
        try (MemoryRegion there = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            int value = 1;
            for (MemoryRegion part : region.parts()) {
                fill(part.segment(), value);
                pair.rma().write(part.slice(0, LENGTH), pair.far, there.remote(), value);
                pair.awaitToken(value);
                awaitFilled(pair, there.segment(), value);
                fill(part.segment(), 0);
                pair.rma().read(part.slice(1, LENGTH - 2), pair.far, there.remote(), value);
                pair.awaitToken(value);
                assertThat(part.segment().get(JAVA_BYTE, 0)).isZero();
                assertThat(part.segment().get(JAVA_BYTE, LENGTH - 1)).isZero();
                awaitFilled(pair, part.segment().asSlice(1, LENGTH - 2), value++);
                assertThatThrownBy(() -> pair.rma().tryWrite(part, 1, LENGTH, pair.far, there.remote(), 0, 1))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE", "TWO"}, value = Several.class)
    void aRegionOfSeveralSegmentsIsAddressedByItsParts(Several provider) {
        try (Pair pair = new Pair(provider.provider);
                Arena arena = Arena.ofShared();
                MemoryRegion there = pair.domain.allocate(2 * LENGTH, Access.REMOTE_WRITE)) {
            MemoryRegion region = pair.domain.register(List.of(arena.allocate(LENGTH), arena.allocate(LENGTH)),
                    Access.WRITE);
            List<MemoryRegion> parts = region.parts();
            fill(parts.getFirst().segment(), 9);
            fill(parts.getLast().segment(), 9);

            for (long length : new long[]{0, 1, Long.MAX_VALUE}) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> pair.rma().tryWrite(region, 0, length, pair.far, there.remote(), 0, 1))
                        .withMessageContaining("2 segments").withMessageContaining("parts()");
                assertThatIllegalStateException().isThrownBy(() -> pair.rma().prepare().local(region, 0, length))
                        .withMessageContaining("parts()");
            }
            assertThatIllegalStateException().isThrownBy(region::segment).withMessageContaining("parts()");
            pair.rma().prepare().peer(pair.far).local(parts.getFirst(), 0, LENGTH).local(parts.getLast(), 0, LENGTH)
                    .remote(there.remote(), 0, 2 * LENGTH).write(4);
            assertThat(region.operationsInFlight()).isEqualTo(1).isEqualTo(parts.getLast().operationsInFlight());
            pair.awaitToken(4);
            awaitFilled(pair, there.segment(), 9);

            parts.getLast().close();

            assertThat(region.isOpen()).isFalse();
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.rma().tryWrite(parts.getFirst(), 0, 1, pair.far, there.remote(), 0, 1))
                    .withMessageContaining("closed");
        }
    }

    /** The providers that take several segments. */
    enum Several {
        ONE("shm"), TWO("sockets");

        final String provider;

        Several(String provider) { this.provider = provider; }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatNoSoftwareProviderHasIsNamed(String provider) {
        try (Pair pair = new Pair(provider)) {
            MemoryRegion region = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE);
            RawKey raw = new RawKey(0, LENGTH, Access.REMOTE_WRITE.bit(), new byte[12]);

            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(region::rawKey)
                    .withMessage("fi_mr_raw_attr is not offered by the provider " + provider);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> pair.domain.mapRawKey(raw))
                    .withMessage("fi_mr_map_raw is not offered by the provider " + provider);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(region::refresh)
                    .withMessage("fi_mr_refresh is not offered by the provider " + provider);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> region.refresh(8, 8))
                    .withMessage("fi_mr_refresh is not offered by the provider " + provider);
            assertThatThrownBy(() -> region.refresh(LENGTH, 1)).isInstanceOf(IndexOutOfBoundsException.class);
            region.close();
            assertThatIllegalStateException().isThrownBy(region::refresh).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(region::rawKey).withMessageContaining("closed");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void persistentMemoryIsRegisteredWhereItIsOffered(String provider) {
        boolean offered = Set.of("net", "tcp", "sockets").contains(provider);
        FabricHints hints = TestProviders.hints(provider);
        try (Pair pair = new Pair(offered ? hints.capabilities(Capability.RMA, Capability.RMA_PMEM) : hints);
                Arena arena = Arena.ofShared()) {
            MemoryRegionAttributes attributes = MemoryRegionAttributes.of(arena.allocate(LENGTH))
                    .access(Access.REMOTE_WRITE).persistent();
            if (offered) {
                pair.domain.register(attributes).close();
            } else {
                assertThatExceptionOfType(UnsupportedOperationException.class)
                        .isThrownBy(() -> pair.domain.register(attributes)).withMessageContaining("RMA_PMEM")
                        .withMessageContaining(provider);
            }
        }
    }

    /** Every way to register memory of the caller's. */
    static Stream<Arguments> ways() {
        return Stream.of(way("fi_mr_reg", memory -> domain -> domain.register(memory, Access.READ)),
                way("fi_mr_regv", memory -> domain -> domain.register(List.of(memory), Access.READ)),
                way("fi_mr_regattr",
                        memory -> domain -> domain.register(MemoryRegionAttributes.of(memory).access(Access.READ))),
                way("one of several",
                        memory -> domain -> domain.register(List.of(Arena.ofAuto().allocate(8), memory), Access.READ)));
    }

    private static Arguments way(String name, Function<MemorySegment, Function<Domain, MemoryRegion>> way) {
        return Arguments.of(name, way);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ways")
    void memoryThatCannotBeRegisteredIsRefusedEverywhere(String name,
            Function<MemorySegment, Function<Domain, MemoryRegion>> way) throws InterruptedException {
        try (Pair pair = new Pair("shm"); Arena confined = Arena.ofConfined()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> way.apply(MemorySegment.ofArray(new byte[8])).apply(pair.domain))
                    .withMessageContaining("heap");
            assertThatIllegalArgumentException().isThrownBy(() -> way.apply(MemorySegment.NULL).apply(pair.domain))
                    .withMessageContaining("at least 1 byte");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> way.apply(confined.allocate(8).asReadOnly()).apply(pair.domain))
                    .withMessageContaining("read-only");
            Arena closed = Arena.ofShared();
            MemorySegment gone = closed.allocate(8);
            closed.close();
            assertThatIllegalStateException().isThrownBy(() -> way.apply(gone).apply(pair.domain))
                    .withMessageContaining("arena");
            MemorySegment mine = confined.allocate(8);
            Throwable[] thrown = new Throwable[1];
            Thread other = new Thread(() -> way.apply(mine).apply(pair.domain));
            other.setUncaughtExceptionHandler((thread, throwable) -> thrown[0] = throwable);
            other.start();
            other.join();
            assertThat(thrown[0]).isInstanceOf(WrongThreadException.class).hasMessageContaining("confined arena");
            way.apply(mine).apply(pair.domain).close();
        }
    }

    @Test
    void attributesAreValuesThatAreChecked() {
        MemorySegment memory = Arena.ofAuto().allocate(8);
        MemoryRegionAttributes none = MemoryRegionAttributes.of(memory);
        MemoryRegionAttributes full = none.access(Access.WRITE, Access.WRITE).requestedKey(KEY).persistent();

        assertThat(none.access()).isEmpty();
        assertThat(none.requestedKey()).isEmpty();
        assertThat(none.isPersistent()).isFalse();
        assertThat(full.access()).containsExactly(Access.WRITE);
        assertThat(full.requestedKey()).hasValue(KEY);
        assertThat(full.isPersistent()).isTrue();
        assertThat(full.toString()).doesNotContain(Long.toString(KEY));
        assertThatIllegalArgumentException().isThrownBy(MemoryRegionAttributes::of);
        try (Pair pair = new Pair("shm"); Pair other = new Pair("shm")) {
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(none))
                    .withMessageContaining("at least one access right");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.domain.register(none.access(Access.WRITE).endpoint(other.endpoint)))
                    .withMessageContaining("another domain");
            pair.domain.register(none.access(Access.WRITE).endpoint(pair.endpoint)).close();
        }
    }

    @Test
    void memoryWhoseArenaIsClosedIsNotRefreshedButTheRegionCloses() {
        try (Pair pair = new Pair("shm")) {
            Arena arena = Arena.ofShared();
            MemoryRegion region = pair.domain.register(
                    MemoryRegionAttributes.of(arena.allocate(LENGTH), arena.allocate(LENGTH)).access(Access.WRITE));
            arena.close();

            assertThatIllegalStateException().isThrownBy(region::refresh).withMessageContaining("arena");
            assertThatIllegalStateException().isThrownBy(() -> region.parts().getLast().refresh(0, 1))
                    .withMessageContaining("arena");
            region.close();
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryRegionMode.class)
    void everyDemandOfAProviderIsMetOrRefusedByName(MemoryRegionMode mode) {
        NativeFabricInfo shm = NativeFabricInfo.of(TestProviders.info("shm"));
        FabricInfo demanding = shm.with(Forged.demanding(shm.handle(), mode.bit()));
        try (Fabric fabric = Libfabric.load().openFabric(demanding)) {
            if (mode.isHandled()) {
                fabric.openDomain().close();
            } else {
                assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(fabric::openDomain)
                        .withMessageContaining("[" + mode + "]").withMessageContaining("provider shm");
            }
        }
        assertThat(MemoryRegionMode.setOf(mode.bit())).containsExactly(mode);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void softwareProvidersDemandVirtualAddressesAtMostAndDevicesTheirKeysAndMemoryThatIsThere(String provider) {
        Set<MemoryRegionMode> demanded = TestProviders.info(provider).domain().memoryRegionMode();

        if (provider.startsWith("verbs")) {
            assertThat(demanded).containsExactlyInAnyOrder(MemoryRegionMode.VIRT_ADDR, MemoryRegionMode.PROV_KEY,
                    MemoryRegionMode.ALLOCATED, MemoryRegionMode.LOCAL);
        } else {
            assertThat(demanded).isSubsetOf(MemoryRegionMode.VIRT_ADDR);
        }
    }

    @Test
    void aLimitOfLockedMemoryIsNamed() {
        for (int errno : new int[]{1, 12}) {
            assertThat(Status.exception(-errno, "fi_mr_regattr", "any")).hasMessageContaining("ulimit -l");
            assertThat(Status.exception(-errno, "fi_endpoint", "any").getMessage()).doesNotContain("ulimit");
        }
    }

    @Test
    void memoryThatTheKernelCannotLockIsNamed() {
        assertThat(Status.exception(-14, "fi_mr_reg", "verbs")).hasMessageContainingAll("READ_WRITE", "PRIVATE",
                "file system");
        assertThat(Status.exception(-14, "fi_endpoint", "verbs").getMessage()).doesNotContain("lock");
    }

    @Test
    void aRegistrationThatGetsNoMemoryNamesThatCauseToo() {
        for (String call : new String[]{"fi_mr_reg", "fi_mr_regv", "fi_mr_regattr"}) {
            assertThat(Status.exception(-12, call, "any")).hasMessageContainingAll(call, "no memory left");
        }
    }
}
