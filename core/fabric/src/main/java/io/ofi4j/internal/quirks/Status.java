package io.ofi4j.internal.quirks;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;

/** Makes exceptions of the statuses that libfabric returns, which are error numbers below 0. */
public final class Status {
    /** More than fi_domain of sockets opens, which are nine. */
    private static final int MAX_NEEDED = 16;

    private Status() {}

    /** Throws for a status below 0. */
    public static void check(long status, String operation, String provider) {
        if (status < 0) { throw exception(status, operation, provider); }
    }

    /** As {@link #check}, of a call that few providers have. */
    public static void checkOffered(long status, String operation, String provider) {
        if (status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
            throw new UnsupportedOperationException(operation + " is not offered by the provider " + provider);
        }
        check(status, operation, provider);
    }

    /** {@return the exception for a status below 0} */
    public static FabricException exception(long status, String operation, String provider) {
        return exception(status, operation, "", provider);
    }

    /** As {@link #exception(long, String, String)}, and names the peer of the operation. */
    public static FabricException exception(long status, String operation, String to, String provider) {
        Failure failure = failure(status, operation, to, provider);
        return new FabricException(failure.message, operation, failure.errno);
    }

    /** What an exception says. */
    public record Failure(int errno, String message) {}

    /** {@return what the exception for a status below 0 says, for one of another kind} */
    public static Failure failure(long status, String operation, String to, String provider) {
        int errno = (int) -status;
        String message = operation + to + " failed on provider " + provider + ": " + FabricCalls.fi_strerror(errno)
                + " (errno " + errno + ").";
        String shortage = operation.startsWith("fi_") ? Descriptors.shortage(descriptorsNeeded(errno)) : "";
        return shortage.isEmpty()
                ? new Failure(errno, message + Remedies.of(errno, operation, provider))
                : new Failure(Errno.EMFILE, message + shortage);
    }

    /**
     * The number of descriptors that may have been missing. Some providers report another error if they cannot open a
     * file. A call that opens several files closes those that it got before it fails.
     */
    private static int descriptorsNeeded(int errno) {
        return switch (errno) {
            case Errno.ENOENT -> 1; // sockets' posts
            case Errno.EINVAL, Errno.ENOMEM, Errno.EIO -> MAX_NEEDED;
            default -> 0;
        };
    }
}
