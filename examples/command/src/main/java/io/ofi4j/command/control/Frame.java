package io.ofi4j.command.control;

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

    /**
     * {@return itself, being of this type}
     *
     * @param expected the type
     * @throws ControlException if it is another, or a refusal
     */
    public Frame require(FrameType expected) throws ControlException {
        if (type == FrameType.REFUSED) {
            throw new ControlException(ControlException.Reason.REFUSED, reader().text(ControlChannel.MAXIMUM_PAYLOAD));
        }
        if (type != expected) {
            throw new ControlException(ControlException.Reason.GARBAGE,
                    "sent " + type + " where " + expected + " was expected");
        }
        return this;
    }
}
