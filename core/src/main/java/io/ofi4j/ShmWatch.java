package io.ofi4j;

import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.ShmFiles;
import io.ofi4j.internal.ShmPeerMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Watches over the processes of shm peers of libfabric 1.x. One that is killed while it works off what was posted to it leaves its
 * memory locked, and who posts to it next waits inside the provider for ever, as would a C program. So a thread looks whether
 * processes have ended, and whether their locks stay locked. Then it refuses the peers, and lets who waits inside go.
 */
final class ShmWatch {
    static final ShmWatch OF_THIS_PROCESS = new ShmWatch();

    /** How long it rests between looks for processes that have ended, and between looks at a lock that such a one may hold. */
    private static final long REST_MILLIS = 100;
    private static final long REST_MILLIS_FOR_EACH = 5;
    private static final long SHORT_REST_MILLIS = 10;
    /** So often must a lock be seen locked: other processes, and other threads of this one, hold it for microseconds at most. */
    private static final int LOOKS = 50;

    private final List<Watched> all = new ArrayList<>();
    private boolean runs;

    /** A process's endpoint, and who stands for it here. */
    private static final class Watched {
        private final ShmPeerMemory memory;
        private final List<Peer> peers = new ArrayList<>();
        private boolean isOrphaned;
        private int timesLocked;

        private Watched(ShmPeerMemory memory) {
            this.memory = memory;
        }

        /** {@return whether that is over: the peers are refused, and nobody waits any more} */
        private boolean look() {
            isOrphaned = isOrphaned || memory.hasLostItsProcess();
            if (!isOrphaned) {
                return false;
            }
            timesLocked = memory.isLocked() ? timesLocked + 1 : 0;
            if (timesLocked < LOOKS) {
                return false;
            }
            peers.forEach(Peer::lose);
            return memory.detach();
        }
    }

    private ShmWatch() {
    }

    /** Whether posting to a provider may take for as long as another process holds a lock. */
    static boolean waitsForLocks(FabricInfo info) {
        return ShmNeighbours.concerns(info) && Libfabric.load().version().major() < 2;
    }

    /** A peer was inserted. */
    synchronized void inserted(Peer peer, EndpointAddress address) {
        if (!waitsForLocks(peer.vector.domain().info())) {
            return;
        }
        Optional<Path> file = ShmFiles.find(address.toBytes());
        Optional<Watched> watched = file.flatMap(this::watched);
        watched.ifPresent(one -> one.peers.add(peer));
        if (watched.isPresent() && !runs) {
            runs = true;
            Thread.ofPlatform().daemon().name("ofi4j-shm-watch").start(this::run);
        }
    }

    private Optional<Watched> watched(Path file) {
        for (Watched one : all) {
            if (one.memory.isOf(file)) {
                return Optional.of(one);
            }
        }
        Optional<Watched> found = ShmPeerMemory.of(file).map(Watched::new);
        found.ifPresent(all::add);
        return found;
    }

    /** fi_close of a vector: nothing is put meanwhile where the provider unmaps. */
    synchronized int close(AddressVector vector, Handle handle) {
        all.forEach(one -> one.peers.removeIf(peer -> peer.vector == vector));
        forget(one -> one.peers.isEmpty());
        return FidOps.fi_close(handle);
    }

    private void forget(Predicate<Watched> which) {
        for (Iterator<Watched> each = all.iterator(); each.hasNext();) {
            Watched one = each.next();
            if (which.test(one)) {
                each.remove();
                one.memory.close();
            }
        }
    }

    private synchronized void run() {
        try {
            while (!all.isEmpty()) {
                boolean isUrgent = all.stream().anyMatch(one -> one.timesLocked > 0);
                wait(isUrgent ? SHORT_REST_MILLIS : REST_MILLIS + REST_MILLIS_FOR_EACH * all.size());
                forget(Watched::look);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            runs = false;
        }
    }
}
