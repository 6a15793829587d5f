package io.ofi4j.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.PreparedRma;
import io.ofi4j.Waiting;
import io.ofi4j.faults.Elsewhere;
import io.ofi4j.support.Pair;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** What a call is tried on: two endpoints of one provider, with a region at each. */
public final class Trial implements AutoCloseable {
    public static final int LENGTH = 64;
    public static final long TOKEN = 77;

    private static final Access[] HERE = {Access.READ, Access.WRITE};
    private static final Access[] THERE = {Access.REMOTE_READ, Access.REMOTE_WRITE};

    public final Pair pair;
    public final MemoryRegion here;
    public final MemoryRegion there;
    /** How long to wait for what the call shall do. */
    public final Duration deadline;
    /** What the far end was told of writes. */
    public final List<Long> remoteData = new ArrayList<>();

    public Trial(Pair pair, Duration deadline) {
        this.pair = pair;
        this.deadline = deadline;
        this.here = pair.domain.allocate(LENGTH, HERE);
        this.there = pair.domain.allocate(LENGTH, THERE);
        here.segment().fill((byte) 1);
        there.segment().fill((byte) 2);
    }

    public Rma rma() { return pair.rma(); }

    /** The vector of the endpoints' peers. */
    public AddressVector vector() {
        if (pair.vector == null) {
            throw new UnsupportedOperationException("connected endpoints have no address vector");
        }
        return pair.vector;
    }

    /** Writes what is here to a peer, and waits until it has come there. */
    public void writeTo(Peer peer) {
        write(here, peer, there.remote());
        awaitWritten();
    }

    private void write(MemoryRegion from, Peer to, RemoteRegion at) {
        rma().write(from.slice(0, LENGTH), to, at, TOKEN);
        awaitToken(TOKEN);
    }

    /** Waits for one completion at the near end, with that token and no error. */
    public void awaitToken(long token) {
        pair.awaitToken(token, deadline);
    }

    /** Writes, with an operation that has no flags of its own. */
    public void write() { writeTo(pair.far); }

    /** Writes from another region and to another one. */
    public void write(MemoryRegion from, MemoryRegion to) {
        from.segment().fill((byte) 1);
        write(from, pair.far, to.remote());
        awaitByte(to, (byte) 1);
    }

    /** Runs something while another thread polls the far end. */
    public void whileTheFarEndPolls(Runnable work) {
        AtomicBoolean over = new AtomicBoolean();
        Elsewhere polling = Elsewhere.start(() -> {
            while (!over.get()) {
                pair.farQueue.poll((token, flags, length, data) -> {}, LENGTH);
                Thread.yield();
            }
        });
        try {
            work.run();
        } finally {
            over.set(true);
        }
        assertThat(polling.await()).as("thrown by the poll of the far end").isNull();
    }

    public PreparedRma message() {
        return rma().prepare().peer(pair.far).local(here, 0, LENGTH).remote(there.remote(), 0, LENGTH);
    }

    /** Waits until what is here has come there. */
    public void awaitWritten() { awaitByte(there, (byte) 1); }

    /** Waits until what is there has come here. */
    public void awaitRead() { awaitByte(here, (byte) 2); }

    /** Waits until a region is full of a value. */
    public void awaitByte(MemoryRegion region, byte expected) {
        await(() -> has(region, expected));
        assertThat(pair.errors).isEmpty();
    }

    /** Whether a region is full of a value. */
    public static boolean has(MemoryRegion region, byte value) {
        byte[] all = new byte[Math.toIntExact(region.length())];
        Arrays.fill(all, value);
        return region.segment().mismatch(MemorySegment.ofArray(all)) == -1;
    }

    /** Waits, and polls both ends. */
    public void await(BooleanSupplier condition) {
        Waiting.YIELD.until(() -> {
            poll();
            return condition.getAsBoolean();
        }, deadline);
    }

    /** Waits until the far end was told of a write with this data. */
    public void awaitData(long data) {
        await(() -> remoteData.contains(data));
    }

    private void poll() {
        pair.pollNear();
        pair.farQueue.poll((token, flags, length, data) -> {
            if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) { remoteData.add(data); }
        }, LENGTH);
    }

    @Override
    public void close() {
        here.close();
        there.close();
        pair.close();
    }
}
