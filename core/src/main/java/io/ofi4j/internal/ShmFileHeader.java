package io.ofi4j.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;

/**
 * What the file of an shm endpoint begins with (struct smr_region), as far as the versions of libfabric agree: the layout's number,
 * the process, how large it all is, and behind that where what stands, the file's own name among it.
 *
 * @param layout grows with the versions
 * @param process its number, as its own container knows it; 0 until all is there
 */
record ShmFileHeader(int layout, int process) {
    /** Of libfabric 1.17 and of 2.1, and where these say how large the file is. */
    static final int LAYOUT_OF_1_17 = 4;
    static final int LAYOUT_OF_2_1 = 8;
    private static final int SIZE_AT_OF_1_17 = 40;
    private static final int SIZE_AT_OF_2_1 = 72;

    private static final int VERSION_1_17 = 1 << 16 | 17;
    private static final int VERSION_2_1 = 2 << 16 | 1;
    private static final int LENGTH = 512;
    private static final int PROCESS_AT = 4;
    /** So far behind the size stands where the name is, at most. */
    private static final int PLACES = 12 * Long.BYTES;
    private static final int NAME_FROM_END = 512;

    /** Of a file; nothing where it is none of an endpoint that is ready, or this process may not know. */
    static Optional<ShmFileHeader> of(Path file) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer header = read(channel, 0, LENGTH);
            return header.remaining() == LENGTH && hasName(channel, header, file.getFileName().toString())
                    ? Optional.of(new ShmFileHeader(header.get(0), header.getInt(PROCESS_AT)))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether others may use it: all is there, in the layout of this process's libfabric. */
    boolean isReady() {
        return process != 0 && (layoutHere() == 0 || layout == layoutHere());
    }

    /** Whether there is a file in which something stands where an endpoint's says its process, as it does last of all. */
    static boolean hasProcess(Path file) {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer header = read(channel, 0, LENGTH);
            return header.remaining() == LENGTH && header.getInt(PROCESS_AT) != 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static ByteBuffer read(FileChannel channel, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        channel.read(bytes, offset);
        return bytes.flip();
    }

    /** Whether the header says how large the file is, and behind that where the file's own name stands. */
    private static boolean hasName(FileChannel channel, ByteBuffer header, String name) throws IOException {
        long size = channel.size();
        byte[] expected = (name + '\0').getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < LENGTH - PLACES; at += Long.BYTES) {
            for (int place = at + Long.BYTES; header.getLong(at) == size && place <= at + PLACES; place += Long.BYTES) {
                long nameAt = header.getLong(place);
                if (nameAt > 0 && nameAt <= size - expected.length
                        && Arrays.equals(expected, read(channel, nameAt, expected.length).array())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The number of the layout of this process's libfabric; 0 where it is not known here. */
    static int layoutHere() {
        return switch (FabricCalls.fi_version()) {
            case VERSION_1_17 -> LAYOUT_OF_1_17;
            case VERSION_2_1 -> LAYOUT_OF_2_1;
            default -> 0;
        };
    }

    /**
     * Writes what is at least known of an endpoint that will be: the provider takes such a file for one of a process that has ended,
     * and so does who looks for those if this process ends now.
     */
    static void write(NativeFile file, long size, Path name) {
        int sizeAt = layoutHere() == LAYOUT_OF_2_1 ? SIZE_AT_OF_2_1 : SIZE_AT_OF_1_17;
        ByteBuffer header = ByteBuffer.allocate(sizeAt + 2 * Long.BYTES).order(ByteOrder.nativeOrder());
        header.put(0, (byte) layoutHere()).putLong(sizeAt, size).putLong(sizeAt + Long.BYTES, size - NAME_FROM_END);
        file.write(name.getFileName().toString().getBytes(StandardCharsets.UTF_8), size - NAME_FROM_END);
        file.write(header.array(), 0);
    }
}
