package io.ofi4j.command.perf;

/**
 * How messages go between two ends: into receives that are always posted, so that none comes unexpected. The receiver
 * answers each message with as long a one, or every few with a short one: the sender is never ahead of the receives.
 *
 * @param layout the messages
 * @param isPingPong whether each is answered
 */
record Conversation(Layout layout, boolean isPingPong) {
    /** Added to the tags of answers: providers may share tags among the endpoints of a domain. */
    static final long ANSWER_TAGS = 1 << 16;

    private static final int ACKNOWLEDGEMENTS = 4;

    /** After how many messages the receiver answers. */
    int interval() {
        return isPingPong ? 1 : Math.max(1, layout.slots() / 2);
    }

    /** {@return where answers go} */
    Layout answers() {
        return isPingPong ? layout : new Layout(Long.BYTES, ACKNOWLEDGEMENTS);
    }

    /** {@return how many bytes the messages have that an end receives} */
    long longest(boolean isTarget) {
        return isTarget ? layout.size() : answers().size();
    }

    /** {@return how many operations an end has in flight beside those of the window} */
    int room() {
        return layout.slots() + 2 * ACKNOWLEDGEMENTS;
    }
}
