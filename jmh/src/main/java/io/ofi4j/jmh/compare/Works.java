package io.ofi4j.jmh.compare;

import java.util.Iterator;
import java.util.List;

/** What can be measured, and what of it was asked for. */
final class Works implements Iterable<String> {
    /** What one process does, then what two do. */
    static final List<String> NAMES = List.of("write", "read", "inject", "writedata", "poll", "prepared-write", "rate",
            "bandwidth", "fetch-add", "message-rate", "tagged-roundtrip", "pingpong-write", "pingpong-writedata");

    private static final String EXCHANGE = "pingpong-";

    private final List<String> wanted;
    private final List<Job> all;
    private final boolean cold;
    private final boolean chosen;

    /** For picocli, which wants the names. */
    Works() { this(List.of(), false, false); }

    /**
     * What was asked for.
     *
     * @param wanted of {@link #NAMES}, or nothing for all
     * @param manySizes whether the bandwidth is measured at many sizes
     * @param cold whether other memory is walked between operations
     */
    Works(List<String> wanted, boolean manySizes, boolean cold) {
        this.wanted = wanted.isEmpty() ? NAMES : wanted;
        this.chosen = !wanted.isEmpty();
        this.all = cold ? Job.cold() : Job.all(manySizes);
        this.cold = cold;
    }

    /** {@return what one process does with endpoints of a family} */
    List<Job> jobs(Family family) {
        return all.stream().filter(job -> job.family() == family && wanted.contains(job.operation())).toList();
    }

    /** {@return whether the user has named what is wanted} */
    boolean isChosen() { return chosen; }

    /** {@return how much there is to do with endpoints of a family} */
    double weight(Family family) {
        return jobs(family).size() + (family == Family.RMA ? exchanges().size() * Plan.EXCHANGE_WEIGHT : 0);
    }

    /** {@return the share of the time that a family gets, with the start of its workers} */
    double share(Family family) {
        double weight = weight(family);
        return weight > 0 ? weight + Plan.START_WEIGHT : 0;
    }

    /** {@return what two processes do, as the workers call it} */
    List<String> exchanges() {
        return NAMES.stream().filter(name -> !cold && name.startsWith(EXCHANGE) && wanted.contains(name))
                .map(name -> name.substring(EXCHANGE.length())).toList();
    }

    @Override
    public Iterator<String> iterator() { return NAMES.iterator(); }
}
