package io.ofi4j.job.internal;

import java.util.List;

/**
 * How the ranks of a job exchange values and wait for each other. It knows the rank of this process and the number of
 * ranks. Any thread may call the methods; no thread calls {@link #gather} or {@link #barrier} while another one does.
 * Every method throws {@link LauncherException} if it cannot go on.
 */
public interface JobEngine {
    /** {@return who started the job, for messages} */
    String name();

    int rank();

    int size();

    /** Makes a value known to all ranks, without waiting for them. A name is put once. */
    void put(String name, byte[] value, Deadline deadline);

    /** {@return what a rank has put under this name} It waits until there is something. */
    byte[] get(int rank, String name, Wait wait);

    /** {@return the values of all ranks} It waits until all have called it. The engine has made sure that each came. */
    List<byte[]> gather(byte[] value, Wait wait);

    /** Waits until all ranks have called it. */
    void barrier(Wait wait);

    /** {@return what has happened to a rank that was lost, or null} It only reads a field. */
    LauncherException lost();

    /**
     * Leaves. To a launcher, a process that ends without this has failed.
     *
     * @param why why this rank cannot go on, which the others are told where that is possible; null if it leaves in
     *        order
     */
    void leave(Deadline deadline, String why);

    /** Tells the others, or the launcher, that the job has failed, and returns. */
    void abort(int code, String why);
}
