package io.ofi4j.command.perf;

import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;
import java.util.Optional;

/**
 * What the client wants, and who it is.
 *
 * @param release which ofi4j
 * @param libfabric which libfabric
 * @param operation what it measures
 * @param provider over which provider
 * @param sizes how many bytes its operations have, as text
 * @param regionLength how many bytes it needs at the server
 * @param conversation how messages go, where it sends them
 * @param introduction what its endpoint says of itself
 * @param region where its memory is
 */
record Setup(String release, String libfabric, String operation, String provider, String sizes, long regionLength,
        Optional<Conversation> conversation, byte[] introduction, byte[] region) {
    static final int LONGEST_TEXT = 400;
    static final int LONGEST_ADDRESS = 4096;
    private static final int MOST_RECEIVES = 4096;

    PayloadWriter encode() {
        return new PayloadWriter().text(release).text(libfabric).text(operation).text(provider).text(sizes)
                .number(regionLength).number(conversation.map(asked -> asked.layout().slots()).orElse(0))
                .number(conversation.map(asked -> asked.layout().size()).orElse(0L))
                .number(conversation.filter(Conversation::isPingPong).isPresent() ? 1 : 0).bytes(introduction)
                .bytes(region);
    }

    static Setup decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        Setup setup = new Setup(reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT),
                reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT), reader.number(1, Long.MAX_VALUE),
                conversation(reader), reader.bytes(LONGEST_ADDRESS), reader.bytes(Ready.LONGEST_REGION));
        reader.end();
        if (setup.conversation.filter(asked -> asked.layout().regionLength() > setup.regionLength).isPresent()) {
            throw new ControlException(ControlException.Reason.GARBAGE, "named memory that it did not ask for");
        }
        return setup;
    }

    private static Optional<Conversation> conversation(PayloadReader reader) throws ControlException {
        int slots = (int) reader.number(0, MOST_RECEIVES);
        long size = reader.number(0, Numbers.LARGEST_SIZE);
        boolean pingPong = reader.number(0, 1) == 1;
        return slots == 0 ? Optional.empty() : Optional.of(new Conversation(new Layout(size, slots), pingPong));
    }

    /** {@return sizes as text, cut where they would be too long to be sent} */
    static String text(java.util.List<Long> sizes) {
        String text = sizes.stream().map(String::valueOf).collect(java.util.stream.Collectors.joining(","));
        return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT);
    }
}
