package io.ofi4j;

import io.ofi4j.internal.AbandonedShmFiles;
import io.ofi4j.internal.CrossMemory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The files in {@code /dev/shm} that the shm provider's endpoints live in, about 16 MB each; fi_shm(7). Closing an endpoint and
 * ending the process remove them, and a process that is killed leaves them behind. The first shm endpoint of the next process
 * removes what is left; this class is for those who want to know, or not to wait. Any thread may call it.
 *
 * <p>A file counts as abandoned when its process is gone and the kernel knows nobody who has it open or mapped, in this
 * container or another.
 */
public final class SharedMemory {
    private SharedMemory() {
    }

    /** {@return the files that killed processes left behind, this user's and, for root, everybody's} */
    public static List<Path> abandoned() {
        return AbandonedShmFiles.find();
    }

    /** {@return the files that killed processes left behind and that this call removed} */
    public static List<Path> removeAbandoned() {
        return AbandonedShmFiles.remove();
    }

    /**
     * {@return why this process cannot read the memory of another of its user, as the provider does for long transfers
     * (process_vm_readv, cross-memory attach); nothing where it can} It starts a process, reads of it, and ends it. That a process
     * may read of one that it started does not say that it may read of others: Yama's {@code ptrace_scope} tells those apart.
     */
    public static Optional<String> crossMemoryRefusal() {
        return CrossMemory.refusal();
    }
}
