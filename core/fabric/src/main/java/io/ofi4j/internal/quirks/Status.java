package io.ofi4j.internal.quirks;

import io.ofi4j.FabricException;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FabricCalls;

/** Makes exceptions of the statuses that libfabric returns, which are error numbers below 0. */
public final class Status {
    /** More than fi_domain of sockets opens, which are nine. */
    private static final int MOST_NEEDED = 16;

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

    /** As the other; says where to the operation went. */
    public static FabricException exception(long status, String operation, String to, String provider) {
        int errno = (int) -status;
        String said = operation + to + " failed on provider " + provider + ": " + FabricCalls.fi_strerror(errno)
                + " (errno " + errno + ").";
        String lack = operation.startsWith("fi_") ? lackOfFiles(neededWhere(errno)) : "";
        return lack.isEmpty()
                ? new FabricException(said + Remedies.of(errno, operation, provider), operation, errno)
                : new FabricException(said + lack, operation, Errno.EMFILE);
    }

    /**
     * Some providers, where they can open no file, give an error that is about something else. How many may have been
     * missing: a call that opens several closes those that it got before it fails.
     */
    private static int neededWhere(int errno) {
        return switch (errno) {
            case Errno.ENOENT -> 1; // sockets' posts
            case Errno.EINVAL, Errno.ENOMEM, Errno.EIO -> MOST_NEEDED;
            default -> 0;
        };
    }

    /** {@return what else to say of a failure; empty unless this process may open fewer files than so many} */
    public static String lackOfFiles(int few) {
        return Descriptors.areFewerThan(few)
                ? " This process may open " + (few == 1 ? "no" : "fewer than " + few) + " more files."
                        + Remedies.RAISE_FILES
                : "";
    }
}
