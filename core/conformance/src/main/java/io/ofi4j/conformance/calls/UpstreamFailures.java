package io.ofi4j.conformance.calls;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.Version;
import io.ofi4j.info.VersionRange;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a provider claims and does not do: the reasons that stand below the table of calls, and how the trials of these
 * calls end, which must not be otherwise.
 */
public final class UpstreamFailures {
    /** How a trial ends that shows a failure. */
    public enum Symptom {
        /** What the call shall do is not done in a while. */
        NEVER(List.of(FabricTimeoutException.class, Absent.class)),
        /** What it did is not what it shall do. */
        OTHERWISE(List.of(Wrong.class, FabricException.class)),
        /** ofi4j refuses it. */
        REFUSED(List.of(UnsupportedOperationException.class)),
        /** The process ends, or a call of it does not return. */
        ENDS(List.of());

        private final List<Class<? extends Throwable>> types;

        Symptom(List<Class<? extends Throwable>> types) { this.types = types; }
    }

    /**
     * One cell of the table, or a cell of each version.
     *
     * @param versions the versions of libfabric that fail so
     * @param reason what the table says
     * @param says part of the message that the trial ends with
     */
    public record Failure(String call, String column, VersionRange versions, String reason, Symptom symptom,
            String says) {
        Failure(String call, String column, VersionRange versions, Failure like) {
            this(call, column, versions, like.reason, like.symptom, like.says);
        }

        /** The subject, with the time that its trial has. */
        public Subject within(Subject tried) {
            return symptom == Symptom.NEVER ? tried.within(tried.deadline().dividedBy(SHORTER)) : tried;
        }

        /** Whether a trial whose process ended so has shown this failure. */
        public boolean isShownBy(String ending) {
            return symptom == Symptom.ENDS && ending.contains(says);
        }

        /** Whether a trial that ended so has shown this failure. */
        public boolean isShownBy(Throwable end) {
            return symptom.types.stream().anyMatch(type -> type.isInstance(end)) && end.getMessage() != null
                    && end.getMessage().contains(says);
        }
    }

    /** What never comes is waited for a part of the time only. */
    private static final int SHORTER = 20;
    private static final VersionRange ALL_VERSIONS = VersionRange.from(1, 15);
    private static final VersionRange UP_TO_1_17 = VersionRange.from(1, 15).to(1, 17);
    private static final VersionRange UP_TO_1_18 = VersionRange.from(1, 15).to(1, 18);
    private static final VersionRange FROM_1_17 = VersionRange.from(1, 17);
    private static final VersionRange FROM_1_19 = VersionRange.from(1, 19);
    private static final VersionRange UP_TO_1_21 = VersionRange.from(1, 15).to(1, 21);
    private static final VersionRange ONLY_1_16 = VersionRange.from(1, 16).to(1, 16);
    private static final VersionRange ONLY_1_17 = VersionRange.from(1, 17).to(1, 17);
    private static final VersionRange UP_TO_1_22 = VersionRange.from(1, 15).to(1, 22);
    private static final VersionRange FROM_2_0 = VersionRange.from(2, 0);
    private static final VersionRange FROM_2_1 = VersionRange.from(2, 1);
    private static final VersionRange FROM_2_5 = VersionRange.from(2, 5);

    private static final Failure OVERWRITES_QUEUE = like(
            "Beside a receive from any peer, or when it is canceled, it ends the process; ofi4j refuses it.",
            Symptom.REFUSED, "may end the process");
    private static final Failure UNRECOGNIZED = like(
            "It does not recognize a peer of the same process; ofi4j refuses it.", Symptom.REFUSED,
            "does not recognize");
    private static final Failure ANY_PEER = like("It takes the messages of any peer; ofi4j refuses it.",
            Symptom.REFUSED, "of any peer");
    private static final Failure NO_MASK = like(
            "A message that comes before its receive is matched without the mask; ofi4j refuses it.", Symptom.REFUSED,
            "ignore bits");
    private static final Failure RECEIVES = like("It receives the message; ofi4j refuses it.", Symptom.REFUSED,
            "receives it");
    private static final Failure CUT_SHORT = like("It cuts messages of several packets short; ofi4j refuses it.",
            Symptom.REFUSED, "cut short");
    private static final Failure SENDER_WAITS = like(
            "The sender of a long message is not told that it has completed; ofi4j refuses it.", Symptom.REFUSED,
            "waits for ever");
    private static final Failure OVERWRITES_SENDER = like(
            "It writes to the memory of the sender's endpoint; ofi4j refuses it.", Symptom.REFUSED,
            "of the sender's endpoint");
    private static final Failure LOSES_BYTES = like("It loses the message; ofi4j refuses it.", Symptom.REFUSED,
            "may overwrite memory");
    private static final Failure MESSAGES_ONLY = like(
            "It reports the source of messages only, not of writes with data.", Symptom.OTHERWISE, "the source");
    private static final Failure NO_SOURCES = like("It claims to report sources, and reports none.", Symptom.OTHERWISE,
            "the source");
    private static final Failure NO_SOURCE_HERE = like(
            "It does not report the source of a peer in the same process, as ofi4j inserts it there.",
            Symptom.OTHERWISE, "the source");
    private static final Failure NO_DATA = like("In this format a completion does not say that it has data.",
            Symptom.OTHERWISE, "whether it has data");
    private static final Failure COUNTS_DATA_ONLY = like(
            "It claims to count remote accesses, and counts writes with data only; ofi4j refuses it.", Symptom.REFUSED,
            "counts only writes with data");
    private static final Failure NO_ERROR = like("A read with an unknown key is not reported as an error.",
            Symptom.OTHERWISE, "the errors");
    private static final Failure NO_ANSWER = like("A read with an unknown key is not reported as an error.",
            Symptom.NEVER, "");
    private static final Failure NO_TIME = like("It ignores the timeout; ofi4j polls the counter.", Symptom.NEVER, "");
    private static final Failure AT_ONCE = like("It returns at once; ofi4j polls the counter.", Symptom.OTHERWISE,
            "the status of a wait for more");
    private static final Failure NOT_FOUND = like(
            "It does not find the first address; ofi4j returns the address that was inserted.", Symptom.OTHERWISE,
            "the status");
    private static final Failure NO_PREFIX = like(
            "It omits the prefix of the address; ofi4j returns the address that was inserted.", Symptom.OTHERWISE,
            "the address");
    private static final Failure OLD_VALUE = like("It returns the old value until the next receive.", Symptom.OTHERWISE,
            "what was set");
    private static final Failure NOT_AUTOMATIC = like(
            "It claims automatic progress, but does not serve a target that does not poll.", Symptom.NEVER, "");
    private static final Failure NO_REASON = like("The data of a rejection does not arrive.", Symptom.OTHERWISE,
            "REFUSED");
    private static final Failure NO_THREAD = like("Its thread ends the process when a peer leaves; ofi4j refuses it.",
            Symptom.REFUSED, "automatic data progress");

    private static final Failure BROKEN_ATOMICS = like(
            "Its first fetch is wrong or ends the process, and injects are lost; ofi4j refuses atomic operations.",
            Symptom.REFUSED, "atomic operations");
    private static final Failure SILENT_INJECT = like("It gives no completion; ofi4j refuses it.", Symptom.REFUSED,
            "with INJECT");
    private static final Failure SWAPS_ADDRESSES = like(
            "It compares and swaps addresses, not what is there; ofi4j refuses it.", Symptom.REFUSED, "CSWAP");
    private static final Failure SPOILED_TARGET = like("It leaves wrong bytes at the target; ofi4j refuses it.",
            Symptom.REFUSED, "with REMOTE_CQ_DATA");

    private static final Failure UNCOUNTED = like("A read with an unknown key is not reported as an error.",
            Symptom.NEVER, "in the counter");
    private static final Failure CUT = like("It cuts the message to the receive, and completes both.",
            Symptom.OTHERWISE, "the receives that completed well");
    private static final Failure OTHER_ENDPOINT = like(
            "A message that came before its receive goes to that of another endpoint of the domain, if its tag fits.",
            Symptom.OTHERWISE, "an endpoint");
    private static final Failure UNANSWERED = like("A write to a region that was closed is never answered.",
            Symptom.NEVER, "to a target that was closed");

    private static final Failure TOO_MANY_REMOVALS = like(
            "It ends the process once some 140 peers were inserted, written to and removed.", Symptom.ENDS, "SIGSEGV");

    private static final Failure WRONG_RECEIVE = like(
            "The rest of the longer message goes to the receive that has completed: a poll never returns, or ends the "
                    + "process.",
            Symptom.ENDS, "");

    private static final Failure SPINS = like(
            "A poll never returns once a message is longer than what is left of the receive.", Symptom.ENDS, "");

    private static final Failure NO_TRYWAIT = like(
            "It has no fi_trywait: a wait for an event returns each millisecond.", Symptom.OTHERWISE,
            "ends at its deadline");
    private static final Failure STAYS_READABLE = like(
            "The descriptor of an event queue stays readable after its first event: a loop that blocks on it spins.",
            Symptom.OTHERWISE, "how often a loop of waits turns");
    private static final Failure TABLES_ONLY = like("It has vectors of the type TABLE only.", Symptom.OTHERWISE,
            "Invalid argument");
    private static final Failure NO_TEXT = like("It has no text for an address.", Symptom.OTHERWISE,
            "an address has a text");
    private static final Failure READS_HERE = like(
            "A read of 4 KiB or more from an endpoint of the same process never returns.", Symptom.ENDS,
            "did not return");
    private static final Failure NO_KEY = like("A region has no key: no peer can use it.", Symptom.OTHERWISE,
            "Key was rejected");

    private static final String COUNTED_ERRORS = "a counter counts what fails, without a queue";
    private static final String FROM = "fi_cq_readfrom";
    private static final String ERROR = "fi_cq_readerr, fi_cq_strerror";
    private static final String WAIT = "fi_cntr_wait";
    private static final String AUTO = "data progress AUTO";

    private static final String DISCARD = "fi_trecvmsg, DISCARD";

    private static final List<Failure> ATOMIC = Stream.concat(
            CallTrials.ALL.keySet().stream().filter(call -> call.contains("atomic"))
                    .map(call -> new Failure(call, "udp;ofi_rxd", ALL_VERSIONS, BROKEN_ATOMICS)),
            Stream.of(new Failure("fi_atomicmsg, INJECT", "tcp;ofi_rxm", ALL_VERSIONS, SILENT_INJECT),
                    new Failure("fi_atomicmsg, INJECT", "verbs;ofi_rxm", ALL_VERSIONS, SILENT_INJECT),
                    new Failure("fi_compare_atomic", "verbs MSG", ALL_VERSIONS, SWAPS_ADDRESSES),
                    new Failure("fi_compare_atomicv", "verbs MSG", ALL_VERSIONS, SWAPS_ADDRESSES),
                    new Failure("fi_compare_atomicmsg", "verbs MSG", ALL_VERSIONS, SWAPS_ADDRESSES),
                    new Failure("fi_atomicmsg, REMOTE_CQ_DATA", "shm", ALL_VERSIONS, SPOILED_TARGET)))
            .toList();

    private static final List<Failure> ALL = List.of(
            new Failure("fi_recv, directed", "net, tcp", ALL_VERSIONS, ANY_PEER),
            new Failure("fi_recv, directed", "shm", FROM_1_19, OVERWRITES_QUEUE),
            new Failure("fi_recv, directed", "tcp;ofi_rxm", FROM_2_1, OVERWRITES_QUEUE),
            new Failure("fi_recv, directed", "verbs;ofi_rxm", FROM_2_1, OVERWRITES_QUEUE),
            new Failure("fi_trecv, directed", "shm", FROM_2_5, UNRECOGNIZED),
            new Failure("fi_trecvmsg, CLAIM", "shm", UP_TO_1_18, RECEIVES),
            new Failure("fi_trecvmsg, CLAIM", "udp;ofi_rxd", ALL_VERSIONS, CUT_SHORT),
            new Failure("fi_trecv, mask", "shm", VersionRange.from(1, 17).to(1, 18), NO_MASK),
            new Failure("fi_trecvmsg, PEEK", "shm", UP_TO_1_18, RECEIVES),
            new Failure("fi_trecvmsg, CLAIM", "net, tcp", ONLY_1_16, LOSES_BYTES),
            new Failure(DISCARD, "net, tcp", ONLY_1_16, LOSES_BYTES), new Failure(DISCARD, "shm", UP_TO_1_18, RECEIVES),
            new Failure(DISCARD, "shm", VersionRange.from(1, 19).to(1, 19), SENDER_WAITS),
            new Failure(DISCARD, "shm", VersionRange.from(1, 20).to(2, 4), OVERWRITES_SENDER),
            new Failure(DISCARD, "tcp;ofi_rxm", ALL_VERSIONS, SENDER_WAITS),
            new Failure(DISCARD, "verbs;ofi_rxm", ALL_VERSIONS, SENDER_WAITS),
            new Failure(DISCARD, "udp;ofi_rxd", ALL_VERSIONS, SENDER_WAITS),
            new Failure(FROM, "shm", FROM_2_5, NO_SOURCE_HERE),
            new Failure(FROM, "tcp;ofi_rxm", ALL_VERSIONS, MESSAGES_ONLY),
            new Failure(FROM, "udp;ofi_rxd", ALL_VERSIONS, NO_SOURCES),
            new Failure(FROM, "verbs;ofi_rxm", ALL_VERSIONS, MESSAGES_ONLY),
            new Failure("fi_cq_read, MESSAGE", "verbs MSG", UP_TO_1_22, NO_DATA), //
            new Failure(ERROR, "shm", UP_TO_1_22, NO_ERROR),
            new Failure(ERROR, "shm", VersionRange.from(2, 0).to(2, 4), NO_ANSWER),
            new Failure(ERROR, "shm", FROM_2_5, NO_ERROR), new Failure(ERROR, "udp;ofi_rxd", ALL_VERSIONS, NO_ANSWER),
            // 208c3563b mended it
            new Failure("fi_reject, data", "tcp MSG", VersionRange.from(1, 15).to(1, 15), NO_REASON),
            new Failure("fi_cntr_read, REMOTE_WRITE", "net, tcp", ALL_VERSIONS, COUNTS_DATA_ONLY),
            new Failure("fi_cntr_read, REMOTE_READ", "net, tcp", ALL_VERSIONS, COUNTS_DATA_ONLY),
            new Failure(WAIT, "shm", UP_TO_1_17, NO_TIME), new Failure(WAIT, "sockets", UP_TO_1_21, AT_ONCE),
            new Failure(WAIT, "sockets MSG", UP_TO_1_21, AT_ONCE),
            new Failure("fi_av_lookup", "udp;ofi_rxd", VersionRange.from(1, 15).to(2, 3), NOT_FOUND),
            new Failure("fi_av_lookup", "shm", VersionRange.from(2, 1), NO_PREFIX),
            new Failure(COUNTED_ERRORS, "shm", ALL_VERSIONS, UNCOUNTED),
            new Failure(COUNTED_ERRORS, "udp;ofi_rxd", ALL_VERSIONS, UNCOUNTED),
            new Failure("a message is not written beyond its receive", "udp;ofi_rxd", ALL_VERSIONS, CUT),
            new Failure("a tagged message waits for a receive of its own endpoint", "net, tcp", FROM_1_17,
                    OTHER_ENDPOINT),
            new Failure("a receive of many messages is not written beyond its end", "sm2", FROM_2_1, SPINS),
            new Failure("an older message is received while a longer one arrives", "udp;ofi_rxd", ALL_VERSIONS,
                    WRONG_RECEIVE),
            new Failure("a target closes under traffic", "udp;ofi_rxd", ALL_VERSIONS, UNANSWERED),
            new Failure("many peers come and go", "udp;ofi_rxd", ALL_VERSIONS, TOO_MANY_REMOVALS),
            new Failure("fi_trywait of an event queue", "ucx", ALL_VERSIONS, NO_TRYWAIT),
            new Failure("waits for no event let the processor rest", "net, tcp", ONLY_1_17, STAYS_READABLE),
            new Failure("waits for no event let the processor rest", "net MSG", ONLY_1_17, STAYS_READABLE),
            new Failure("an endpoint closes while its read is answered", "psm3", ALL_VERSIONS, READS_HERE),
            new Failure("a domain works on after closes under operations", "psm3", ALL_VERSIONS, READS_HERE),
            new Failure("fi_trywait of an event queue", "lnx", ALL_VERSIONS, NO_TRYWAIT),
            new Failure("fi_av_straddr", "lnx", ALL_VERSIONS, NO_TEXT),
            new Failure("fi_mr_regattr, requested key", "lnx", ALL_VERSIONS, NO_KEY),
            new Failure("fi_av_open, MAP", "ucx", ALL_VERSIONS, TABLES_ONLY),
            new Failure("fi_av_straddr", "ucx", ALL_VERSIONS, NO_TEXT),
            new Failure("fi_setopt", "shm", FROM_2_0, OLD_VALUE),
            new Failure("fi_setopt", "tcp;ofi_rxm", FROM_2_0, OLD_VALUE),
            new Failure("fi_setopt", "verbs;ofi_rxm", FROM_2_0, OLD_VALUE),
            new Failure(AUTO, "verbs;ofi_rxm", ALL_VERSIONS, NO_THREAD),
            new Failure(AUTO, "tcp;ofi_rxm", UP_TO_1_17, NOT_AUTOMATIC),
            new Failure(AUTO, "net, tcp", ALL_VERSIONS, NOT_AUTOMATIC),
            new Failure(AUTO, "tcp MSG", ALL_VERSIONS, NOT_AUTOMATIC),
            new Failure(AUTO, "net MSG", ONLY_1_17, NOT_AUTOMATIC));

    private UpstreamFailures() {}

    private static Failure like(String reason, Symptom symptom, String says) {
        return new Failure("", "", ALL_VERSIONS, reason, symptom, says);
    }

    /** {@return how a trial is known to fail} What {@code ofi_rxm} does over one provider it does over others. */
    public static Optional<Failure> of(String call, Subject subject, Version version) {
        boolean isRxm = subject.provider().endsWith(";ofi_rxm") && !subject.provider().startsWith("verbs;");
        String column = isRxm ? "tcp;ofi_rxm" : column(subject);
        return all().filter(failure -> failure.versions.contains(version))
                .filter(failure -> call.equals(failure.call) && column.equals(failure.column)).findFirst();
    }

    /** {@return the column of a subject}: {@code net} of libfabric 1.x became {@code tcp} */
    public static String column(Subject subject) {
        boolean isNet = subject.type() == EndpointType.RDM
                && (subject.provider().equals("net") || subject.provider().equals("tcp"));
        return isNet ? "net, tcp" : subject.label();
    }

    /** {@return all of them} */
    public static Stream<Failure> all() {
        return Stream.concat(ALL.stream(), ATOMIC.stream());
    }
}
