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
     * {@return the line of rank 0, from which {@link RendezvousPoint} reads where rank 0 listens} Blocks until all
     * ranks have called it, perhaps for ever if one has ended.
     *
     * @param line the line of rank 0; ignored at other ranks
     */
    String exchange(String line);

    /** Tells the launcher that this process leaves. To the launcher, a process that ends without this has failed. */
    void finish();

    /** Has the launcher end all processes, if it can, and returns. */
    void abort(int code, String why);
}
