package io.ofi4j;

import io.ofi4j.internal.Descriptors;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricCalls;

/**
 * A call of libfabric failed. The message says which, for which provider, libfabric's text for the error, and what to try.
 * Programs tell errors apart by {@link #errno}; numbers that this library does not know come through as they are. Where a process
 * may open no more files, it is {@code EMFILE} (24), also where the provider gives another number.
 */
public class FabricException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    /** More than fi_domain of sockets opens, which are nine. */
    private static final int MOST_NEEDED = 16;
    private static final String RAISE_FILES = " Raise the limit of open files ('ulimit -n').";

    private final String operation;
    private final int errno;

    FabricException(String message, String operation, int errno) {
        super(message);
        this.operation = operation;
        this.errno = errno;
        Recorder.RECORDER.failed(this);
    }

    /** {@return the C call that failed, such as {@code fi_domain}} */
    public final String operation() {
        return operation;
    }

    /** {@return the error number of fi_errno(3), positive; 0 where no call returned one} */
    public final int errno() {
        return errno;
    }

    /** The exception for a status below 0. */
    static FabricException of(long status, String operation, String provider) {
        int errno = (int) -status;
        String said = operation + " failed on provider " + provider + ": " + FabricCalls.fi_strerror(errno) + " (errno "
                + errno + ").";
        String lack = operation.startsWith("fi_") ? lackOfFiles(neededWhere(errno)) : "";
        return lack.isEmpty()
                ? new FabricException(said + remedy(errno, operation, provider), operation, errno)
                : new FabricException(said + lack, operation, Errno.EMFILE);
    }

    /**
     * Some providers, where they can open no file, give an error that is about something else. How many may have been missing: a
     * call that opens several closes those that it got before it fails.
     */
    private static int neededWhere(int errno) {
        return switch (errno) {
            case Errno.ENOENT -> 1; // sockets' posts
            case Errno.EINVAL, Errno.ENOMEM, Errno.EIO -> MOST_NEEDED;
            default -> 0;
        };
    }

    /** What else to say of a failure; empty unless this process may open fewer files than so many. */
    static String lackOfFiles(int few) {
        return Descriptors.areFewerThan(few)
                ? " This process may open " + (few == 1 ? "no" : "fewer than " + few) + " more files." + RAISE_FILES
                : "";
    }

    /** Throws for a status below 0. */
    static void check(long status, String operation, String provider) {
        if (status < 0) {
            throw of(status, operation, provider);
        }
    }

    /** As {@link #check}, of a call that few providers have. */
    static void checkOffered(long status, String operation, String provider) {
        if (status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
            throw new UnsupportedOperationException(operation + " is not offered by the provider " + provider);
        }
        check(status, operation, provider);
    }

    private static String remedy(int errno, String operation, String provider) {
        return switch (errno) {
            case Errno.ENOMEM, Errno.EPERM, Errno.EADDRNOTAVAIL, Errno.ENOKEY, Errno.EKEYREJECTED, Errno.EINVAL ->
                remedyByCall(errno, operation, provider);
            case Errno.ENOSPC -> provider.contains("shm")
                    ? " /dev/shm has no room for an endpoint's 16 MB ('df /dev/shm'): close endpoints, or make it larger ('mount"
                            + " -o remount,size=2g /dev/shm'; in a container '--shm-size=2g')."
                    : " /dev/shm may be full ('df /dev/shm'), or a table of the provider is.";
            case Errno.EFAULT -> operation.startsWith("fi_mr")
                    ? " The kernel cannot lock this memory. Before Linux 6.2 it locks no file that is mapped read-only: map it"
                            + " READ_WRITE or PRIVATE. Of a file with holes, the file system must have room for all of it."
                    : "";
            case Errno.EMFILE -> RAISE_FILES;
            case Errno.EADDRINUSE -> " Another endpoint has this address: choose another port or service.";
            case Errno.ENOENT ->
                " The peer's endpoint is not there (yet, or any more), or its address is of another kind.";
            case Errno.ECONNREFUSED -> " Nothing listens at the peer's address: is the peer running?";
            case Errno.EHOSTUNREACH, Errno.ENETUNREACH, Errno.ETIMEDOUT ->
                " Check the address, the route and firewalls.";
            case Errno.ENOSYS, Errno.EOPNOTSUPP ->
                " The provider does not offer it: ask for the capability in FabricHints, or for another provider.";
            default -> "";
        };
    }

    /** Of those that mean another thing with another call. */
    private static String remedyByCall(int errno, String operation, String provider) {
        boolean registers = operation.startsWith("fi_mr");
        boolean enables = operation.equals("fi_enable") && provider.contains("verbs");
        return switch (errno) {
            case Errno.ENOMEM -> registers || provider.contains("verbs")
                    ? " The process has no memory left, or may lock no more: register less, or raise the memory lock limit"
                            + " ('ulimit -l unlimited')."
                    : " Memory, or a limit of the device, is exhausted: close what is not needed.";
            case Errno.EPERM -> registers
                    ? " Raise the memory lock limit ('ulimit -l unlimited') or register less."
                    : " This process lacks the permission.";
            case Errno.EADDRNOTAVAIL -> operation.startsWith("fi_av")
                    ? " It is an address that nothing can be sent to: a wildcard, or without a port."
                    : " No interface of this machine has this address.";
            case Errno.EINVAL -> enables
                    ? " The device may lack a queue as long as ofi_rxm asks for: set FI_UNIVERSE_SIZE in the environment to how many"
                            + " peers there will be (it is 1024 where it is not set; 16 is right for Soft-RoCE)."
                    : " FI_LOG_LEVEL=warn in the environment makes libfabric say what it dislikes.";
            default -> registers
                    ? " The requested key is another region's, or out of the provider's range: choose another, or leave it to chance."
                    : " The remote key is not known there: was the region closed?";
        };
    }
}
