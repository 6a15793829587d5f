package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.quirks.PeerSlots;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;
import java.util.function.IntSupplier;

/** Ensures that no slot of an shm address vector is assigned twice while endpoints are bound to the vector. */
final class ShmPeerSlots extends Quirk {
    private static final String UPSTREAM = """
            A vector has 256 places, which it gives out in turn. An endpoint keeps what it has agreed on with the \
            peer at a place; the next peer there is taken for that one, and the first operation to it ends the \
            process.""";
    /** The slot that was assigned last is not assigned again at once. 607be0b80 mended that in 2.0. */
    static final Quirk LAST_SLOT = new Quirk("shm-last-place", provider -> provider.is("shm"),
            VersionRange.from(1, 15).to(1, 22),
            "A vector gives the place that it gave last again as soon as it is free.", "ShmPeerSlotsTest") {
        /**
         * Inserts the peer a second time under another name before it is removed, so that its slot is not the last one.
         * The slash has the provider look for the peer's file: in the list of this process's endpoints it would find
         * the unmapped memory of one that was closed, which 1.20 to 1.22 read.
         */
        @Override
        protected int removePeer(Handle vector, EndpointAddress address, IntSupplier removal) {
            byte[] name = ShmNames.slashed(address);
            name[0] = OTHER_PREFIX; // the provider ignores the text before ://
            AvOps.Inserted next = AvOps.fi_av_insert(vector, List.of(name));
            int status = removal.getAsInt();
            if (next.has(0)) { AvOps.fi_av_remove(vector, next.addresses()[0]); }
            return status;
        }
    };

    private static final int SLOTS = 256;
    private static final byte OTHER_PREFIX = 'o';

    private final ShmCloseCoordinator coordinator;

    ShmPeerSlots(ShmCloseCoordinator coordinator) {
        super("shm-places", provider -> provider.is("shm"), VersionRange.from(1, 15), UPSTREAM, "ShmPeerSlotsTest");
        this.coordinator = coordinator;
    }

    @Override
    protected PeerSlots peerSlots() { return new PeerSlots(SLOTS, coordinator::countOthers); }

    /** The number is only an expectation, but the provider refuses a vector that is expected to have more addresses. */
    @Override
    protected long vectorCount(long expected) { return Math.min(expected, SLOTS); }
}
