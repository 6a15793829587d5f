package io.ofi4j.job.internal;

import java.net.InetSocketAddress;

/** The launcher of this process: knows its rank and the number of ranks, and brings a line of rank 0 to all ranks. */
public interface Launcher {
    /** {@return the name of the launcher, for messages} */
    String name();

    int rank();

    int size();

    /** {@return where rank 0 listens for the other ranks} */
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

    /** Leaves. A process that ends without this has failed, for the launcher. */
    void finish();

    /** Has the launcher end all processes, if it can, and returns. */
    void abort(int code, String why);
}
