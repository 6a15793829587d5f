package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.DevicePeerToPeer;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.internal.os.DeviceDrivers;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.MethodSource;

/** What a machine without a device can show of device memory: everything up to the device. */
@Timeout(300)
class DeviceMemoryTest {
    private static final int LENGTH = 100_000;
    private static final long SOMEWHERE = 0x7f00_0000_0000L;
    private static final int NO_RIGHTS = 0;

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.HMEM);
    }

    private static boolean claims(String provider) {
        return !Libfabric.load().infoOrNothing(hints(provider)).isEmpty();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void memoryOfTheSystemMovesBesideThatOfDevices(String provider) {
        if (!claims(provider)) {
            assertThatExceptionOfType(NoProviderException.class).isThrownBy(() -> TestProviders.info(hints(provider)))
                    .withMessageContaining("HMEM");
            return;
        }
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ);
                MemoryRegion back = pair.domain.allocate(LENGTH, Access.READ)) {
            source.segment().fill((byte) 9);
            pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
            pair.awaitToken(1);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return target.segment().mismatch(source.segment()) == -1;
            }, Pair.DEADLINE);
            pair.rma().read(back.slice(0, LENGTH), pair.far, target.remote(), 2);
            pair.awaitToken(2);
            assertThat(back.segment().mismatch(source.segment())).isEqualTo(-1);
        }
    }

    @Test
    void theDemandOfDeviceMemoryIsMetOnlyWhereItIsAskedFor() {
        assertThat(TestProviders.info("shm").domain().memoryRegionMode()).doesNotContain(MemoryRegionMode.HMEM);
        assertThat(TestProviders.info(hints("shm")).domain().memoryRegionMode()).contains(MemoryRegionMode.HMEM);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "SYSTEM")
    void aDeviceThatIsNotThereIsRefusedByName(DeviceInterface device) {
        assumeFalse(Stream.of("/dev/nvidia0", "/dev/kfd", "/dev/dri", "/dev/neuron0", "/dev/accel").map(Path::of)
                .anyMatch(Files::exists), "this machine may have such a device");
        try (Pair pair = new Pair(hints("shm"))) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> pair.domain.register(attributes(device)))
                    .withMessageContaining("memory of " + device).withMessageContaining(
                            DeviceDrivers.isInstalled(device) ? "no such device" : DeviceDrivers.library(device));
            assertThat(pair.domain.statistics().regions()).isZero();
        }
    }

    private static MemoryRegionAttributes attributes(DeviceInterface device) {
        return MemoryRegionAttributes.ofDevice(device, 0, SOMEWHERE, LENGTH).access(Access.WRITE);
    }

    @Test
    void aDomainWithoutTheCapabilityTakesNoDevicesMemory() {
        try (Pair pair = new Pair("shm")) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> pair.domain.register(attributes(DeviceInterface.CUDA)))
                    .withMessageContaining("Capability.HMEM");
        }
    }

    /** A device's memory has addresses in this process, as memory without rights has: to read it ends the process. */
    @Test
    @SuppressWarnings("restricted")
    void memoryThatThisProcessCannotReadIsRefusedAsMemoryOfTheSystem() {
        long length = NativeMemory.wholePages(LENGTH);
        long address = NativeMemory.map(length);
        assertThat(Downcalls.callForInt(LibC.function("mprotect"), address, length, NO_RIGHTS)).isZero();
        try (Pair pair = new Pair("shm")) {
            MemorySegment hidden = MemorySegment.ofAddress(address).reinterpret(LENGTH);
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(hidden, Access.WRITE))
                    .withMessageContainingAll("cannot read the memory at 0x" + Long.toHexString(address), "ofDevice");
            assertThat(pair.domain.statistics().regions()).isZero();
        } finally {
            NativeMemory.unmap(address, length);
        }
    }

    @Test
    void onlyMemoryOfADeviceIsTheDevicesAlone() {
        assertThat(attributes(DeviceInterface.CUDA).isDeviceOnly()).isFalse();
        assertThat(attributes(DeviceInterface.CUDA).deviceOnly().isDeviceOnly()).isTrue();
        MemoryRegionAttributes ofSystem = MemoryRegionAttributes.of(Arena.global().allocate(64));
        assertThatIllegalArgumentException().isThrownBy(ofSystem::deviceOnly).withMessageContaining("ofDevice");
    }

    @Test
    void whatIsNoDevicesMemoryIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryRegionAttributes.ofDevice(DeviceInterface.SYSTEM, 0, SOMEWHERE, LENGTH))
                .withMessageContaining("of(...)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, -1, SOMEWHERE, LENGTH))
                .withMessageContaining("-1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, 0, 0, LENGTH))
                .withMessageContaining("address 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, 0, SOMEWHERE, 0))
                .withMessageContaining("at least 1 byte");
        MemoryRegionAttributes attributes = attributes(DeviceInterface.ROCR);
        assertThat(attributes.deviceInterface()).isEqualTo(DeviceInterface.ROCR);
        assertThat(attributes.segments()).singleElement().matches(segment -> segment.byteSize() == 0);
        assertThat(new RemoteRegion(0, 1, 2, Access.REMOTE_READ.bit(), MemoryKind.DEVICE).toString())
                .contains("DEVICE");
    }

    static Stream<String> withDeviceMemory() { return TestProviders.rma().filter(DeviceMemoryTest::claims); }

    @ForEachProvider
    @MethodSource("withDeviceMemory")
    void thePathToADeviceCanBeChosenOrIsRefusedByName(String provider) {
        try (Pair pair = new Pair(hints(provider))) {
            try {
                pair.endpoint.options().set(EndpointOption.DEVICE_PEER_TO_PEER, DevicePeerToPeer.DISABLED);
                assertThat(pair.endpoint.options().get(EndpointOption.DEVICE_PEER_TO_PEER))
                        .isEqualTo(DevicePeerToPeer.DISABLED);
            } catch (UnsupportedOperationException e) {
                assertThat(e).hasMessageContainingAll("FI_HMEM_P2P", provider);
            }
            try {
                pair.endpoint.options().set(EndpointOption.CUDA_API_PERMITTED, false);
            } catch (UnsupportedOperationException e) {
                assertThat(e).hasMessageContainingAll("CUDA_API_PERMITTED", provider);
            } catch (FabricException e) { // of libfabric 2, where there is no CUDA device
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                assertThat(e).hasMessageContainingAll("CUDA_API_PERMITTED", provider);
            }
        }
    }
}
