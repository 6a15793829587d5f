package io.ofi4j;

import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.ShmFiles;
import io.ofi4j.internal.ShmLocks;
import io.ofi4j.internal.ShmOwnMemory;
import io.ofi4j.internal.ShmPeerMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Watches over the locks of shm endpoints of libfabric 1.x. A process that is killed leaves locked what it had locked: its own memory, if
 * it was working off what was posted to it, or another's, to which it was posting. Who takes such a lock next waits inside the
 * provider for ever, as would a C program. So a thread looks whether locks stay locked. Where a peer's process has ended, it
 * refuses the peer, and lets who waits inside go; where no live thread can hold the lock of an endpoint of this process, it unlocks it.
 */
final class ShmWatch {
    static final ShmWatch OF_THIS_PROCESS = new ShmWatch();

    /** How long it rests between looks, and between looks at a lock that stays locked. */
    private static final long REST_MILLIS = 100;
    private static final long REST_MILLIS_FOR_EACH = 5;
    private static final long SHORT_REST_MILLIS = 10;
    /** So often must a lock be seen locked: who holds it does so for microseconds as a rule. */
    private static final int LOOKS = 50;

    private final List<PeerProcess> peers = new ArrayList<>();
    private final List<Own> own = new ArrayList<>();
    private boolean runs;

    /** An endpoint of another process, and who stands for it here. */
    private static final class PeerProcess {
        private final ShmPeerMemory memory;
        private final List<Peer> peers = new ArrayList<>();
        private boolean isOrphaned;
        private int timesStill;

        private PeerProcess(ShmPeerMemory memory) {
            this.memory = memory;
        }

        /** {@return whether that is over: the peers are refused, and nobody waits any more} */
        private boolean look() {
            isOrphaned = isOrphaned || memory.hasLostItsProcess();
            timesStill = isOrphaned && memory.isStill() ? timesStill + 1 : 0;
            if (timesStill < LOOKS) {
                return false;
            }
            peers.forEach(Peer::lose);
            return memory.detach();
        }
    }

    /** An endpoint of this process. */
    private static final class Own {
        private final ShmOwnMemory memory;
        private int timesStill;

        private Own(ShmOwnMemory memory) {
            this.memory = memory;
        }

        private void look() {
            timesStill = memory.isStill() ? timesStill + 1 : 0;
            if (timesStill >= LOOKS && memory.isHeldByNobody()) {
                memory.free();
                timesStill = 0;
            }
        }
    }

    private ShmWatch() {
    }

    /** Whether it is shm of libfabric 1.x, which may wait for a lock that another process holds. */
    static boolean concerns(FabricInfo info) {
        return ShmLocks.concern(info.provider());
    }

    /** A peer was inserted. */
    synchronized void inserted(Peer peer, EndpointAddress address) {
        if (concerns(peer.vector.domain().info())) {
            ShmFiles.find(address.toBytes()).flatMap(this::watched).ifPresent(one -> {
                one.peers.removeIf(other -> other.removed);
                one.peers.add(peer);
                start();
            });
        }
    }

    private Optional<PeerProcess> watched(Path file) {
        for (PeerProcess one : peers) {
            if (one.memory.isOf(file)) {
                return Optional.of(one);
            }
        }
        Optional<PeerProcess> found = ShmPeerMemory.of(file).map(PeerProcess::new);
        found.ifPresent(peers::add);
        return found;
    }

    /** fi_close of a vector: nothing is put meanwhile where the provider unmaps. */
    synchronized int close(AddressVector vector, Handle handle) {
        peers.forEach(one -> one.peers.removeIf(peer -> peer.vector == vector));
        forget(one -> one.peers.isEmpty());
        return FidOps.fi_close(handle);
    }

    /** An endpoint of this process was enabled. */
    synchronized void opened(FabricInfo info, Path file) {
        if (concerns(info)) {
            ShmOwnMemory.of(file).ifPresent(memory -> {
                own.add(new Own(memory));
                start();
            });
        }
    }

    /** An endpoint of this process is about to be unmapped. */
    synchronized void closing(Path file) {
        own.removeIf(one -> one.memory.isOf(file));
    }

    private void forget(Predicate<PeerProcess> which) {
        for (Iterator<PeerProcess> each = peers.iterator(); each.hasNext();) {
            PeerProcess one = each.next();
            if (which.test(one)) {
                each.remove();
                one.memory.close();
            }
        }
    }

    private void start() {
        if (runs) {
            return;
        }
        try {
            runs = true;
            Thread.ofPlatform().daemon().name("ofi4j-shm-watch").start(this::run);
        } catch (OutOfMemoryError e) { // there is room for no thread: until the next try as in a C program, which has none
            runs = false;
        }
    }

    private synchronized void run() {
        try {
            while (!peers.isEmpty() || !own.isEmpty()) {
                wait(rest());
                forget(PeerProcess::look);
                own.forEach(Own::look);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            runs = false;
        }
    }

    private long rest() {
        boolean isUrgent = peers.stream().anyMatch(one -> one.timesStill > 0)
                || own.stream().anyMatch(one -> one.timesStill > 0);
        return isUrgent ? SHORT_REST_MILLIS : REST_MILLIS + REST_MILLIS_FOR_EACH * peers.size();
    }
}
