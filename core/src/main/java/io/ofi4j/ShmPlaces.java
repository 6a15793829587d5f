package io.ofi4j;

/**
 * The places of an shm address vector of libfabric 2.x, which it gives out in turn. An endpoint keeps, for as long as it is open,
 * what it agreed on with the peer whose place it was; the next one with that place would be taken for it, and the first
 * operation to it would end the JVM. So while endpoints are bound, no place is given twice.
 */
final class ShmPlaces {
    static final int COUNT = 256;

    /** How many were given since the last time that no endpoint was bound; used under the vector's monitor. */
    private int given;
    private boolean anyFree;

    /** No endpoint is bound, so that nothing is remembered. */
    void restart(int taken) {
        given = taken;
        anyFree = false;
    }

    void give() {
        given++;
    }

    void free() {
        anyFree = true;
    }

    /** @param strangers how many more endpoints may have a place, because they have sent something */
    boolean isNextSafe(int strangers) {
        return !anyFree || given + strangers < COUNT; // where none is free the provider refuses by itself
    }
}
