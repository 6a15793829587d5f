package io.ofi4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.job.Doorbell;
import io.ofi4j.job.PeerHello;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;

/**
 * What the channels of an event loop share: a fabric with one endpoint, and slots of registered memory, through which
 * all bytes go. Only the loop's thread calls it, but for {@link #wake}.
 */
final class FabricLoop implements AutoCloseable {
    /** The bytes of a long message; the header comes in addition. */
    private static final int BODY = 64 << 10;
    /**
     * The length of a message over a provider that is a layer over another, with the header. Up to this length ofi_rxm
     * copies a message: a longer one waits for its receiver, is received behind later ones, and keeps the domain open
     * where its receiver has ended.
     */
    private static final int OVER_LAYERS = 16 << 10;
    /** How many messages of bytes may be on their way to a channel. */
    static final int WINDOW = 32;
    /** How many messages may be on their way to a peer: a quarter of what an endpoint of shm has room for. */
    private static final int MAX_SENDS_TO_PEER = 256;
    /** The messages to peers that have ended after which the loop warns. */
    private static final int MOST_LOST = 512;
    /** It is between the names of providers. */
    private static final String LAYER = ";";
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(FabricIoHandler.class);
    private static final SecureRandom KEYS = new SecureRandom();
    /** Tokens of sends begin here; those of receives are the numbers of their slots. */
    private static final long SEND = 1 << 30;
    /** Of slots for sends: 256 MiB of long messages. */
    private static final int MAX_SEND_BLOCKS = 64;
    /** Of slots for receives: one is posted, and what came in the others is a buffer of the program. */
    private static final int MAX_RECEIVE_BLOCKS = 5;
    private static final int POOL = 16 << 20;
    private static final long ALIGNMENT = 2 << 20;
    private static final int BATCH = 64;
    /** How long a loop tries again to send without a pause, and how long the pauses are then. */
    private static final Duration STALL_SPIN = Duration.ofMillis(2);
    private static final Duration STALL_PAUSE = Duration.ofMillis(1);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final Messages messages;
    private final Slots incoming;
    private final Domain domain;
    private final Slots outgoing;
    private final LoopAllocator allocator;
    private final Thread owner = Thread.currentThread();
    /** Slots that other threads have given back. */
    private final Queue<Integer> returned = new ConcurrentLinkedQueue<>();
    private final LongConsumer giveBack = this::giveBackReceived;
    /** Null where the queue has a descriptor. */
    private final Doorbell doorbell;
    private final int slot;
    private final long injectSize;
    private final boolean sendsBodies;
    private final IntObjectMap<FabricChannel> channels = new IntObjectHashMap<>();
    private final Map<EndpointAddress, LoopPeer> peers = new HashMap<>();
    /** Of each send that is on its way: its channel, until that has closed, its receiver and its body. */
    private FabricChannel[] senders = {};
    private LoopPeer[] receivers = {};
    private ByteBuf[] bodies = {};
    private LoopBuffer[] bodyMemory = {};
    /** The slot that is posted next: that of the message that is being received, or another. */
    private int nextReceive;
    /** Receives that could not be posted again yet. */
    private final ArrayDeque<Integer> unposted = new ArrayDeque<>();
    /** Channels with something to send for which there was no room. */
    private final Set<FabricChannel> stalled = new LinkedHashSet<>();
    private final List<FabricChannel> readers = new ArrayList<>();
    private final List<FabricChannel> retried = new ArrayList<>();
    private final IntSupplier poll = this::poll;
    private int lastChannel;
    private boolean isStalled;
    private long stalledSince;
    private long strays;
    /** How many messages are on their way to peers without channels here. */
    private int lost;
    private boolean hasWarned;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (token >= SEND) {
                sent((int) (token - SEND));
            } else if (token >= 0) {
                nextReceive = (int) token;
                received((int) token, (int) length);
                post(nextReceive);
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() >= SEND) {
                FabricChannel sender = sent((int) (error.token() - SEND));
                if (sender != null) { sender.broken(error.toException()); }
            } else {
                LOGGER.warn("{} has lost a message: {}. Its channel will find that one is missing", endpoint, error);
                if (error.posted()) { post((int) error.token()); }
            }
        }
    };

    private FabricLoop(FabricHints hints) {
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(hints.addCapabilities(Capability.MSG).threading(ThreadingModel.DOMAIN)
                .attributes(AttributeHints.none().messageOrder(MessageOrder.SAS))).getFirst();
        injectSize = info.transmit().injectSize();
        sendsBodies = info.transmit().iovLimit() > 1;
        int longest = info.provider().contains(LAYER) ? OVER_LAYERS : BODY + Frames.HEADER;
        slot = (int) Math.min(longest, info.endpoint().maximumMessageSize());
        try {
            Fabric fabric = opened(libfabric.openFabric(info));
            domain = opened(fabric.openDomain());
            queue = opened(domain.openCompletionQueue());
            vector = opened(domain.openAddressVector());
            endpoint = opened(domain.openEndpoint().bind(queue).bind(vector).enable());
            incoming = new Slots(slot, MAX_RECEIVE_BLOCKS,
                    () -> register((long) Slots.BLOCK * slot, Access.RECEIVE, Access.SEND));
            outgoing = new Slots(slot, MAX_SEND_BLOCKS, () -> register((long) Slots.BLOCK * slot, Access.SEND));
            allocator = new LoopAllocator(() -> register(POOL, Access.SEND), owner);
            doorbell = hasDescriptor() ? null : opened(Doorbell.open());
        } catch (RuntimeException | Error e) {
            closeAll();
            throw e;
        }
        messages = endpoint.messages();
        for (int i = 0; i < Slots.BLOCK; i++) {
            post(incoming.take());
        }
    }

    /**
     * Opens one.
     *
     * @throws io.ofi4j.errors.NoProviderException if there is no provider as the hints say, with messages in order
     */
    static FabricLoop open(FabricHints hints) { return new FabricLoop(hints); }

    /**
     * Memory that outlives this, as buffers of the program may be in it, and is registered until the endpoint closes.
     */
    private MemoryRegion register(long length, Access... access) {
        MemoryRegion region = domain.register(Arena.ofAuto().allocate(length, ALIGNMENT), access);
        open.add(open.indexOf(endpoint) + 1, region);
        return region;
    }

    private <T extends AutoCloseable> T opened(T object) {
        open.addFirst(object);
        return object;
    }

    private boolean hasDescriptor() {
        try {
            return queue.waitDescriptor() >= 0;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** {@return where messages to a channel go: a number that the loop never had for another, and a new key} */
    Frames.Target add(FabricChannel channel) {
        channels.put(++lastChannel, channel);
        return new Frames.Target(lastChannel, KEYS.nextLong());
    }

    void remove(FabricChannel channel) {
        channels.remove(channel.target().channel());
        stalled.remove(channel);
        for (int number = 0; number < senders.length; number++) {
            if (senders[number] == channel) { senders[number] = null; }
        }
    }

    /** {@return what a channel tells the other side} */
    PeerHello hello(Frames.Target channel) {
        byte[] bell = doorbell == null ? new byte[0] : doorbell.address();
        return PeerHello.of(endpoint).withData(new Frames.Greeting(channel, slot, WINDOW, bell).encode());
    }

    /** {@return the loop of another side} Each call is one of a channel, which {@linkplain #leave leaves} it later. */
    LoopPeer reach(EndpointAddress address, byte[] bell) {
        LoopPeer peer = peers.computeIfAbsent(address, key -> new LoopPeer(key, vector.insert(key), bell));
        peer.channels++;
        return peer;
    }

    void leave(LoopPeer peer) {
        if (--peer.channels > 0) { return; }
        lost += peer.sends;
        if (lost > MOST_LOST && !hasWarned) {
            hasWarned = true;
            LOGGER.warn(
                    "{} has {} messages on their way to peers that have ended, which its provider keeps. Soon it may"
                            + " have no room for others: close the event loop, and make another",
                    endpoint, lost);
        }
        peers.remove(peer.address);
        peer.close();
        vector.remove(peer.peer);
    }

    /**
     * {@return a slot for a message, or -1 if all are on their way} Its number goes to {@link #send}. A message that
     * its receiver has not taken keeps its slot, and its place in the endpoint, over some providers. Those for peers
     * that have stopped must leave some for others; a peer that was killed may keep its own until the loop ends.
     */
    int takeSlot(FabricChannel channel, LoopPeer peer) {
        int number = peer.sends < MAX_SENDS_TO_PEER ? outgoing.take() : Slots.NONE;
        if (number == Slots.NONE) { stalled.add(channel); }
        if (outgoing.count() > senders.length) {
            senders = Arrays.copyOf(senders, outgoing.count());
            receivers = Arrays.copyOf(receivers, outgoing.count());
            bodies = Arrays.copyOf(bodies, outgoing.count());
            bodyMemory = Arrays.copyOf(bodyMemory, outgoing.count());
        }
        return number;
    }

    /** {@return how many slots could be taken without more memory} */
    int freeSlots() { return outgoing.free(); }

    /** A slot that was taken, and from which nothing is sent. */
    void giveBack(int number) { outgoing.give(number); }

    /** {@return the memory in which a slot for sends is, at its {@link #offset}} */
    MemorySegment memory(int number) {
        return outgoing.region(number).segment();
    }

    /** {@return the same memory} Whoever uses it sets its position and limit. */
    ByteBuffer sending(int number) {
        return outgoing.buffer(number);
    }

    long offset(int number) { return outgoing.offset(number); }

    /** {@return whether a message may have a body that is not in its slot} */
    boolean sendsBodies() {
        return sendsBodies;
    }

    LoopAllocator allocator() { return allocator; }

    /** {@return whether a buffer is in the memory of this loop} */
    boolean has(LoopBuffer buffer) {
        return buffer.region().domain() == domain;
    }

    int slotLength() { return slot; }

    /**
     * Sends a message from a slot, which is free again afterwards, at once or later. Without room the channel is asked
     * again later.
     *
     * @return whether there was room
     */
    boolean send(FabricChannel channel, LoopPeer peer, int number, int length) throws IOException {
        return send(channel, peer, number, length, null, null, 0);
    }

    /**
     * As the other, with bytes behind those of the slot, which stay where they are.
     *
     * @param body the buffer that has them, or null
     * @param memory what {@link LoopBuffer#soleOwned} has returned for the body
     */
    boolean send(FabricChannel channel, LoopPeer peer, int number, int length, ByteBuf body, LoopBuffer memory,
            int bodyLength) throws IOException {
        boolean isBusy = false;
        boolean isPosted = false;
        MemoryRegion region = outgoing.region(number);
        try {
            if (body != null) {
                isPosted = messages.trySend(region, offset(number), length, memory.region(), memory.offsetOf(body),
                        bodyLength, peer.peer, SEND + number);
                isBusy = isPosted;
            } else if (length <= injectSize) {
                isPosted = messages.tryInject(region, offset(number), length, peer.peer);
            } else {
                isPosted = messages.trySend(region, offset(number), length, peer.peer, SEND + number);
                isBusy = isPosted;
            }
        } catch (FabricException | IllegalStateException e) { // such as a loop of this process that was closed
            throw new IOException("the other side cannot be reached: " + e.getMessage(), e);
        } finally {
            if (isBusy) {
                senders[number] = channel;
                receivers[number] = peer;
                peer.sends++;
            } else {
                outgoing.give(number);
            }
        }
        if (isPosted && body != null) {
            memory.sends(body);
            bodies[number] = body;
            bodyMemory[number] = memory;
        }
        if (!isPosted) {
            stalled.add(channel);
            peer.ring(); // it makes room when it polls
        }
        return isPosted;
    }

    /** Sends a header alone; whether there was room, or nothing can be sent any more, which the channel is told. */
    boolean send(FabricChannel channel, LoopPeer peer, Frames.Target target, int kind, int count) {
        int number = takeSlot(channel, peer);
        if (number < 0) { return false; }
        Frames.write(memory(number), offset(number), target, kind, count);
        try {
            if (!send(channel, peer, number, Frames.HEADER)) { return false; }
            peer.ring();
        } catch (IOException e) {
            channel.broken(e);
        }
        return true;
    }

    private FabricChannel sent(int number) {
        outgoing.give(number);
        FabricChannel sender = senders[number];
        senders[number] = null;
        LoopPeer receiver = receivers[number];
        receivers[number] = null;
        receiver.sends--;
        if (receiver.channels == 0) { lost--; }
        releaseBody(number);
        return sender;
    }

    private void releaseBody(int number) {
        ByteBuf body = bodies[number];
        if (body == null) { return; }
        bodies[number] = null;
        bodyMemory[number].sent(body);
        bodyMemory[number] = null;
    }

    private void post(int number) {
        if (!messages.tryReceive(incoming.region(number), incoming.offset(number), slot, number)) {
            unposted.add(number);
        }
    }

    private void received(int number, int length) {
        MemorySegment memory = incoming.region(number).segment();
        long offset = incoming.offset(number);
        if (length < Frames.HEADER) {
            stray();
            return;
        }
        FabricChannel channel = channels.get(Frames.channel(memory, offset));
        if (channel == null) { return; } // it was closed before this came
        if (Frames.key(memory, offset) != channel.target().key()) {
            stray();
            return;
        }
        ByteBuffer bytes = incoming.buffer(number);
        bytes.limit((int) offset + length).position((int) offset + Frames.HEADER);
        try {
            channel.received(Frames.kind(memory, offset), Frames.count(memory, offset), bytes);
        } catch (RuntimeException | OutOfMemoryError e) { // one channel's, such as no memory for its bytes
            channel.broken(e);
        }
    }

    /**
     * {@return the bytes of the message that is being received, as a buffer without a copy} Null if it is so short that
     * a copy costs less, or the program has too many such buffers: a message that comes needs a slot.
     *
     * @param bytes what {@link FabricChannel#received} was given
     */
    ByteBuf handOut(ByteBuffer bytes) {
        if (bytes.remaining() < LoopAllocator.SHORTEST) { return null; }
        int next = takeReceiveSlot();
        if (next == Slots.NONE) { return null; }
        LoopBuffer buffer = LoopBuffer.of(allocator, incoming.region(nextReceive), bytes.position(), bytes.remaining(),
                bytes.remaining(), giveBack, nextReceive);
        nextReceive = next;
        return allocator.track(buffer);
    }

    private int takeReceiveSlot() {
        for (Integer number = returned.poll(); number != null; number = returned.poll()) {
            incoming.give(number);
        }
        return incoming.take();
    }

    private void giveBackReceived(long number) {
        if (Thread.currentThread() == owner) {
            incoming.give((int) number);
        } else {
            returned.add((int) number);
        }
    }

    /** A message that the other side of no channel has sent; it is dropped. */
    private void stray() {
        if (strays++ == 0) {
            LOGGER.warn("{} has a message that the other side of no channel has sent. It drops all of them", endpoint);
        }
    }

    /** {@return how many messages came that the other side of no channel has sent} */
    long strays() { return strays; }

    /** A channel has read, and is to be told when this poll has ended. */
    void reads(FabricChannel channel) {
        readers.add(channel);
    }

    /** {@return how many completions there were} */
    int poll() { return afterPoll(queue.poll(completions, BATCH)); }

    /** As {@link #poll}, but sleeps until there is something, {@link #wake} is called or the deadline has passed. */
    int await(Duration deadline) {
        return doorbell == null
                ? afterPoll(queue.await(completions, BATCH, deadline))
                : doorbell.await(poll, deadline, Duration.ZERO);
    }

    private int afterPoll(int found) {
        for (int i = 0; i < readers.size(); i++) {
            readers.get(i).readComplete();
        }
        readers.clear();
        for (int left = unposted.size(); left > 0; left--) {
            post(unposted.poll());
        }
        if (!stalled.isEmpty()) {
            retried.addAll(stalled);
            stalled.clear();
            retried.forEach(FabricChannel::retry);
            retried.clear();
        }
        return found;
    }

    /**
     * {@return how long it may wait} Nobody tells a channel that there is room for what it has to send. Usually there
     * is soon; a peer that does not poll may keep it waiting for ever.
     */
    long longestWaitNanos() {
        if (stalled.isEmpty() && unposted.isEmpty()) {
            isStalled = false;
            return Long.MAX_VALUE;
        }
        long now = System.nanoTime();
        if (!isStalled) {
            isStalled = true;
            stalledSince = now;
        }
        return now - stalledSince < STALL_SPIN.toNanos() ? 0 : STALL_PAUSE.toNanos();
    }

    boolean hasChannels() { return !channels.isEmpty(); }

    List<FabricChannel> channels() { return List.copyOf(channels.values()); }

    /** Ends a wait of the loop's thread, or the next one. Any thread may call it. */
    void wake() {
        if (doorbell == null) {
            queue.signal();
        } else {
            doorbell.ring();
        }
    }

    @Override
    public void close() {
        peers.values().forEach(LoopPeer::close);
        closeAll();
    }

    private void closeAll() {
        RuntimeException failure = null;
        for (AutoCloseable object : open) {
            try {
                object.close();
            } catch (Exception e) {
                if (failure == null) { failure = new IllegalStateException("a loop was not closed whole", e); }
            }
        }
        open.clear();
        for (int number = 0; number < bodies.length; number++) {
            releaseBody(number);
        }
        if (failure != null) { throw failure; }
    }
}
