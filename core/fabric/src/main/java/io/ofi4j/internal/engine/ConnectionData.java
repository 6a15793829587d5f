package io.ofi4j.internal.engine;

/** Checks the length of the private data of connection calls, which not all providers do. */
public final class ConnectionData {
    public static void require(byte[] data, int limit, Object endpoint) {
        if (data.length > limit) {
            throw new IllegalArgumentException("the data of " + endpoint + "'s connection calls has at most " + limit
                    + " bytes, not " + data.length);
        }
    }
}
