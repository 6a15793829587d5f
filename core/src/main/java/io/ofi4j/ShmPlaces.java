package io.ofi4j;

import io.ofi4j.internal.AvOps;
import io.ofi4j.internal.Handle;
import java.util.List;

/**
 * The places of an shm address vector, which it gives out in turn. An endpoint keeps, for as long as it is open,
 * what it agreed on with the peer whose place it was; the next one with that place would be taken for it, and the first
 * operation to it would end the JVM. So while endpoints are bound, no place is given twice.
 */
final class ShmPlaces {
    private static final byte OTHER_PREFIX = 'o';
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

    /**
     * Removes an endpoint of this process that is about to be closed; what fi_av_remove says. libfabric 1.x gives the place that
     * it gave last anew as soon as it is free. So the endpoint, by another name, takes the next one meanwhile, which no
     * endpoint has agreed on anything about.
     */
    static int remove(Handle vector, AddressVector.Entry entry) {
        if (Libfabric.load().version().major() >= 2) {
            return AvOps.fi_av_remove(vector, entry.fabricAddress);
        }
        byte[] name = entry.address.toBytes();
        name[0] = OTHER_PREFIX; // what stands before :// is not looked at
        AvOps.Inserted next = AvOps.fi_av_insert(vector, List.of(name));
        int status = AvOps.fi_av_remove(vector, entry.fabricAddress);
        if (next.has(0)) {
            AvOps.fi_av_remove(vector, next.addresses()[0]);
        }
        return status;
    }

    /** @param strangers how many more endpoints may have a place, because they have sent something */
    boolean isNextSafe(int strangers) {
        return !anyFree || given + strangers < COUNT; // where none is free the provider refuses by itself
    }
}
