package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.ofi4j.support.DmaBufFile;
import io.ofi4j.support.FaultTarget;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.concurrent.locks.LockSupport;

/** A process whose DMA-buf others write and read. It prints {@code filled} once every byte is {@link #CONTENT}. */
final class DmaBufTarget {
    static final int LENGTH = 1 << 20;
    static final byte CONTENT = 7;

    private DmaBufTarget() {}

    /** Argument: the provider. */
    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        Fabric fabric = libfabric.openFabric(libfabric.info(DmaBufTest.hints(arguments[0])).getFirst());
        Domain domain = fabric.openDomain();
        DmaBufFile file = DmaBufFile.exported(LENGTH);
        MemoryRegion region = domain.register(MemoryRegionAttributes.of(file.memory()).dmaBuf(file.descriptor(), 0)
                .access(Access.REMOTE_WRITE, Access.REMOTE_READ));
        Thread.ofPlatform().daemon().start(() -> watch(file.memory()));
        FaultTarget.serve(fabric, domain, HexFormat.of().formatHex(region.remote().encode()));
    }

    private static void watch(MemorySegment memory) {
        while (!isFilled(memory)) {
            LockSupport.parkNanos(10_000_000);
        }
        System.out.println("filled");
    }

    static boolean isFilled(MemorySegment memory) {
        return memory.elements(JAVA_BYTE).allMatch(one -> one.get(JAVA_BYTE, 0) == CONTENT);
    }
}
