package io.ofi4j;

import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.time.Duration;

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

        static Reason of(int errno, boolean hasData) {
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

    private ConnectionException(String message, String operation, int errno, Reason reason, byte[] data) {
        super(message, operation, errno);
        this.reason = reason;
        this.data = data;
    }

    static ConnectionException of(int errno, String operation, String provider, byte[] data) {
        if (Reason.of(errno, data.length > 0) == Reason.REJECTED) {
            return new ConnectionException(operation + " failed on provider " + provider
                    + ": the peer rejected the connection, with " + data.length + " bytes of data.", operation, errno,
                    Reason.REJECTED, data.clone());
        }
        Status.Failure said = Status.failure(-errno, operation, "", provider); // its errno may be more precise
        Reason reason = Reason.of(said.errno(), false);
        String cause = reason == Reason.RESET ? " The peer or the network broke the connection." : "";
        return new ConnectionException(said.message() + cause, operation, said.errno(), reason, data.clone());
    }

    static ConnectionException timedOut(Endpoint endpoint, Duration deadline) {
        String message = endpoint + " was not connected within " + Deadlines.text(deadline)
                + ". Does the peer read its event queue, and accept?" + Status.descriptorShortage(1);
        return new ConnectionException(message, "connecting", Errno.ETIMEDOUT, Reason.TIMED_OUT, new byte[0]);
    }

    /** {@return the cause of the failure} */
    public Reason reason() { return reason; }

    /** {@return a copy of the data with which the peer rejected the connection, empty otherwise} */
    public byte[] data() {
        return data.clone();
    }
}
