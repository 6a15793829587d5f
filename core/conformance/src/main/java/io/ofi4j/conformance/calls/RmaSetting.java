package io.ofi4j.conformance.calls;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.PreparedRma;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Ends;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/** What a one-sided call is tried on: two ends, with a region of ones at the near and of twos at the far. */
final class RmaSetting implements AutoCloseable {
    static final int LENGTH = 64;
    static final long TOKEN = 77;

    final Ends ends;
    final End near;
    final End far;
    final MemoryRegion here;
    final MemoryRegion there;
    /** How long to wait for what the call shall do. */
    final Duration deadline;

    RmaSetting(Ends ends, Duration deadline) {
        this.ends = ends;
        this.near = ends.near;
        this.far = ends.far;
        this.deadline = deadline;
        this.here = ends.domain.allocate(LENGTH, Access.READ, Access.WRITE);
        this.there = ends.domain.allocate(LENGTH, Access.REMOTE_READ, Access.REMOTE_WRITE);
        here.segment().fill((byte) 1);
        there.segment().fill((byte) 2);
    }

    Rma rma() { return near.endpoint().rma(); }

    PreparedRma message() {
        return rma().prepare().peer(ends.peer).local(here, 0, LENGTH).remote(there.remote(), 0, LENGTH);
    }

    /** Writes, with an operation that has no flags of its own. */
    void write() { writeTo(ends.peer); }

    /** Writes what is here to a peer, and waits until it has come there. */
    void writeTo(Peer peer) {
        write(here, peer, there.remote());
        awaitWritten();
    }

    private void write(MemoryRegion from, Peer to, RemoteRegion at) {
        rma().write(from.slice(0, LENGTH), to, at, TOKEN);
        ends.awaitToken(TOKEN);
    }

    /** Writes from another region and to another one. */
    void write(MemoryRegion from, MemoryRegion to) {
        from.segment().fill((byte) 1);
        write(from, ends.peer, to.remote());
        awaitByte(to, (byte) 1);
    }

    /** Runs something while another thread polls the far end. */
    void whileTheFarEndPolls(Runnable work) throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        Throwable[] thrown = new Throwable[1];
        Thread polling = Thread.ofPlatform().start(() -> {
            try {
                while (!over.get()) {
                    far.poll();
                    Thread.yield();
                }
            } catch (RuntimeException | Error e) {
                thrown[0] = e;
            }
        });
        try {
            work.run();
        } finally {
            over.set(true);
            polling.join();
        }
        Check.equal("thrown by the poll of the far end", thrown[0], null);
    }

    /** Waits until what is here has come there. */
    void awaitWritten() { awaitByte(there, (byte) 1); }

    /** Waits until what is there has come here. */
    void awaitRead() { awaitByte(here, (byte) 2); }

    /** Waits until a region is full of a value. */
    void awaitByte(MemoryRegion region, byte expected) {
        ends.await(() -> has(region, expected));
        Check.none("the errors", near.errors);
    }

    /** Whether a region is full of a value. */
    static boolean has(MemoryRegion region, byte value) {
        byte[] all = new byte[Math.toIntExact(region.length())];
        Arrays.fill(all, value);
        return region.segment().mismatch(MemorySegment.ofArray(all)) == -1;
    }

    /** Waits until the far end was told of a write with this data. */
    void awaitData(long data) {
        ends.await(() -> far.remoteData().contains(data));
    }

    @Override
    public void close() {
        here.close();
        there.close();
        ends.close();
    }
}
