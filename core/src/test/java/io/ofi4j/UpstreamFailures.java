package io.ofi4j;

import java.util.List;
import java.util.Optional;

/** What a provider claims and does not do, by our own trials: the reasons that stand below the table of calls. */
final class UpstreamFailures {
    private record Failure(String call, String column, List<String> versions, String reason) {
    }

    private static final List<String> BOTH = CallTable.VERSIONS;
    private static final List<String> OLD = List.of("1.17");
    private static final List<String> NEW = List.of("2.1");

    private static final String MESSAGES_ONLY = "It tells the source of messages only, not of writes with data.";
    private static final String COUNTS_DATA_ONLY = "It says that it counts what peers do, and counts writes with data only.";
    private static final String NO_ERROR = "A read with a key that is nobody's is not reported as an error.";
    private static final String OLD_VALUE = "It tells the old value until the next receive.";
    private static final String NOT_AUTOMATIC = "It says that its progress is automatic, but serves no target that does not poll.";
    private static final String NO_THREAD = "Its thread ends the process when a peer goes away; ofi4j refuses it.";

    private static final List<Failure> ALL = List.of(new Failure("fi_cq_readfrom", "tcp;ofi_rxm", BOTH, MESSAGES_ONLY),
            new Failure("fi_cq_readfrom", "udp;ofi_rxd", BOTH, MESSAGES_ONLY),
            new Failure("fi_cq_read, MESSAGE", "verbs MSG", OLD,
                    "In this format it does not say that a completion has data."),
            new Failure("fi_cq_readfrom", "verbs;ofi_rxm", BOTH, MESSAGES_ONLY),
            new Failure("data progress AUTO", "verbs;ofi_rxm", BOTH, NO_THREAD),
            new Failure("fi_cq_readerr, fi_cq_strerror", "shm", BOTH, NO_ERROR),
            new Failure("fi_cq_readerr, fi_cq_strerror", "udp;ofi_rxd", BOTH, NO_ERROR),
            new Failure("fi_cntr_read, REMOTE_WRITE", "net, tcp", BOTH, COUNTS_DATA_ONLY),
            new Failure("fi_cntr_read, REMOTE_READ", "net, tcp", BOTH, COUNTS_DATA_ONLY),
            new Failure("fi_cntr_wait", "shm", BOTH,
                    "It does not keep the time; ofi4j reads the counter again and again."),
            new Failure("fi_cntr_wait", "udp;ofi_rxd", BOTH,
                    "It is not there, though it should be; ofi4j reads the counter again and again."),
            new Failure("fi_cntr_wait", "sockets", OLD, "It returns at once; ofi4j reads the counter again and again."),
            new Failure("fi_cntr_wait", "sockets MSG", OLD,
                    "It returns at once; ofi4j reads the counter again and again."),
            new Failure("fi_av_lookup", "udp;ofi_rxd", BOTH,
                    "It does not find the first address; ofi4j gives the one that was inserted."),
            new Failure("fi_av_lookup", "shm", NEW,
                    "It leaves out the address's prefix; ofi4j gives the one that was inserted."),
            new Failure("fi_setopt", "shm", NEW, OLD_VALUE), new Failure("fi_setopt", "tcp;ofi_rxm", NEW, OLD_VALUE),
            new Failure("fi_setopt", "verbs;ofi_rxm", NEW, OLD_VALUE),
            new Failure("data progress AUTO", "tcp;ofi_rxm", OLD, NOT_AUTOMATIC),
            new Failure("data progress AUTO", "net, tcp", BOTH, NOT_AUTOMATIC),
            new Failure("data progress AUTO", "tcp MSG", BOTH, NOT_AUTOMATIC),
            new Failure("data progress AUTO", "net MSG", OLD, NOT_AUTOMATIC));

    private UpstreamFailures() {
    }

    static Optional<String> of(String call, CallColumn column, String version) {
        return ALL.stream().filter(failure -> call.equals(failure.call) && column.label().equals(failure.column)
                && failure.versions.contains(version)).map(Failure::reason).findFirst();
    }
}
