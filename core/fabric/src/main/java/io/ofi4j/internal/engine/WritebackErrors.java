package io.ofi4j.internal.engine;

import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.observe.LockOrder;
import io.ofi4j.internal.os.FileMappings;
import io.ofi4j.internal.os.NativeFile;
import io.ofi4j.internal.os.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Whether bytes of a file could not be written to its device since a region was mapped from it. Linux tells such an
 * error once to each open file, and takes the bytes for written afterwards: a second msync(2) succeeds, although they
 * are lost. An error that any region of this process has met therefore stays for all regions of the file. A descriptor
 * that nobody else has finds those that others were told: another process, or the program's channel, which shares the
 * open file with the mapping. All regions of a file share the descriptor. If the file cannot be opened again, for
 * example because it has no name any more, errors are known only from calls that failed.
 *
 * <p>A file that has failed is trusted again when a region is mapped from pages that the system has read anew. In those
 * that it still has, ext4 (Linux 6.18) loses even bytes that are written again, and msync(2) succeeds: the pages seem
 * to have their place on the disk. {@code FailingDiskTest} shows that. Any thread may call.
 */
public final class WritebackErrors implements AutoCloseable {
    /** The files of open regions, and those that have failed. */
    private static final Map<String, MappedFile> FILES = new ConcurrentHashMap<>();

    /** A mapped file of this process. */
    private static final class MappedFile {
        /** A descriptor that nobody else uses; empty if the file cannot be opened again, or has no open region. */
        Optional<NativeFile> descriptor = Optional.empty();
        /** The number of open regions; changed inside the map's computations, as the descriptor is. */
        int regions;
        private long failures;

        /** The number of failures until now. */
        synchronized long failures() {
            assert LockOrder.taken(LockOrder.Rank.LEAF, this);
            if (descriptor.filter(own -> own.writebackError() != 0).isPresent()) { failures++; }
            return failures;
        }

        synchronized void noteFailure() {
            assert LockOrder.taken(LockOrder.Rank.LEAF, this);
            failures++;
        }
    }

    private final String name;
    private final MappedFile file;
    /** The number of failures of the file before the region was mapped. */
    private final long before;
    /** Where the memory begins in the file. */
    private final long place;
    /** Changed under the monitor of the file. */
    private boolean closed;

    private WritebackErrors(String name, MappedFile file, long before, long place) {
        this.place = place;
        this.name = name;
        this.file = file;
        this.before = before;
    }

    /**
     * Those of the file that memory is mapped from, from now on. Call it before anything has touched the memory; empty
     * if the memory is not mapped from a file on a disk.
     */
    public static Optional<WritebackErrors> of(MemorySegment memory, MemoryKind kind) {
        boolean isOnDisk = memory.isMapped() && (kind == MemoryKind.FILE || kind == MemoryKind.PERSISTENT);
        return isOnDisk ? Optional.of(of(memory.address(), memory.byteSize())) : Optional.empty();
    }

    private static WritebackErrors of(long address, long length) {
        Optional<FileMappings.Mapping> mapping = FileMappings.at(address);
        Optional<NativeFile> opened = mapping.flatMap(NativeFile::openAgain);
        String name = name(mapping.map(FileMappings.Mapping::file).orElse("mapped at " + address), opened);
        boolean[] isFirst = new boolean[1];
        MappedFile file = FILES.compute(name, (_, known) -> {
            MappedFile one = known == null ? new MappedFile() : known;
            isFirst[0] = one.regions++ == 0;
            if (isFirst[0]) { one.descriptor = opened; }
            return one;
        });
        if (!isFirst[0]) { opened.ifPresent(NativeFile::close); }
        // Linux tells a new descriptor of an error that nobody has seen yet: that one is the region's, too.
        long failures = isFirst[0] ? file.failures : file.failures();
        boolean isReadAnew = failures == 0 || file.descriptor
                .filter(own -> own.dropPages() && !NativeMemory.isAnyPresent(address, length)).isPresent();
        return new WritebackErrors(name, file, isReadAnew ? failures : 0,
                mapping.map(known -> known.placeOf(address)).orElse(0L));
    }

    /** A later file may have the number of a deleted one. One that cannot be opened again is the one that is known. */
    private static String name(String number, Optional<NativeFile> opened) {
        String beginning = number + " of ";
        return opened.map(own -> beginning + own.birth())
                .or(() -> FILES.keySet().stream().filter(known -> known.startsWith(beginning)).findFirst())
                .orElse(number);
    }

    /** Notes that the system has refused to write bytes of the region. */
    public void noteFailure() {
        file.noteFailure();
    }

    /** Whether any bytes of the file could not be written since the region was mapped; false once it is closed. */
    public boolean haveOccurred() {
        synchronized (file) {
            return !closed && file.failures() != before;
        }
    }

    /** Whether the file was made shorter than a range of the memory, whose last bytes are then in no file. */
    public boolean isCutOff(long offset, long bytes) {
        synchronized (file) {
            return !closed && bytes > 0
                    && file.descriptor.filter(own -> own.size() < place + offset + bytes).isPresent();
        }
    }

    /** Called when the region is closed; a second call does nothing. */
    @Override
    public void close() {
        synchronized (file) {
            if (closed) { return; }
            closed = true;
        }
        FILES.computeIfPresent(name, (_, known) -> {
            if (--known.regions > 0) { return known; }
            known.descriptor.ifPresent(NativeFile::close);
            known.descriptor = Optional.empty();
            return known.failures == 0 ? null : known;
        });
    }
}
