package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * The memory of an shm endpoint of this process that stays mapped when the endpoint is closed, for others of this process that
 * still look into it.
 */
public final class ShmMapping {
    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    /** The part of the memory in which the provider notes how large all of it is. */
    private static final long HEADER = 512;
    /** What another process takes, after it has found the file, to read from it how large it is; a hundred times over. */
    private static final long NANOS_TO_MAP = 1_000_000;

    private final long address;
    private final long length;

    private ShmMapping(long address, long length) {
        this.address = address;
        this.length = length;
    }

    /**
     * Makes fi_close leave an endpoint's memory mapped. The provider unmaps as many bytes as the memory itself says it has, and
     * is told that there are none; the file goes first, lest another process maps so many.
     *
     * @param file the endpoint's
     * @return what stays, to be released by the caller; nothing where the memory does not say how large it is in one place
     */
    @SuppressWarnings("restricted")
    public static Optional<ShmMapping> keep(Path file) {
        try {
            long size = Files.size(file);
            Optional<ShmMapping> mapping = find(file, size);
            if (mapping.isEmpty()) {
                return mapping;
            }
            MemorySegment header = MemorySegment.ofAddress(mapping.get().address).reinterpret(Math.min(HEADER, size));
            long[] places = LongStream.range(0, header.byteSize() / Long.BYTES)
                    .filter(place -> header.getAtIndex(JAVA_LONG, place) == size).toArray();
            if (places.length != 1) {
                return Optional.empty();
            }
            Files.deleteIfExists(file);
            LockSupport.parkNanos(NANOS_TO_MAP);
            header.setAtIndex(JAVA_LONG, places[0], 0);
            return mapping;
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The whole file in one piece, as the provider maps it: "address-end rights offset device inode file". */
    private static Optional<ShmMapping> find(Path file, long size) throws IOException {
        for (String line : Files.readAllLines(MAPPINGS, StandardCharsets.ISO_8859_1)) {
            if (line.endsWith(" " + file)) {
                int dash = line.indexOf('-');
                long address = Long.parseUnsignedLong(line, 0, dash, 16);
                long length = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16) - address;
                if (length == NativeMemory.wholePages(size)) {
                    return Optional.of(new ShmMapping(address, length));
                }
            }
        }
        return Optional.empty();
    }

    /** Unmaps it, once nobody looks into it any more. */
    public void release() {
        NativeMemory.unmap(address, length);
    }
}
