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
    private static final int PLACES = 64;
    private static final int ROUNDS = 4;

    final Endpoint endpoint;
    final AddressVector peers;
    /** Memory for messages, followed by 8 bytes for writes. */
    final MemoryRegion memory;

    private final Receiver receiver;
    private final CompletionQueue queue;
    private final MemoryRegion goesWith;
    private final Messages messages;
    private final SaveMessage[] bodies = new SaveMessage[2 * PLACES];
    /** The subject of each message in flight. */
    private final Object[] subjects = new Object[PLACES];
    private final BitSet free = new BitSet(PLACES);
    private final BitSet toReceive = new BitSet(PLACES);
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
            int place = (int) token;
            if (place < PLACES) {
                Object about = leave(place);
                if (!closing.get()) { receiver.sent(about); }
            } else {
                SaveMessage body = bodies[place];
                int kind = body.kind(length);
                if (kind != 0) { receiver.received(body, kind, length); }
                toReceive.set(place - PLACES);
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() >= PLACES) {
                toReceive.set((int) error.token() - PLACES);
            } else if (error.token() >= 0) {
                Object about = leave((int) error.token());
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
     * @param goesWith a region that is closed with the link, and if this throws; or null
     */
    SaveLink(Domain domain, MemoryRegion goesWith, Receiver receiver) {
        this.goesWith = goesWith;
        this.receiver = receiver;
        MemoryRegion openMemory = null;
        CompletionQueue openQueue = null;
        AddressVector openVector = null;
        Endpoint open = null;
        try {
            requireOffered(domain);
            memory = openMemory = domain.allocate(2L * PLACES * SaveMessage.ROOM + Long.BYTES, Access.SEND,
                    Access.RECEIVE, Access.WRITE);
            queue = openQueue = domain.openCompletionQueue(4 * PLACES);
            peers = openVector = domain.openAddressVector();
            endpoint = open = domain.openEndpoint();
            messages = open.bind(queue).bind(peers).enable().messages();
            begin();
        } catch (Throwable t) {
            close(open, openVector, openQueue, openMemory, goesWith);
            throw t;
        }
    }

    /** {@return the offset of the 8 bytes for writes in the memory} */
    long spareOffset() {
        return 2L * PLACES * SaveMessage.ROOM;
    }

    private void begin() {
        for (int place = 0; place < 2 * PLACES; place++) {
            bodies[place] = new SaveMessage(
                    memory.segment().asSlice((long) place * SaveMessage.ROOM, SaveMessage.ROOM));
        }
        free.set(0, PLACES);
        toReceive.set(0, PLACES);
        receive();
    }

    private Object leave(int place) {
        Object about = subjects[place];
        subjects[place] = null;
        free.set(place);
        return about;
    }

    private void receive() {
        for (int place = toReceive.nextSetBit(0); place >= 0; place = toReceive.nextSetBit(place + 1)) {
            int token = PLACES + place;
            if (!messages.tryReceive(memory, (long) token * SaveMessage.ROOM, SaveMessage.ROOM, token)) { return; }
            toReceive.clear(place);
        }
    }

    /** Passes messages that have arrived to the receiver. Returns whether there were any. */
    boolean poll() {
        int found = 0;
        receive(); // posts receives for which there was no room before
        for (int round = 0; round < ROUNDS && queue.poll(completions, PLACES) > 0; round++) {
            receive();
            found++;
        }
        return found > 0;
    }

    /** Whether fewer than half of the slots for messages are free. */
    boolean isCrowded() {
        return free.cardinality() < PLACES / 2;
    }

    /** {@return the body of the message that the next {@link #send} sends; null if all slots are in flight} */
    SaveMessage next(int kind) {
        int place = free.nextSetBit(0);
        return place < 0 ? null : bodies[place].begin(kind);
    }

    /** Sends the message that {@link #next} has returned. Returns false if the provider has no room. */
    boolean send(long length, Peer peer, Object about) {
        int place = free.nextSetBit(0);
        if (!messages.trySend(memory, (long) place * SaveMessage.ROOM, length, peer, place)) { return false; }
        free.clear(place);
        subjects[place] = about;
        return true;
    }

    /** Closes the link. If it throws, it may be called again. */
    @Override
    public void close() {
        if (!closing.compareAndSet(false, true)) { return; }
        try {
            close(endpoint, peers, queue, memory, goesWith);
        } catch (Throwable t) {
            closing.set(false);
            throw t;
        }
    }

    private static void close(Endpoint endpoint, AddressVector vector, CompletionQueue queue, MemoryRegion memory,
            MemoryRegion goesWith) {
        // closes the last first, even if one of them throws; null is skipped
        try (goesWith; memory; queue; vector; endpoint) {
            return;
        }
    }

    @Override
    public String toString() { return "SaveLink at " + endpoint; }
}
