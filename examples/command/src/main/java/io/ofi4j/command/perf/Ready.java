package io.ofi4j.command.perf;

import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;

/**
 * The server's answer: where it is.
 *
 * @param address where its endpoint is
 * @param region where its memory is
 */
record Ready(byte[] address, byte[] region) {
    static final int LONGEST_REGION = 64;

    PayloadWriter encode() { return new PayloadWriter().bytes(address).bytes(region); }

    static Ready decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        byte[] address = reader.bytes(Setup.LONGEST_ADDRESS);
        byte[] region = reader.bytes(LONGEST_REGION);
        reader.end();
        return new Ready(address, region);
    }
}
