package io.ofi4j.hostile;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/**
 * Pieces of a file, each in a slot of its own, with a place, a length and bytes that follow from its number: whoever
 * knows the numbers can check them all, in any process and at any time.
 */
final class HostilePieces {
    static final int SLOT = 16 << 10;
    private static final int[] LENGTHS = {1, 8, 64, 192, 193, 1024, 4095, 4096, 4097, 8192, 16_383, SLOT};
    private static final long STRANGE = 0x9e37_79b9_7f4aL;

    private HostilePieces() {}

    /** Makes a file for so many pieces, with zeros. Where it is, is no tmpfs if the checkout is on none. */
    static Path file(int pieces) throws IOException {
        Path file = Files.createTempFile(Path.of("target"), "hostile-pieces-", ".file");
        resize(file, pieces);
        return file;
    }

    /** Gives a file room for so many pieces. */
    static void resize(Path file, int pieces) throws IOException {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            content.setLength((long) pieces * SLOT);
        }
    }

    private static Random random(int number) { return new Random(number * STRANGE); }

    static int length(int number) {
        Random random = random(number);
        return random.nextBoolean() ? LENGTHS[random.nextInt(LENGTHS.length)] : 1 + random.nextInt(SLOT);
    }

    /** Its place in the file: at any byte of its slot. */
    static long offset(int number) {
        return (long) number * SLOT + random(number).nextInt(SLOT - length(number) + 1);
    }

    static byte[] bytes(int number) {
        byte[] bytes = new byte[length(number)];
        random(~number).nextBytes(bytes);
        return bytes;
    }

    /** Fails unless the file has the piece, byte for byte. */
    static void require(MemorySegment file, int number, String after) {
        long wrong = file.asSlice(offset(number), length(number)).mismatch(MemorySegment.ofArray(bytes(number)));
        if (wrong >= 0) {
            throw new AssertionError("piece " + number + " of " + length(number) + " bytes at " + offset(number)
                    + " is not in the file, from byte " + wrong + " on, " + after);
        }
    }
}
