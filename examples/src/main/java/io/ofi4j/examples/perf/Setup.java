package io.ofi4j.examples.perf;

import io.ofi4j.examples.control.ControlException;
import io.ofi4j.examples.control.Frame;
import io.ofi4j.examples.control.PayloadReader;
import io.ofi4j.examples.control.PayloadWriter;

/**
 * What the client wants, and who it is.
 *
 * @param release which ofi4j
 * @param libfabric which libfabric
 * @param operation what it measures
 * @param provider over which provider
 * @param sizes how many bytes its operations have, as text
 * @param regionLength how many bytes it needs at the server
 * @param introduction what its endpoint says of itself
 */
record Setup(String release, String libfabric, String operation, String provider, String sizes, long regionLength,
        byte[] introduction) {
    static final int LONGEST_TEXT = 400;
    static final int LONGEST_ADDRESS = 512;

    PayloadWriter encode() {
        return new PayloadWriter().text(release).text(libfabric).text(operation).text(provider).text(sizes)
                .number(regionLength).bytes(introduction);
    }

    static Setup decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        Setup setup = new Setup(reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT),
                reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT), reader.number(1, Long.MAX_VALUE),
                reader.bytes(LONGEST_ADDRESS));
        reader.end();
        return setup;
    }

    /** {@return sizes as text, cut where they would be too long to be sent} */
    static String text(java.util.List<Long> sizes) {
        String text = sizes.stream().map(String::valueOf).collect(java.util.stream.Collectors.joining(","));
        return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT);
    }
}
