package io.ofi4j.internal.engine;

/** The private data of connection calls: providers do not all look at its length. */
public final class ConnectionData {
    private ConnectionData() {
    }

    public static void require(byte[] data, int limit, Object who) {
        if (data.length > limit) {
            throw new IllegalArgumentException(
                    "the data of " + who + "'s connection calls has at most " + limit + " bytes, not " + data.length);
        }
    }
}
