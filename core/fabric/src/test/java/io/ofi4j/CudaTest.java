package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.info.Capability;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.CudaDriver;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Memory of a CUDA device, where there is one: from and to the host, to another buffer of the device, and to a file.
 */
@Timeout(300)
class CudaTest {
    private static final int LENGTH = 1 << 20;

    private CudaDriver cuda;
    private Arena arena;
    private MemorySegment bytes;

    static Stream<String> providers() {
        return TestProviders.rma().filter(provider -> !Libfabric.load().infoOrNothing(hints(provider)).isEmpty());
    }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.HMEM);
    }

    @BeforeEach
    void open() {
        String whyNot = CudaDriver.whyNot();
        assumeTrue(whyNot.isEmpty(), whyNot);
        cuda = CudaDriver.open();
        arena = Arena.ofConfined();
        bytes = arena.allocate(LENGTH);
        for (int at = 0; at < LENGTH; at++) {
            bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (at * 31 >> 3));
        }
    }

    @AfterEach
    void close() {
        if (cuda == null) { return; }
        arena.close();
        cuda.close();
    }

    /** A region of the device, or an end of the test where this libfabric was built without CUDA. */
    private MemoryRegion region(Pair pair, long pointer, Access... access) {
        try {
            return pair.domain
                    .register(MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, 0, pointer, LENGTH).access(access));
        } catch (UnsupportedOperationException e) {
            assertThat(e).hasMessageContaining("CUDA memory");
            assumeTrue(false, e.getMessage());
            throw e;
        }
    }

    private void write(Pair pair, MemoryRegion source, MemoryRegion target) {
        pair.rma().prepare().peer(pair.far).local(source, 0, LENGTH).remote(target.remote(), 0, LENGTH)
                .flags(OperationFlag.DELIVERY_COMPLETE).write(1);
        pair.awaitToken(1);
    }

    private void assertHas(long pointer) {
        MemorySegment found = arena.allocate(LENGTH);
        cuda.get(found, pointer);
        assertThat(found.mismatch(bytes)).isEqualTo(-1);
    }

    @ForEachProvider
    @MethodSource("providers")
    void theHostMovesMemoryOfTheDevice(String provider) {
        long pointer = cuda.allocate(LENGTH);
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion device = region(pair, pointer, Access.WRITE, Access.REMOTE_WRITE);
                MemoryRegion source = pair.domain.register(bytes, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            assertThat(device.remote().kind()).isEqualTo(MemoryKind.DEVICE);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(device::segment);
            write(pair, source, device);
            assertHas(pointer);
            write(pair, device, target);
            assertThat(target.segment().mismatch(bytes)).isEqualTo(-1);
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(
                    () -> pair.rma().write(source.slice(0, LENGTH), pair.far, device.remote().slice(1, LENGTH), 1));
        }
    }

    @ForEachProvider
    @MethodSource("providers")
    void oneBufferOfTheDeviceIsWrittenToAnother(String provider) {
        long from = cuda.allocate(LENGTH);
        long to = cuda.allocate(LENGTH);
        cuda.put(from, bytes);
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion source = region(pair, from, Access.WRITE);
                MemoryRegion target = region(pair, to, Access.REMOTE_WRITE)) {
            write(pair, source, target);
            assertHas(to);
        }
    }

    @ForEachProvider
    @MethodSource("providers")
    void aFileIsWrittenFromTheDeviceAndBack(String provider) throws IOException {
        Path path = Files.write(Path.of("target", "cuda-test-" + System.nanoTime()), new byte[LENGTH]);
        long from = cuda.allocate(LENGTH);
        long to = cuda.allocate(LENGTH);
        cuda.put(from, bytes);
        try (Pair pair = new Pair(hints(provider));
                MemoryRegion source = region(pair, from, Access.WRITE);
                MemoryRegion target = region(pair, to, Access.REMOTE_WRITE);
                MemoryRegion file = pair.domain.map(path, MapMode.READ_WRITE, 0, LENGTH, Access.WRITE,
                        Access.REMOTE_WRITE)) {
            write(pair, source, file);
            file.force();
            assertThat(Files.readAllBytes(path)).isEqualTo(bytes.toArray(ValueLayout.JAVA_BYTE));
            write(pair, file, target);
            assertHas(to);
        } finally {
            Files.delete(path);
        }
    }
}
