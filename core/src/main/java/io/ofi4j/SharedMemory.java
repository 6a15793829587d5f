package io.ofi4j;

import io.ofi4j.internal.AbandonedShmFiles;
import io.ofi4j.internal.CrossMemory;
import io.ofi4j.internal.NativeAccess;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The files in {@code /dev/shm} that the shm provider's endpoints live in, 16 MB each as a rule; fi_shm(7). Closing an endpoint and
 * ending the process remove them, and a process that is killed leaves them behind. The first shm endpoint of the next process
 * removes what is left; this class is for those who want to know, or not to wait. Any thread may call it.
 *
 * <p>A file counts as abandoned when it is an endpoint's, whatever its name, and the kernel knows nobody who has it open or
 * mapped, in this container or another.
 *
 * <p>The provider would leave the files sparse, and the process would end where there is no room when it comes to be needed. So an
 * endpoint that is enabled has all of its file's room, and a peer that is inserted too, or there is a {@link FabricException} with the
 * error number ENOSPC (28). That costs memory: with the system property {@code io.ofi4j.shm.reserve} set to {@code false}, files hold
 * what was used of them, as in C programs, and whoever sets it sees to it that {@code /dev/shm} never becomes full.
 */
public final class SharedMemory {
    private SharedMemory() {
    }

    /**
     * {@return the files that killed processes left behind, this user's and, for root, everybody's}
     *
     * @throws IllegalCallerException if the JVM refuses native access; the message names its option
     */
    public static List<Path> abandoned() {
        return NativeAccess.require(AbandonedShmFiles::find);
    }

    /**
     * {@return the files that killed processes left behind and that this call removed}
     *
     * @throws IllegalCallerException if the JVM refuses native access; the message names its option
     */
    public static List<Path> removeAbandoned() {
        return NativeAccess.require(AbandonedShmFiles::remove);
    }

    /**
     * {@return why this process cannot read the memory of another of its user, as the provider does for long transfers
     * (process_vm_readv, cross-memory attach); nothing where it can} It starts a process, reads of it, and ends it. That a process
     * may read of one that it started does not say that it may read of others: Yama's {@code ptrace_scope} tells those apart.
     *
     * @throws IllegalCallerException if the JVM refuses native access; the message names its option
     */
    public static Optional<String> crossMemoryRefusal() {
        return NativeAccess.require(CrossMemory::refusal);
    }
}
