package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.quirks.PeerPlaces;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Tested;
import java.util.List;
import java.util.function.IntSupplier;

/** Sees to it that no place of an shm address vector is given twice while endpoints are bound to the vector. */
final class ShmPlaces extends Quirk {
    /** The place that was given last, given again at once. */
    static final Quirk LAST_PLACE = new Quirk("shm-last-place", provider -> provider.is("shm"), Tested.ONE,
            "A vector gives the place that it gave last again as soon as it is free.", "ShmPlacesTest") {
        /**
         * By another name, the endpoint takes the next place meanwhile, which no endpoint has agreed on anything about.
         */
        @Override
        protected int removePeer(Handle vector, EndpointAddress address, IntSupplier removal) {
            byte[] name = address.toBytes();
            name[0] = OTHER_PREFIX; // what stands before :// is not looked at
            AvOps.Inserted next = AvOps.fi_av_insert(vector, List.of(name));
            int status = removal.getAsInt();
            if (next.has(0)) { AvOps.fi_av_remove(vector, next.addresses()[0]); }
            return status;
        }
    };

    private static final int COUNT = 256;
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
    protected PeerPlaces places() { return new PeerPlaces(COUNT, neighbours::countOthers); }

    /** An expectation only, but the provider refuses a vector that is expected to have more. */
    @Override
    protected long vectorCount(long expected) { return Math.min(expected, COUNT); }
}
