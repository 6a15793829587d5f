package io.ofi4j.internal.quirks;

import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import java.util.List;
import java.util.Locale;

/** What to try when a call of libfabric has failed. */
public final class Remedies {
    private static final String LACKS_PERMISSION = " This process lacks the permission.";

    private Remedies() {}

    /** {@return what to say where a provider that was asked for is not there; empty where there is nothing to say} */
    public static String ofMissing(String provider) {
        String chosen = LibC.getenv("FI_PROVIDER");
        if (chosen != null && !chosen.isBlank()) {
            return " FI_PROVIDER in the environment is '" + chosen
                    + "', and may leave it out: unset FI_PROVIDER, or name the provider there.";
        }
        return provider.contains("shm") ? " It needs room in /dev/shm: 16 MB for each processor ('df /dev/shm')." : "";
    }

    static String of(int errno, String operation, String provider) {
        return switch (errno) {
            case Errno.ENOMEM, Errno.EPERM, Errno.EADDRNOTAVAIL, Errno.ENOKEY, Errno.EKEYREJECTED, Errno.EINVAL ->
                byCall(errno, operation, provider);
            case Errno.ENOSPC -> provider.contains("shm")
                    ? " /dev/shm has no room for an endpoint's 16 MB ('df /dev/shm'): close endpoints, or make it"
                            + " larger ('mount -o remount,size=2g /dev/shm'; in a container '--shm-size=2g')."
                    : " /dev/shm may be full ('df /dev/shm'), or a table of the provider is.";
            case Errno.EACCES, Errno.EROFS -> provider.contains("shm") ? ofShmFile(operation) : LACKS_PERMISSION;
            case Errno.EFAULT -> operation.startsWith("fi_mr")
                    ? " The kernel cannot lock this memory. Before Linux 6.2 it locks no file that is mapped"
                            + " read-only: map it"
                            + " READ_WRITE or PRIVATE. Of a file with holes, the file system must have room for all of"
                            + " it."
                    : "";
            case Errno.EMFILE -> Descriptors.RAISE_LIMIT;
            case Errno.EADDRINUSE,
                    Errno.EBUSY ->
                operation.startsWith("fi_close")
                        ? ofBusyClose(operation, provider)
                        : " Another endpoint has this address: choose another name, port or service.";
            case Errno.ENOENT -> operation.equals("fi_enable") && provider.contains("shm")
                    ? " An endpoint's file is made in /dev/shm, which is not there: mount a tmpfs there."
                    : " The peer's endpoint is not there (yet, or any more), or its address is of another kind.";
            case Errno.ENODEV -> operation.equals("fi_join") || operation.equals("fi_close(multicast group)")
                    ? " The system has no route to the group: add one, such as 'ip route add 224.0.0.0/4 dev eth0'."
                    : "";
            case Errno.ENOBUFS -> operation.equals("fi_join")
                    ? " The system lets an endpoint join no more groups: leave one, or raise the limit"
                            + " ('sysctl net.ipv4.igmp_max_memberships')."
                    : "";
            case Errno.ECONNREFUSED -> " Nothing listens at the peer's address: is the peer running?";
            case Errno.EHOSTUNREACH, Errno.ENETUNREACH, Errno.ETIMEDOUT ->
                " Check the address, the route and firewalls.";
            case Errno.ENOSYS,
                    Errno.EOPNOTSUPP ->
                operation.equals("fi_cq_open")
                        ? " The provider has no such wait object or format: ask for WaitObject.NONE and"
                                + " CompletionFormat.DATA."
                        : " The provider does not offer it: ask for the capability in FabricHints, or for another"
                                + " provider.";
            default -> "";
        };
    }

    /** {@return what to say where an operation has completed with an error; empty where there is nothing to say} */
    public static String ofCompletion(int errno, String provider) {
        return errno == Errno.EIO && provider.contains("shm")
                ? " The kernel may have refused to copy between the two processes (cross-memory attach): look with"
                        + " 'ofi4j doctor'. With FI_SHM_DISABLE_CMA=1 in the environment of both, shm does without it."
                : "";
    }

    private static String ofBusyClose(String operation, String provider) {
        boolean mayKeepRegions = provider.contains("ofi_rxm")
                && (operation.equals("fi_close(domain)") || operation.equals("fi_close(fabric)"));
        return mayKeepRegions
                ? " The provider still uses it; it stays open until the process ends. That is so where an endpoint was"
                        + " closed before long messages from or to it had completed: the provider keeps regions of its"
                        + " own for them."
                : " The provider still uses it; it stays open until the process ends.";
    }

    private static String ofShmFile(String operation) {
        return switch (operation) {
            case "fi_enable" ->
                " An endpoint's file is made in /dev/shm, which this process may not write to: 'mount -o"
                        + " remount,rw /dev/shm'"
                        + " where it is read-only, 'chmod 1777 /dev/shm' where others own it.";
            case "fi_av_insert" -> " The peer's process is another user's, and each of both must open the file of the"
                    + " other, which admits its owner only: run both as one user, or use another provider.";
            default -> LACKS_PERMISSION;
        };
    }

    /** The remedy for an error number that means different things in different calls. */
    private static String byCall(int errno, String operation, String provider) {
        boolean registers = operation.startsWith("fi_mr");
        boolean enables = operation.equals("fi_enable") && provider.contains("verbs");
        return switch (errno) {
            case Errno.ENOMEM -> registers || provider.contains("verbs")
                    ? " The process has no memory left, or may lock no more: register less, or raise the memory lock"
                            + " limit ('ulimit -l unlimited')."
                    : " Memory, or a limit of the device, is exhausted: close what is not needed.";
            case Errno.EPERM ->
                registers ? " Raise the memory lock limit ('ulimit -l unlimited') or register less." : LACKS_PERMISSION;
            case Errno.EADDRNOTAVAIL -> operation.startsWith("fi_av")
                    ? " It is an address that nothing can be sent to: a wildcard, or without a port."
                    : operation.startsWith("fi_close")
                            ? " The endpoint is not a member of the group."
                            : " No interface of this machine has this address" + takenPorts(provider) + ".";
            case Errno.EINVAL -> operation.equals("fi_listen")
                    ? " The port may be taken: choose another, or let the system choose one."
                    : enables
                            ? " The device may lack a queue as long as ofi_rxm asks for: set FI_UNIVERSE_SIZE in the"
                                    + " environment to how many peers there will be (it is 1024 where it is not set;"
                                    + " 16 is right for Soft-RoCE)."
                            : " FI_LOG_LEVEL=warn in the environment makes libfabric log the reason.";
            default -> registers
                    ? " The requested key is another region's, or out of the provider's range: choose another, or"
                            + " leave requestedKey out."
                    : " The remote key is not known there: was the region closed?";
        };
    }

    /** The other cause of EADDRNOTAVAIL: no port is left of those that a variable lets the provider take. */
    private static String takenPorts(String provider) {
        for (String name : List.of("tcp", "net")) {
            String beginning = "FI_" + name.toUpperCase(Locale.ROOT) + "_PORT_";
            String lowest = LibC.getenv(beginning + "LOW_RANGE");
            if (lowest != null && provider.contains(name)) {
                return ", or all ports from " + beginning + "LOW_RANGE (" + lowest + ") to " + beginning
                        + "HIGH_RANGE (" + LibC.getenv(beginning + "HIGH_RANGE")
                        + ") are taken: let them name more ports, or none";
            }
        }
        return "";
    }
}
