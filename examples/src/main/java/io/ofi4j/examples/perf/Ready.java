package io.ofi4j.examples.perf;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.RemoteRegion;
import io.ofi4j.examples.control.ControlException;
import io.ofi4j.examples.control.Frame;
import io.ofi4j.examples.control.PayloadReader;
import io.ofi4j.examples.control.PayloadWriter;

/**
 * The server's answer: where it is.
 *
 * @param address where its endpoint is
 * @param region where its memory is
 */
record Ready(EndpointAddress address, RemoteRegion region) {
    PayloadWriter encode() { return new PayloadWriter().bytes(address.toBytes()).bytes(region.encode()); }

    static Ready decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        byte[] address = reader.bytes(Setup.LONGEST_ADDRESS);
        byte[] region = reader.bytes(RemoteRegion.ENCODED_LENGTH);
        reader.end();
        try {
            return new Ready(EndpointAddress.of(address), RemoteRegion.decode(region));
        } catch (IllegalArgumentException e) {
            throw new ControlException(ControlException.Reason.GARBAGE, "sent what cannot be used: " + e.getMessage());
        }
    }
}
