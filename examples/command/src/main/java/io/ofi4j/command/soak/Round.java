package io.ofi4j.command.soak;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.soak.Slots.State;
import io.ofi4j.info.EndpointAddress;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;

/** One set of objects, opened, used for random operations, and closed in one way or another. */
final class Round implements CompletionHandler {
    private static final int ECANCELED = 125;
    private static final int DATA_BYTES = 4;

    /** What is in flight on a slot. */
    private record Operation(int slot, boolean isRead, MemoryRegion local, long since) {}

    private final Domain domain;
    private final TargetProcess target;
    private final Random random;
    private final Tally tally;
    private final Pace pace;
    private final Slots slots;
    private final Map<Long, Operation> inFlight = new HashMap<>();
    private final long[] writtenAt;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final Peer peer;
    private final RemoteRegion remote;
    private MemoryRegion local;
    private long lastToken;
    /** Of what is posted now; an inject has none. */
    private long posting;
    private long dataSent;
    private boolean peerIsGone;
    private long lastMoved = System.nanoTime();

    Round(Domain domain, TargetProcess target, Random random, Tally tally, Pace pace) {
        this.domain = domain;
        this.target = target;
        this.random = random;
        this.tally = tally;
        this.pace = pace;
        slots = new Slots(pace.largest());
        writtenAt = new long[slots.count()];
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        String mine = HexFormat.of().formatHex(endpoint.address().toBytes());
        String[] theirs = target.ask("open " + slots.length() + " " + mine, this::poll).split(" ");
        peer = vector.insert(EndpointAddress.of(HexFormat.of().parseHex(theirs[0])));
        remote = RemoteRegion.decode(HexFormat.of().parseHex(theirs[1]));
        local = domain.allocate(slots.length(), Access.READ, Access.WRITE);
        tally.rounds++;
    }

    /** Posts random operations, as long as a round may; completions are taken meanwhile. */
    void run() {
        long start = System.nanoTime();
        int operations = random.nextInt(pace.operations());
        for (int i = 0; i < operations && System.nanoTime() - start < pace.posting().toNanos(); i++) {
            step();
        }
    }

    /** Posts one operation on a random slot that is free, if one is. */
    private void step() {
        int slot = random.nextInt(slots.count());
        if (slots.state(slot) == State.BUSY) {
            poll();
            requireMovement();
            return;
        }
        if (slots.state(slot) == State.WRITTEN || random.nextInt(4) == 0) {
            read(slot);
        } else if (random.nextInt(3) == 0 && slots.size(slot) <= rma().injectSize()) {
            inject(slot);
        } else {
            write(slot);
        }
        if (random.nextInt(8) == 0) { poll(); }
        if (random.nextInt(200) == 0) { closeRegionInUse(); }
    }

    private Rma rma() { return endpoint.rma(); }

    private long begin(int slot, boolean isRead, int bytes) {
        slots.state(slot, State.BUSY);
        inFlight.put(++lastToken, new Operation(slot, isRead, local, System.nanoTime()));
        tally.operations++;
        tally.bytes += bytes;
        posting = lastToken;
        return lastToken;
    }

    private void write(int slot) {
        int length = 1 + random.nextInt(slots.size(slot));
        int at = slots.offset(slot) + random.nextInt(slots.size(slot) - length + 1);
        slots.change(random, at, length);
        copyOut(at, length);
        boolean data = domain.info().domain().completionDataSize() >= DATA_BYTES && random.nextInt(4) == 0;
        long token = begin(slot, false, length);
        if (data) {
            dataSent++;
            post(() -> rma().tryWriteData(local, at, length, slot, peer, remote, at, token));
        } else {
            post(() -> rma().tryWrite(local, at, length, peer, remote, at, token));
        }
    }

    private void inject(int slot) {
        int length = 1 + random.nextInt(slots.size(slot));
        int at = slots.offset(slot);
        slots.change(random, at, length);
        copyOut(at, length);
        posting = NO_TOKEN;
        tally.operations++;
        tally.bytes += length;
        if (post(() -> rma().tryInjectWrite(local, at, length, peer, remote, at))) {
            local.segment().asSlice(at, length).fill((byte) 0);
        }
        slots.state(slot, State.WRITTEN);
        writtenAt[slot] = System.nanoTime();
    }

    private void read(int slot) {
        int from = slots.offset(slot) - Slots.GUARD;
        int length = slots.size(slot) + 2 * Slots.GUARD;
        local.segment().asSlice(from, length).fill((byte) 0);
        boolean settled = slots.state(slot) == State.SETTLED;
        long token = begin(slot, true, length);
        writtenAt[slot] = settled ? 0 : writtenAt[slot];
        post(() -> rma().tryRead(local, from, length, peer, remote, from, token));
    }

    private void copyOut(int at, int length) {
        MemorySegment.copy(MemorySegment.ofArray(slots.expected()), at, local.segment(), at, length);
    }

    /** Something to post, which is refused for want of room. */
    private interface Posting {
        boolean tryPost();
    }

    /** {@return whether it was accepted; it is not where the peer is gone} */
    private boolean post(Posting operation) {
        while (!operation.tryPost()) {
            poll();
            if (peerIsGone) {
                inFlight.remove(posting);
                return false;
            }
            requireMovement();
        }
        lastMoved = System.nanoTime();
        return true;
    }

    private void requireMovement() {
        if (!peerIsGone && System.nanoTime() - lastMoved > pace.patience().toNanos()) {
            throw new CommandFailure("Nothing moved for " + pace.patience().toSeconds() + " s with " + inFlight.size()
                    + " operations in flight: the provider " + domain.info().provider() + " has lost them.");
        }
        Thread.yield();
    }

    /** Closes the local region with operations in flight on it, and goes on with another. */
    private void closeRegionInUse() {
        local.close();
        tally.regionsClosed++;
        local = domain.allocate(slots.length(), Access.READ, Access.WRITE);
    }

    void poll() { queue.poll(this, 64); }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        Operation operation = inFlight.remove(token);
        if (token == NO_TOKEN) { return; }
        if (operation == null) {
            tally.mismatch("token " + token + " came back twice");
            return;
        }
        lastMoved = System.nanoTime();
        if (operation.isRead()) {
            if (operation.local().segment().scope().isAlive()) { // else it was closed, and its memory with it
                verify(operation);
            } else {
                slots.state(operation.slot(), State.WRITTEN);
            }
        } else {
            slots.state(operation.slot(), State.WRITTEN);
            writtenAt[operation.slot()] = System.nanoTime();
        }
    }

    /** A write may still be under way when its completion comes, so that a read that comes too early is done again. */
    private void verify(Operation operation) {
        int slot = operation.slot();
        int from = slots.offset(slot) - Slots.GUARD;
        int to = slots.offset(slot) + slots.size(slot) + Slots.GUARD;
        long differs = MemorySegment.mismatch(operation.local().segment(), from, to,
                MemorySegment.ofArray(slots.expected()), from, to);
        if (differs < 0) {
            slots.state(slot, State.SETTLED);
            tally.verifiedBytes += to - from;
            return;
        }
        slots.state(slot, State.WRITTEN);
        boolean late = writtenAt[slot] != 0 && System.nanoTime() - writtenAt[slot] < pace.patience().toNanos();
        if (!late) {
            tally.mismatch("slot " + slot + " of " + slots.size(slot) + " bytes differs at byte "
                    + (differs - Slots.GUARD) + " in round " + tally.rounds);
            writtenAt[slot] = System.nanoTime();
        }
    }

    @Override
    public void onError(CompletionError error) {
        if (error.token() == NO_TOKEN) {
            return; // an inject that failed
        }
        Operation operation = inFlight.remove(error.token());
        if (operation == null) {
            tally.mismatch("token " + error.token() + " came back twice, with " + error);
            return;
        }
        slots.state(operation.slot(), State.WRITTEN);
        if (error.errno() == ECANCELED) {
            tally.canceled++;
        } else {
            tally.failed++;
        }
        if (!peerIsGone) { tally.mismatch("an operation failed: " + error); }
    }

    /** Waits for everything in flight, reads what was written, and compares all of the target's memory. */
    void endInOrder() {
        for (int slot = 0; slot < slots.count();) {
            if (slots.state(slot) == State.BUSY) {
                poll();
                requireMovement();
            } else if (slots.state(slot) == State.WRITTEN) {
                read(slot);
            } else {
                slot++;
            }
        }
        CRC32C sum = new CRC32C();
        sum.update(slots.expected());
        if (Long.parseLong(target.ask("sum", this::poll)) != sum.getValue()) {
            tally.mismatch("the target's memory is not what was written, in round " + tally.rounds);
        }
        if (Long.parseLong(target.ask("data", this::poll)) != dataSent) {
            tally.mismatch("the target was not told of every write with data, in round " + tally.rounds);
        }
        tally.verifiedBytes += slots.length();
        closeAll();
        target.ask("close", () -> {});
    }

    /** Closes the endpoint while operations are in flight; each must come back. */
    void endAbruptly() {
        peerIsGone = true;
        closeAll();
        target.ask("close", () -> {});
    }

    /** The target was killed: what is in flight comes back as an error, or is canceled when the endpoint is closed. */
    void endWithoutTarget(int furtherOperations) {
        long start = System.nanoTime();
        peerIsGone = true;
        for (int i = 0; i < furtherOperations; i++) {
            try {
                step();
            } catch (io.ofi4j.errors.FabricException e) {
                tally.failed++; // refused at once, which is an answer too
                inFlight.remove(posting);
            }
        }
        closeAll();
        tally.recovered(System.nanoTime() - start);
    }

    private void closeAll() {
        local.close();
        endpoint.close();
        while (queue.poll(this, 64) > 0) {
            continue; // what was canceled is there at once
        }
        if (!inFlight.isEmpty()) {
            tally.mismatch(inFlight.size() + " tokens never came back, in round " + tally.rounds);
        }
        tally.slotsTaken += queue.operationsInFlight();
        vector.close();
        queue.close();
        tally.regionsOpen = domain.statistics().regions();
    }
}
