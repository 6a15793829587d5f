package io.ofi4j.support;

/** Fills the heap with garbage all the time, so that the collector moves what it may. */
public final class Garbage {
    private static final int SLOTS = 256;
    private static final int CHUNK = 16 * 1024;

    /** Some of it lives for a while, and is copied. */
    private static final byte[][] ALIVE = new byte[SLOTS][];

    private Garbage() {}

    public static void start() {
        Thread.ofPlatform().daemon().name("garbage").start(() -> {
            for (int i = 0;; i = (i + 1) % SLOTS) {
                ALIVE[i] = new byte[CHUNK + i];
                Thread.yield();
            }
        });
    }
}
