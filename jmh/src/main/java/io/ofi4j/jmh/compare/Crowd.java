package io.ofi4j.jmh.compare;

/** Reads of several processes from one, through the public API; what {@code crowd.c} does. */
final class Crowd {
    private static final int TURNS = 256;

    private final World world;

    Crowd(World world) { this.world = world; }

    /** Serves the operations of others until there is another command. */
    void serve() {
        do {
            for (int turn = 0; turn < TURNS; turn++) {
                world.pollQueue();
            }
        } while (!Commands.isNext());
    }

    /**
     * Reads 8 bytes of another process, so many reads in flight, for so long; how many have completed.
     *
     * @param yields whether to wait for room as {@code Rma.read} does, and to yield after a poll that finds nothing
     */
    long read(long window, boolean yields, long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        long before = world.completed;
        do {
            for (int turn = 0; turn < TURNS; turn++) {
                while (world.posted - world.completed < window && post(yields)) {
                    world.posted++;
                }
                if (world.pollQueue() == 0 && yields) { Thread.yield(); }
            }
        } while (System.nanoTime() - end < 0);
        return world.completed - before;
    }

    private boolean post(boolean waits) {
        if (!waits) {
            return world.rma.tryRead(world.local, 0, Long.BYTES, world.other, world.otherMailbox, 0, world.posted);
        }
        world.rma.read(world.local.slice(0, Long.BYTES), world.other, world.otherMailbox, world.posted);
        return true;
    }
}
