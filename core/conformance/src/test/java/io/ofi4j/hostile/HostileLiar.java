package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointAddress;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;

/**
 * A client of a save service that lies: it sends garbage, halves of messages, false lengths, and requests of all kinds
 * with the secret that its greetings got it, as many as there is room for, and takes its answers or does not.
 */
final class HostileLiar implements CompletionHandler, AutoCloseable {
    private static final int MAGIC = 0x4f464953;
    private static final int FORMAT = 1 << 16;
    private static final int GREETING = 1;
    private static final int WELCOME = 2;
    private static final int KINDS = 9;
    private static final int LENGTH = 64;
    /** Of the longest message that the service receives. */
    private static final int ROOM = 512;
    private static final int SLOTS = 32;
    private static final int FLOOD = 200;
    private static final int POLLS = 20;
    private static final int FIRST_FIELD = 8;
    private static final int WRITER = 16;
    private static final int SECRET = 24;
    private static final int SOCKET_ADDRESS = 16;

    private final HostileRun run;
    private final Random random;
    private final HostileOwner.Name owner;
    private final boolean takesAnswers;
    private final Fabric fabric;
    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final MemoryRegion memory;
    private final Peer service;
    /** Messages on their way. */
    private final BitSet used = new BitSet(SLOTS);
    private long writer;
    private long secret;

    HostileLiar(HostileRun run, Random random, HostileOwner.Name owner) {
        this.run = run;
        this.random = random;
        this.owner = owner;
        this.takesAnswers = random.nextInt(3) > 0;
        fabric = HostileOwner.openFabric(run.provider);
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        memory = domain.allocate(2L * SLOTS * ROOM, Access.SEND, Access.RECEIVE, Access.WRITE);
        service = vector.insert(owner.ticket().address());
        for (int slot = 0; takesAnswers && slot < SLOTS; slot++) {
            receive(SLOTS + slot);
        }
        if (random.nextInt(4) > 0) { greet(endpoint.address().encode(), true); }
    }

    private void receive(int slot) {
        run.attempt("receives of liars", () -> endpoint.messages().tryReceive(memory, (long) slot * ROOM, ROOM, slot));
    }

    /** Sends one or many messages. */
    void lie() {
        switch (random.nextInt(8)) {
            case 0 -> send("garbage", garbage(), 1 + random.nextInt(ROOM));
            case 1 -> send("half messages", message(random.nextInt(KINDS)), 1 + random.nextInt(LENGTH - 1));
            case 2 -> greet(endpoint.address().encode(), random.nextInt(4) > 0);
            case 3 -> greet(damaged(), true);
            case 4 -> flood();
            case 5 -> write();
            default -> send("requests of liars", message(random.nextInt(KINDS)), LENGTH);
        }
        poll();
    }

    /** As many requests as go, without a poll. */
    private void flood() {
        byte[] message = message(3 + random.nextInt(KINDS - 3));
        for (int i = random.nextInt(FLOOD); i > 0; i--) {
            if (random.nextBoolean()) { ByteBuffer.wrap(message).putLong(FIRST_FIELD, level(random.nextLong())); }
            if (!send("requests in floods", message, LENGTH)) { poll(); }
        }
    }

    /** Over what the service is flushed by, which is all that it lets writers write. */
    private void write() {
        RemoteRegion flushed = owner.ticket().flushed();
        int length = 1 + random.nextInt((int) flushed.length());
        run.attempt("writes of liars",
                () -> endpoint.rma().tryWrite(memory, 0, length, service, flushed.slice(0, length), 0, 2L * SLOTS));
    }

    private void greet(byte[] address, boolean isHonest) {
        byte[] message = message(GREETING);
        byte[] whole = Arrays.copyOf(message, LENGTH + address.length);
        System.arraycopy(address, 0, whole, LENGTH, address.length);
        ByteBuffer.wrap(whole).putLong(SECRET, isHonest ? address.length : anyNumber());
        send("greetings", whole, whole.length);
    }

    /** Its port, or the end of its name: where else a machine would be asked, nobody may be reached for a long time. */
    private byte[] damaged() {
        byte[] address = endpoint.address().toBytes();
        int from = address.length >= SOCKET_ADDRESS && !run.provider.equals("shm") ? 2 : address.length - 4;
        address[from + random.nextInt(2)] ^= (byte) (1 << random.nextInt(8));
        return EndpointAddress.of(address, endpoint.address().format()).encode();
    }

    private byte[] garbage() {
        byte[] bytes = new byte[ROOM];
        random.nextBytes(bytes);
        return bytes;
    }

    /** A message of this kind, whose numbers are right or wrong. */
    private byte[] message(int kind) {
        byte[] bytes = garbage();
        ByteBuffer message = ByteBuffer.wrap(bytes).putInt(MAGIC).putInt(FORMAT | kind);
        message.putLong(level(random.nextLong()));
        message.putLong(random.nextInt(8) > 0 ? writer : random.nextInt(8));
        message.putLong(random.nextInt(8) > 0 ? secret : anyNumber()).putLong(anyNumber());
        RemoteRegion region = owner.region();
        message.putLong(random.nextBoolean() ? region.key() : anyNumber());
        message.putLong(random.nextBoolean() ? region.base() + random.nextInt(1 << 16) - (1 << 8) : anyNumber());
        message.putLong(random.nextBoolean() ? random.nextInt(1 << 16) : anyNumber());
        return bytes;
    }

    /** Mostly a level that there is. */
    private long level(long id) {
        return random.nextInt(8) == 0 ? id : id & ~0xffL | random.nextInt(3);
    }

    private long anyNumber() {
        return switch (random.nextInt(6)) {
            case 0 -> Long.MIN_VALUE;
            case 1 -> Long.MAX_VALUE;
            case 2 -> -1;
            case 3 -> 0;
            case 4 -> owner.region().base() + owner.region().length();
            default -> random.nextLong();
        };
    }

    private boolean send(String what, byte[] bytes, int length) {
        int slot = used.nextClearBit(0);
        if (slot >= SLOTS) { return false; }
        long at = (long) slot * ROOM;
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory.segment(), at, length);
        boolean[] isSent = {false};
        run.attempt(what, () -> isSent[0] = endpoint.messages().trySend(memory, at, length, service, slot));
        if (isSent[0]) { used.set(slot); }
        return isSent[0];
    }

    /** Polls some times, or is silent. */
    private void poll() {
        for (int polls = random.nextInt(takesAnswers ? POLLS : 2); polls > 0; polls--) {
            queue.poll(this, SLOTS);
        }
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        int slot = (int) token;
        if (slot < SLOTS) {
            used.clear(slot);
        } else if (slot < 2 * SLOTS) {
            ByteBuffer message = memory.segment().asSlice((long) slot * ROOM, ROOM).asByteBuffer();
            if (message.getInt(4) == (FORMAT | WELCOME)) {
                writer = message.getLong(WRITER);
                secret = message.getLong(SECRET);
                run.tried("welcomes of liars");
            }
            receive(slot);
        }
    }

    @Override
    public void onError(CompletionError error) { if (error.token() < SLOTS) { used.clear((int) error.token()); } }

    /** Closes all, whatever is on its way. */
    @Override
    public void close() {
        endpoint.close();
        vector.close();
        memory.close();
        queue.close();
        domain.close();
        fabric.close();
    }
}
