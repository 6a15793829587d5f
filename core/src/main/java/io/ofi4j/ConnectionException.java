package io.ofi4j;

import io.ofi4j.internal.engine.Deadlines;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;

/** A connection did not come about; {@link #reason} says why. The endpoint is of no more use: close it, and try with another. */
public final class ConnectionException extends FabricException {
    private static final long serialVersionUID = 1L;
    /** The C library's; libfabric has no name for it, but its providers hand it on. */
    private static final int EPIPE = 32;
    /**
     * tcp and net give as the reason whatever errno was before, where the peer closes the connection instead of answering; that
     * is mostly what connect(2) has left there.
     */
    private static final int EINPROGRESS = 115;

    /** Why a connection did not come about. */
    public enum Reason {
        /** Nobody listens there, or the peer rejected it without data: providers do not tell these apart. */
        REFUSED,
        /** The peer rejected it, and said why: {@link ConnectionException#data}. */
        REJECTED,
        /** The peer, or something on the way, broke it off. The provider {@code sockets} tells of that as of {@link #REFUSED}. */
        RESET,
        /** The peer did not answer in time. */
        TIMED_OUT,
        /** There is no way to the address. */
        UNREACHABLE,
        /** Anything else: {@link FabricException#errno} says what. */
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
        FabricException said = Status.exception(-errno, operation, provider); // it may know the error's cause
        Reason reason = Reason.of(said.errno(), false);
        String who = reason == Reason.RESET ? " The peer, or something on the way, broke it off." : "";
        return new ConnectionException(said.getMessage() + who, operation, said.errno(), reason, data.clone());
    }

    static ConnectionException timedOut(Endpoint endpoint, Duration deadline) {
        String message = endpoint + " was not connected within " + Deadlines.text(deadline)
                + ". Does the peer read its event queue, and accept?" + Status.lackOfFiles(1);
        return new ConnectionException(message, "connecting", Errno.ETIMEDOUT, Reason.TIMED_OUT, new byte[0]);
    }

    /** {@return why} */
    public Reason reason() {
        return reason;
    }

    /** {@return a copy of what the peer said when it rejected the connection; no bytes otherwise} */
    public byte[] data() {
        return data.clone();
    }
}
