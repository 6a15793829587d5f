package io.ofi4j.job.internal;

import java.util.List;

/** The launcher or rank 0 cannot be reached, or has refused a call, or a rank is missing. */
public final class LauncherException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    /** What helps where somebody is late. */
    static final String LONGER = ". If ranks need longer, join with a longer deadline: Job.join(Duration).";

    private final transient List<Integer> ranks;

    public LauncherException(String message, Throwable cause) {
        super(message, cause);
        this.ranks = List.of();
    }

    public LauncherException(String message) { this(List.of(), message); }

    /**
     * A failure because of some ranks.
     *
     * @param message what they have or have not done, as the end of a sentence that begins with them
     */
    public LauncherException(List<Integer> ranks, String message) {
        super(message);
        this.ranks = List.copyOf(ranks);
    }

    /** {@return the failure that a rank has not put what another one waits for} */
    public static LauncherException noValue(int rank, Deadline deadline) {
        return new LauncherException(List.of(rank), "did not put the value within " + deadline);
    }

    /** {@return the failure that some ranks have not come to a call of all; without any, that some no longer wait} */
    public static LauncherException late(List<Integer> ranks, Deadline deadline) {
        return ranks.isEmpty()
                ? new LauncherException("all ranks came, but some no longer wait" + LONGER)
                : new LauncherException(ranks, "did not come within " + deadline + LONGER);
    }

    /** {@return the ranks that the message is about; empty if it is a whole sentence} */
    public List<Integer> ranks() {
        return ranks;
    }
}
