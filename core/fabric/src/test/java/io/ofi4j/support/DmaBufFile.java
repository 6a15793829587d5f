package io.ofi4j.support;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file in memory, mapped, and where the kernel has {@code /dev/udmabuf} the DMA-buf that it makes of one. */
@SuppressWarnings("restricted")
public final class DmaBufFile implements AutoCloseable {
    private static final Path DEVICE = Path.of("/dev/udmabuf");

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_SHRINK = 2;
    private static final int O_RDWR = 2;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    /** {@code _IOW('u', 0x42, struct udmabuf_create)}: the descriptor, flags, offset and size, of 24 bytes. */
    private static final long UDMABUF_CREATE = 0x40187542L;
    private static final long CREATE_LENGTH = 24;

    private final int descriptor;
    private final MemorySegment memory;
    private boolean isOpen = true;

    private DmaBufFile(int descriptor, long length) {
        this.descriptor = descriptor;
        long address = Downcalls.callForLong(LibC.function("mmap"), 0, length, PROT_READ_WRITE, MAP_SHARED, descriptor,
                0);
        if (address == -1) { throw new AssertionError("mmap of descriptor " + descriptor + " failed"); }
        this.memory = MemorySegment.ofAddress(address).reinterpret(length);
    }

    /** A plain one, which is no DMA-buf. */
    public static DmaBufFile inMemory(long length) {
        return new DmaBufFile(memfd(length), length);
    }

    /** Why {@link #exported} would fail; empty if it would not. */
    public static String whyNoDmaBuf() {
        return Files.isWritable(DEVICE) ? "" : "this kernel has no " + DEVICE + ", which makes DMA-bufs of memory";
    }

    /** A DMA-buf of so many bytes, whole pages. */
    public static DmaBufFile exported(long length) {
        int file = memfd(length);
        int device = -1;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(DEVICE.toString());
            device = Downcalls.callForInt(LibC.function("open"), name, O_RDWR);
            MemorySegment create = arena.allocate(CREATE_LENGTH, Long.BYTES);
            create.set(JAVA_INT, 0, file);
            create.set(JAVA_LONG, CREATE_LENGTH - Long.BYTES, length);
            int buffer = Downcalls.callForInt(LibC.function("ioctl"), device, UDMABUF_CREATE, create);
            if (buffer < 0) { throw new AssertionError(DEVICE + " made no DMA-buf"); }
            return new DmaBufFile(buffer, length);
        } finally {
            Descriptors.close(device);
            Descriptors.close(file);
        }
    }

    private static int memfd(long length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom("ofi4j");
            int file = Downcalls.callForInt(LibC.function("memfd_create"), name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
            int status = Downcalls.callForInt(LibC.function("ftruncate"), file, length)
                    | Downcalls.callForInt(LibC.function("fcntl"), file, F_ADD_SEALS, F_SEAL_SHRINK);
            if (file < 0 || status != 0) { throw new AssertionError("no file in memory"); }
            return file;
        }
    }

    public int descriptor() { return descriptor; }

    /** Its bytes. */
    public MemorySegment memory() { return memory; }

    public void closeDescriptor() {
        isOpen = false;
        Descriptors.close(descriptor);
    }

    @Override
    public void close() {
        Downcalls.callForInt(LibC.function("munmap"), memory.address(), memory.byteSize());
        if (isOpen) { closeDescriptor(); }
    }
}
