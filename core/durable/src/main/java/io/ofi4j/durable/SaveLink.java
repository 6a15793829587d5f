package io.ofi4j.durable;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.info.EndpointType;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends and receives messages about saves, over an endpoint with a queue and a vector of its own. Used by one thread at
 * a time. No method waits.
 */
final class SaveLink implements AutoCloseable {
    private static final int SLOTS = 64;
    private static final int MAX_ROUNDS = 4;
    /** A peer may have this part of the free slots in flight. */
    private static final int SHARES = 4;

    final Endpoint endpoint;
    final AddressVector peers;
    /** Memory for messages, followed by 8 bytes for writes. */
    final MemoryRegion memory;

    private final Receiver receiver;
    private final CompletionQueue queue;
    private final MemoryRegion ownedRegion;
    private final Messages messages;
    private final SaveMessage[] messageSlots = new SaveMessage[2 * SLOTS];
    /** The subject of each message in flight. */
    private final Object[] subjects = new Object[SLOTS];
    private final BitSet free = new BitSet(SLOTS);
    private final BitSet receivesToPost = new BitSet(SLOTS);
    private final AtomicBoolean closing = new AtomicBoolean();

    interface Receiver {
        /** A message of this kind has arrived. */
        void received(SaveMessage message, int kind, long length);

        /** A message about this has been sent. */
        default void sent(Object about) {}

        /** A message about this could not be sent. */
        void failed(Object about, CompletionError error);
    }

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            int slot = (int) token;
            if (slot < SLOTS) {
                Object about = releaseSlot(slot);
                if (!closing.get()) { receiver.sent(about); }
            } else {
                receivesToPost.set(slot - SLOTS); // after this handler, even if the receiver throws
                SaveMessage body = messageSlots[slot];
                int kind = body.kind(length);
                if (kind != 0) { receiver.received(body, kind, length); }
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() >= SLOTS) {
                receivesToPost.set((int) error.token() - SLOTS);
            } else if (error.token() >= 0) {
                Object about = releaseSlot((int) error.token());
                if (!closing.get()) { receiver.failed(about, error); }
            }
        }
    };

    static void requireOffered(Domain domain) {
        if (domain.info().endpoint().type() != EndpointType.RDM) {
            throw new UnsupportedOperationException("saves need messages between unconnected endpoints, and " + domain
                    + " has endpoints of type " + domain.info().endpoint().type()
                    + ": let the owner call MemoryRegion.force() and tell the writer");
        }
    }

    /**
     * Opens the link.
     *
     * @param ownedRegion closed with it, also if this throws; or null
     */
    SaveLink(Domain domain, MemoryRegion ownedRegion, Receiver receiver) {
        this.ownedRegion = ownedRegion;
        this.receiver = receiver;
        MemoryRegion openMemory = null;
        CompletionQueue openQueue = null;
        AddressVector openVector = null;
        Endpoint open = null;
        try {
            requireOffered(domain);
            memory = openMemory = domain.allocate(2L * SLOTS * SaveMessage.ROOM + Long.BYTES, Access.SEND,
                    Access.RECEIVE, Access.WRITE);
            queue = openQueue = domain.openCompletionQueue(4 * SLOTS);
            peers = openVector = domain.openAddressVector();
            endpoint = open = domain.openEndpoint();
            messages = open.bind(queue).bind(peers).enable().messages();
            begin();
        } catch (Throwable t) {
            close(open, openVector, openQueue, openMemory, ownedRegion);
            throw t;
        }
    }

    /** {@return the offset of the 8 bytes for writes in the memory} */
    long spareOffset() {
        return 2L * SLOTS * SaveMessage.ROOM;
    }

    private void begin() {
        for (int slot = 0; slot < 2 * SLOTS; slot++) {
            messageSlots[slot] = new SaveMessage(
                    memory.segment().asSlice((long) slot * SaveMessage.ROOM, SaveMessage.ROOM));
        }
        free.set(0, SLOTS);
        receivesToPost.set(0, SLOTS);
        receive();
    }

    private Object releaseSlot(int slot) {
        Object about = subjects[slot];
        subjects[slot] = null;
        free.set(slot);
        return about;
    }

    private void receive() {
        for (int slot = receivesToPost.nextSetBit(0); slot >= 0; slot = receivesToPost.nextSetBit(slot + 1)) {
            int token = SLOTS + slot;
            if (!messages.tryReceive(memory, (long) token * SaveMessage.ROOM, SaveMessage.ROOM, token)) { return; }
            receivesToPost.clear(slot);
        }
    }

    /** Passes messages that have arrived to the receiver. Returns whether there were any. */
    boolean poll() {
        int found = 0;
        receive(); // posts receives for which there was no room before
        for (int round = 0; round < MAX_ROUNDS && queue.poll(completions, SLOTS) > 0; round++) {
            receive();
            found++;
        }
        return found > 0;
    }

    /** Whether fewer than half of the slots for messages are free. */
    boolean isHalfFull() {
        return free.cardinality() < SLOTS / 2;
    }

    /**
     * {@return the number of messages to one peer that may be in flight now} Some providers keep those that a peer does
     * not take: they leave slots for the other peers.
     */
    int share() { return Math.max(1, free.cardinality() / SHARES); }

    /** {@return the body of the message that the next {@link #send} sends; null if all slots are in flight} */
    SaveMessage nextMessage(int kind) {
        int slot = free.nextSetBit(0);
        return slot < 0 ? null : messageSlots[slot].begin(kind);
    }

    /** Sends what {@link #nextMessage} has given; false if the provider has no room. */
    boolean send(long length, Peer peer, Object about) {
        int slot = free.nextSetBit(0);
        if (!messages.trySend(memory, (long) slot * SaveMessage.ROOM, length, peer, slot)) { return false; }
        free.clear(slot);
        subjects[slot] = about;
        return true;
    }

    /**
     * As {@link #send}, but occupies no slot, and the receiver is not told whether the message was sent. Returns false
     * also if the message is too long for that.
     */
    boolean inject(long length, Peer peer) {
        int place = free.nextSetBit(0);
        return length <= messages.injectSize()
                && messages.tryInject(memory, (long) place * SaveMessage.ROOM, length, peer);
    }

    /** Closes the link. If it throws, it may be called again. */
    @Override
    public void close() {
        if (!closing.compareAndSet(false, true)) { return; }
        try {
            close(endpoint, peers, queue, memory, ownedRegion);
        } catch (Throwable t) {
            closing.set(false);
            throw t;
        }
    }

    private static void close(Endpoint endpoint, AddressVector vector, CompletionQueue queue, MemoryRegion memory,
            MemoryRegion ownedRegion) {
        // closes the last first, even if one of them throws; null is skipped
        try (ownedRegion; memory; queue; vector; endpoint) {
            return;
        }
    }

    @Override
    public String toString() { return "SaveLink at " + endpoint; }
}
