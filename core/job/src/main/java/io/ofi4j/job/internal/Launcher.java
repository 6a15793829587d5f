package io.ofi4j.job.internal;

import java.net.InetSocketAddress;

/**
 * Who has started this process beside others: knows its rank and how many there are, and brings a line of rank 0 to
 * all.
 */
public interface Launcher {
    /** For people. */
    String name();

    int rank();

    int size();

    /** Where rank 0 listens for the others. */
    default InetSocketAddress listensAt() {
        return new InetSocketAddress(0);
    }

    /**
     * {@return the line of rank 0, where {@link RendezvousPoint} reads who listens where} Blocks until all ranks have
     * called it, and may do so for ever if one is gone.
     *
     * @param line of rank 0; what others give is not looked at
     */
    String exchange(String line);

    /** Leaves in order: an end without it is a failure for the launcher. */
    void finish();

    /** Has the launcher end all processes, where it can; returns. */
    void abort(int code, String why);
}
