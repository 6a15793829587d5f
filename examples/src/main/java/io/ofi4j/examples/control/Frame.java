package io.ofi4j.examples.control;

/**
 * One message on the control connection.
 *
 * @param type what it says
 * @param payload what belongs to it
 */
public record Frame(FrameType type, byte[] payload) {
    /** {@return the payload, to be read field by field} */
    public PayloadReader reader() {
        return new PayloadReader(payload);
    }
}
