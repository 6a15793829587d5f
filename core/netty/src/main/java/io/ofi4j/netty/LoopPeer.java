package io.ofi4j.netty;

import io.ofi4j.Peer;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.job.RemoteDoorbell;
import io.ofi4j.job.RendezvousException;

/** A loop of another side, which several channels of a loop may reach. */
final class LoopPeer {
    final EndpointAddress address;
    final Peer peer;
    /** Null if the loop waits at a descriptor, which the provider makes readable. */
    private final RemoteDoorbell doorbell;
    /** How many channels reach it. */
    int channels;
    /** How many messages are on their way to it. */
    int sends;

    LoopPeer(EndpointAddress address, Peer peer, byte[] doorbell) {
        this.address = address;
        this.peer = peer;
        this.doorbell = doorbell.length == 0 ? null : open(doorbell);
    }

    /** {@return null where it cannot be reached: then the loop sees at its next look what was sent} */
    private static RemoteDoorbell open(byte[] address) {
        try {
            return RemoteDoorbell.open(address);
        } catch (RendezvousException | IllegalArgumentException e) {
            return null;
        }
    }

    /** After something was posted, or there was no room for it. */
    void ring() {
        if (doorbell != null) { doorbell.ring(); }
    }

    void close() { if (doorbell != null) { doorbell.close(); } }
}
