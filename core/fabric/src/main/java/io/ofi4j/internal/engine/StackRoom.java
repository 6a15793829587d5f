package io.ofi4j.internal.engine;

/**
 * Stack for a call that opens or closes something. A StackOverflowError between the native call and the Java object
 * that knows of it would leave a native object that nobody closes, or a closed one that counts as open. It therefore
 * comes before anything is done. Not for the data path.
 */
public final class StackRoom {
    /** Twice what the deepest open or close needs with its rollback: 28 KB where it is compiled, 64 KB where not. */
    private static final int FRAMES = 160;

    /** What a frame holds across a call, so that it has a known size also where it is compiled. */
    private static final long[] WORDS = new long[16];

    private StackRoom() {}

    /** Throws StackOverflowError if too little of this thread's stack is left. */
    public static void require() {
        descend(WORDS, FRAMES);
    }

    private static long descend(long[] words, int frames) {
        long a = words[0];
        long b = words[1];
        long c = words[2];
        long d = words[3];
        long e = words[4];
        long f = words[5];
        long g = words[6];
        long h = words[7];
        long i = words[8];
        long j = words[9];
        long k = words[10];
        long l = words[11];
        long m = words[12];
        long n = words[13];
        long o = words[14];
        long p = words[15];
        long below = frames == 0 ? 0 : descend(words, frames - 1);
        return below + a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p;
    }
}
