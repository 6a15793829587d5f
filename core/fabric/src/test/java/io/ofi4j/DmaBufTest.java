package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.DmaBufs;
import io.ofi4j.support.DmaBufFile;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Memory of DMA-bufs: what is none is refused, and where the kernel makes them of memory of its own, bytes go through
 * them.
 */
@Timeout(300)
class DmaBufTest {
    private static final int LENGTH = 1 << 16;

    static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.HMEM);
    }

    static Stream<String> withDeviceMemory() {
        return TestProviders.rma().filter(provider -> !Libfabric.load().infoOrNothing(hints(provider)).isEmpty());
    }

    private static boolean isVersion2() { return Libfabric.load().version().major() >= 2; }

    @Test
    void aDescriptorThatIsNoDmaBufIsNamed() {
        try (DmaBufFile file = DmaBufFile.inMemory(LENGTH)) {
            assertThat(DmaBufs.describeProblem(file.descriptor())).contains("memfd:", "not a DMA-buf");
            assertThat(DmaBufs.size(file.descriptor())).isEqualTo(LENGTH);
        }
        assertThat(DmaBufs.describeProblem(-1)).isEqualTo("is not open");
        assertThat(DmaBufs.describeProblem(Integer.MAX_VALUE)).isEqualTo("is not open");
    }

    @Test
    void whatIsNoPartOfADmaBufIsRefused() {
        MemoryRegionAttributes attributes = MemoryRegionAttributes.of(Arena.global().allocate(64));
        assertThat(attributes.dmaBuf()).isEmpty();
        assertThat(attributes.dmaBuf(3, 4096).dmaBuf()).hasValue(3);
        assertThat(attributes.dmaBuf(3, 4096).dmaBufOffset()).isEqualTo(4096);
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.dmaBuf(-1, 0)).withMessageContaining("-1");
        assertThatIllegalArgumentException().isThrownBy(() -> attributes.dmaBuf(3, -4096))
                .withMessageContaining("not -4096");
        MemoryRegionAttributes several = MemoryRegionAttributes.of(Arena.global().allocate(64),
                Arena.global().allocate(64));
        assertThatIllegalArgumentException().isThrownBy(() -> several.dmaBuf(3, 0))
                .withMessageContaining("one segment");
    }

    @Test
    void theBoundsAreChecked() {
        Registration.requireInside(0, LENGTH, LENGTH);
        Registration.requireInside(4096, LENGTH - 4096, LENGTH);
        for (long[] wrong : new long[][]{{1, LENGTH}, {0, LENGTH + 1}, {LENGTH, 1}, {Long.MAX_VALUE, 1},
                {Long.MAX_VALUE, Long.MAX_VALUE}}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> Registration.requireInside(wrong[0], wrong[1], LENGTH))
                    .withMessageContaining(LENGTH + " bytes");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void withoutTheCapabilityOrLibfabricTwoItIsRefusedByName(String provider) {
        try (Pair pair = new Pair(provider); DmaBufFile file = DmaBufFile.inMemory(LENGTH)) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> pair.domain.register(attributes(file)))
                    .withMessageContaining(isVersion2() ? "Capability.HMEM" : "libfabric 2.0");
        }
    }

    private static MemoryRegionAttributes attributes(DmaBufFile file) {
        return MemoryRegionAttributes.of(file.memory()).dmaBuf(file.descriptor(), 0).access(Access.REMOTE_WRITE);
    }

    @ForEachProvider
    @MethodSource("withDeviceMemory")
    void whatIsNoDmaBufIsNotRegistered(String provider) {
        try (Pair pair = new Pair(hints(provider)); DmaBufFile file = DmaBufFile.inMemory(LENGTH)) {
            if (!isVersion2()) {
                assertThatExceptionOfType(UnsupportedOperationException.class)
                        .isThrownBy(() -> pair.domain.register(attributes(file))).withMessageContaining("2.0");
                return;
            }
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(attributes(file)))
                    .withMessageContaining("not a DMA-buf");
            MemoryRegionAttributes closed = MemoryRegionAttributes.of(file.memory()).dmaBuf(Integer.MAX_VALUE, 0)
                    .access(Access.REMOTE_WRITE);
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(closed))
                    .withMessageContaining("not open");
            assertThat(pair.domain.statistics().regions()).isZero();
        }
    }

    /**
     * Behind the check: shm takes any descriptor, and copies to where it is mapped, so that the struct can be tried
     * without a DMA-buf. The region begins inside it, so that base and offset both count.
     */
    @Test
    void libfabricFindsTheMemoryInTheStruct() {
        assumeTrue(isVersion2(), "libfabric 1.x has no DMA-bufs");
        int offset = 8192;
        try (Pair pair = new Pair(hints("shm"));
                DmaBufFile file = DmaBufFile.inMemory(LENGTH);
                MemoryRegion source = pair.domain.allocate(4096, Access.WRITE)) {
            MemorySegment part = file.memory().asSlice(offset, 4096);
            OpenResult out = MrOps.fi_mr_regattr(pair.domain.handle(),
                    new MrOps.DeviceMemory(0, 0, part, part.byteSize()), new MrOps.DmaBuf(file.descriptor(), offset),
                    Access.REMOTE_WRITE.bit(), 77, 0);
            assertThat(out.status()).isZero();
            Handle region = out.handle();
            source.segment().fill((byte) 6);
            boolean isVirtual = pair.domain.info().domain().memoryRegionMode().contains(MemoryRegionMode.VIRT_ADDR);
            RemoteRegion remote = new RemoteRegion(isVirtual ? part.address() : 0, 4096, MrOps.fi_mr_key(region),
                    Access.REMOTE_WRITE.bit());
            pair.rma().write(source.slice(0, 4096), pair.far, remote, 1);
            pair.awaitToken(1);
            await(pair, part, (byte) 6);
            assertThat(file.memory().get(JAVA_BYTE, offset - 1)).isZero();
            assertThat(file.memory().get(JAVA_BYTE, offset + 4096)).isZero();
            assertThat(FidOps.fi_close(region)).isZero();
        }
    }

    private static void await(Pair pair, MemorySegment part, byte value) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return part.get(JAVA_BYTE, 0) == value && part.get(JAVA_BYTE, part.byteSize() - 1) == value;
        }, Pair.DEADLINE);
    }

    private static void requireDmaBufs() {
        assumeTrue(isVersion2(), "libfabric 1.x has no DMA-bufs");
        String whyNot = DmaBufFile.whyNoDmaBuf();
        assumeTrue(whyNot.isEmpty(), whyNot);
    }

    /** With memory of the kernel's own, where it makes DMA-bufs of that. */
    @ForEachProvider
    @MethodSource("withDeviceMemory")
    void bytesGoThroughADmaBuf(String provider) {
        requireDmaBufs();
        try (Pair pair = new Pair(hints(provider)); DmaBufFile file = DmaBufFile.exported(LENGTH)) {
            MemoryRegionAttributes whole = attributes(file);
            MemoryRegionAttributes part = MemoryRegionAttributes.of(file.memory().asSlice(4096, 8192))
                    .dmaBuf(file.descriptor(), 4096).access(Access.REMOTE_WRITE);
            try (MemoryRegion target = pair.domain.register(part);
                    MemoryRegion source = pair.domain.allocate(8192, Access.WRITE)) {
                source.segment().fill((byte) 9);
                pair.rma().write(source.slice(0, 8192), pair.far, target.remote(), 1);
                pair.awaitToken(1);
                await(pair, target.segment(), (byte) 9);
                assertThat(file.memory().get(JAVA_BYTE, 4095)).isZero();
            } catch (UnsupportedOperationException e) {
                assertThat(e).hasMessageContaining(provider);
            }
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> pair.domain.register(whole.dmaBuf(file.descriptor(), 4096)));
            file.closeDescriptor();
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(whole))
                    .withMessageContaining("not open");
        }
    }

    @ForEachProvider
    @MethodSource("withDeviceMemory")
    void aDmaBufIsASource(String provider) {
        requireDmaBufs();
        try (Pair pair = new Pair(hints(provider));
                DmaBufFile file = DmaBufFile.exported(LENGTH);
                MemoryRegion source = pair.domain.register(attributes(file).access(Access.WRITE, Access.REMOTE_READ));
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.READ, Access.REMOTE_WRITE)) {
            file.memory().fill(DmaBufTarget.CONTENT);
            pair.rma().read(target.slice(0, LENGTH), pair.far, source.remote(), 1);
            pair.awaitToken(1);
            assertThat(DmaBufTarget.isFilled(target.segment())).as("read by a peer").isTrue();
            target.segment().fill((byte) 0);
            pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 2);
            pair.awaitToken(2);
            await(pair, target.segment(), DmaBufTarget.CONTENT);
        }
    }

    @Tag("gate")
    @ForEachProvider
    @MethodSource("withDeviceMemory")
    void anotherProcessWritesToADmaBuf(String provider) throws IOException {
        requireDmaBufs();
        Forked.Running target = Forked.startBehind(FaultPeer.ELSEWHERE, DmaBufTarget.class, provider);
        String[] ready = target.awaitLine("ready ").split(" ");
        RemoteRegion remote = RemoteRegion.decode(HexFormat.of().parseHex(ready[1]));
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion local = pair.domain.allocate(DmaBufTarget.LENGTH, Access.WRITE, Access.READ)) {
            Peer peer = pair.vector.insert(EndpointAddress.of(HexFormat.of().parseHex(ready[0])));
            local.segment().fill(DmaBufTarget.CONTENT);
            pair.rma().write(local.slice(0, DmaBufTarget.LENGTH), peer, remote, 1);
            pair.awaitToken(1);
            target.awaitLine("filled");
            local.segment().fill((byte) 0);
            pair.rma().read(local.slice(0, DmaBufTarget.LENGTH), peer, remote, 2);
            pair.awaitToken(2);
            assertThat(DmaBufTarget.isFilled(local.segment())).as("read back").isTrue();
        } finally {
            target.process().getOutputStream().close();
            target.await();
        }
    }
}
