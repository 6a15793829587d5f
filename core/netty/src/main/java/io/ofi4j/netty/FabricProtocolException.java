package io.ofi4j.netty;

import java.io.IOException;

/** The other side of a connection has said what no side may say, or is one of another release. The channel closes. */
public final class FabricProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    FabricProtocolException(String message) { super(message); }
}
