package io.ofi4j.errors;

import io.ofi4j.internal.os.Errno;
import java.util.Objects;

/** A connection could not be established, see {@link #reason}. Close the endpoint and try again with a new one. */
public final class ConnectionException extends FabricException {
    private static final long serialVersionUID = 1L;
    /** EPIPE of the C library, which libfabric's providers pass on. */
    private static final int EPIPE = 32;
    /**
     * If the peer closes the connection instead of answering, some providers report a stale errno, which connect(2)
     * usually left at this value.
     */
    private static final int EINPROGRESS = 115;

    /** The cause of the failure. */
    public enum Reason {
        /**
         * No process listens at the address, or the peer rejected the connection without data; providers do not
         * distinguish these.
         */
        REFUSED,
        /** The peer rejected the connection with data: {@link ConnectionException#data}. */
        REJECTED,
        /** The peer or the network broke the connection off. Some providers report this as {@link #REFUSED}. */
        RESET,
        /** The peer did not answer in time. */
        TIMED_OUT,
        /** There is no route to the address. */
        UNREACHABLE,
        /** Any other error: {@link FabricException#errno}. */
        OTHER;

        private static Reason of(int errno, boolean hasData) {
            return switch (errno) {
                case Errno.ECONNREFUSED -> hasData ? REJECTED : REFUSED;
                case Errno.ECONNRESET, Errno.ECONNABORTED, EPIPE, EINPROGRESS, Errno.ENOTCONN, Errno.EIO -> RESET;
                case Errno.ETIMEDOUT -> TIMED_OUT;
                case Errno.EHOSTUNREACH, Errno.ENETUNREACH, Errno.EHOSTDOWN, Errno.ENETDOWN -> UNREACHABLE;
                default -> OTHER;
            };
        }
    }

    private final Reason reason;
    private final byte[] data;

    /**
     * Describes a connection that could not be established. The error number, and whether there are data, say why.
     *
     * @param message what failed, and what to try
     * @param operation the C call that failed, or what did not happen in time
     * @param errno the error number of fi_errno(3), positive
     * @param data the data with which the peer rejected the connection, empty where there are none
     */
    public ConnectionException(String message, String operation, int errno, byte[] data) {
        super(Objects.requireNonNull(message, "message") + (Reason.of(errno, data.length > 0) == Reason.RESET
                ? " The peer or the network broke the connection."
                : ""), operation, errno);
        this.reason = Reason.of(errno, data.length > 0);
        this.data = data.clone();
    }

    /** {@return the cause of the failure} */
    public Reason reason() { return reason; }

    /** {@return a copy of the data with which the peer rejected the connection, empty otherwise} */
    public byte[] data() {
        return data.clone();
    }
}
