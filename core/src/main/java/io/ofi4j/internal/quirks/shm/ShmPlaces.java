package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.quirks.PeerPlaces;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Tested;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/** Sees to it that no place of an shm address vector is given twice while endpoints are bound to the vector. */
final class ShmPlaces extends Quirk {
    static final int COUNT = 256;

    private static final byte OTHER_PREFIX = 'o';

    private final ShmNeighbours neighbours;

    ShmPlaces(ShmNeighbours neighbours) {
        super("shm-places", provider -> provider.is("shm"), Tested.ALL,
                "A vector has 256 places, which it gives out in turn. An endpoint keeps what it has agreed on with the peer at a"
                        + " place; the next peer there is taken for that one, and the first operation to it ends the process.",
                "ShmPlacesTest");
        this.neighbours = neighbours;
    }

    @Override
    protected PeerPlaces places() { return new Places(); }

    /** An expectation only, but the provider refuses a vector that is expected to have more. */
    @Override
    protected long vectorCount(long expected) { return Math.min(expected, COUNT); }

    /** Those of one vector. */
    private final class Places implements PeerPlaces {
        /** How many were given since the last time that no endpoint was bound. */
        private int given;
        private boolean anyFree;

        @Override
        public void restart(int known) {
            given = known;
            anyFree = false;
        }

        @Override
        public void give() { given++; }

        @Override
        public void free() { anyFree = true; }

        /** Where none is free the provider refuses by itself. */
        @Override
        public void requireNext(Set<EndpointAddress> known, Object vector) {
            if (anyFree && given + neighbours.countOthers(known) >= COUNT) {
                throw new IllegalStateException("the " + COUNT + " places of " + vector
                        + " were given out, and shm would take"
                        + " the next peer for one that is gone: close the endpoints that are bound, or open them with"
                        + " another vector");
            }
        }
    }

    /** The place that was given last, given again at once. */
    static final class LastPlace extends Quirk {
        LastPlace() {
            super("shm-last-place", provider -> provider.is("shm"), Tested.ONE,
                    "A vector gives the place that it gave last again as soon as it is free.", "ShmPlacesTest");
        }

        /** By another name, the endpoint takes the next place meanwhile, which no endpoint has agreed on anything about. */
        @Override
        protected OptionalInt removePeer(Handle vector, EndpointAddress address, long fabricAddress) {
            byte[] name = address.toBytes();
            name[0] = OTHER_PREFIX; // what stands before :// is not looked at
            AvOps.Inserted next = AvOps.fi_av_insert(vector, List.of(name));
            int status = AvOps.fi_av_remove(vector, fabricAddress);
            if (next.has(0)) { AvOps.fi_av_remove(vector, next.addresses()[0]); }
            return OptionalInt.of(status);
        }
    }
}
