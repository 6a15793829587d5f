package io.ofi4j.netty;

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
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * What the channels of an event loop share: a fabric with one endpoint, and slots of registered memory, through which
 * all bytes go. Only the loop's thread calls it, but for {@link #wake}.
 */
final class FabricLoop implements AutoCloseable {
    /**
     * The length of a slot, with the header. Up to this length ofi_rxm copies a message: a longer one waits for its
     * receiver, and keeps the domain open where that has ended.
     */
    static final int SLOT = 16 << 10;
    /** How many messages of bytes may be on their way to a channel. */
    static final int WINDOW = 32;
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(FabricIoHandler.class);
    private static final SecureRandom KEYS = new SecureRandom();
    private static final int SLOTS = 128;
    /** Of slots for sends: 128 MiB. */
    private static final int MAX_BLOCKS = 64;
    private static final int BATCH = 64;
    /** How long a loop tries again to send without a pause, and how long the pauses are then. */
    private static final Duration STALL_SPIN = Duration.ofMillis(2);
    private static final Duration STALL_PAUSE = Duration.ofMillis(1);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final Messages messages;
    private final MemoryRegion incoming;
    private final Domain domain;
    /** Each has {@link #SLOTS} slots for sends. */
    private final List<MemoryRegion> outgoing = new ArrayList<>();
    private final ByteBuffer received;
    private final List<ByteBuffer> sending = new ArrayList<>();
    /** Null where the queue has a descriptor. */
    private final Doorbell doorbell;
    private final int slot;
    private final long injectSize;
    private final IntObjectMap<FabricChannel> channels = new IntObjectHashMap<>();
    private final Map<EndpointAddress, LoopPeer> peers = new HashMap<>();
    /** The slots for sends that are free: the first {@code free} of them. */
    private int[] freeSlots = {};
    private FabricChannel[] senders = {};
    /** Receives that could not be posted again yet. */
    private final ArrayDeque<Integer> unposted = new ArrayDeque<>();
    /** Channels with something to send for which there was no room. */
    private final Set<FabricChannel> stalled = new LinkedHashSet<>();
    private final List<FabricChannel> readers = new ArrayList<>();
    private final List<FabricChannel> retried = new ArrayList<>();
    private final IntSupplier poll = this::poll;
    private int free;
    private int lastChannel;
    private boolean isStalled;
    private long stalledSince;
    private long strays;

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (token >= SLOTS) {
                sent((int) token - SLOTS);
            } else if (token >= 0) {
                received((int) token, (int) length);
                post((int) token);
            }
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() >= SLOTS) {
                FabricChannel sender = sent((int) error.token() - SLOTS);
                if (sender != null) { sender.broken(error.toException()); }
            } else if (error.posted()) { post((int) error.token()); }
        }
    };

    private FabricLoop(FabricHints hints) {
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(hints.addCapabilities(Capability.MSG).threading(ThreadingModel.DOMAIN)
                .attributes(AttributeHints.none().messageOrder(MessageOrder.SAS))).getFirst();
        slot = (int) Math.min(SLOT, info.endpoint().maximumMessageSize());
        injectSize = info.transmit().injectSize();
        try {
            Fabric fabric = opened(libfabric.openFabric(info));
            domain = opened(fabric.openDomain());
            queue = opened(domain.openCompletionQueue());
            vector = opened(domain.openAddressVector());
            incoming = opened(domain.allocate((long) SLOTS * slot, Access.RECEIVE));
            endpoint = opened(domain.openEndpoint().bind(queue).bind(vector).enable());
            addSlots();
            doorbell = hasDescriptor() ? null : opened(Doorbell.open());
        } catch (RuntimeException | Error e) {
            closeAll();
            throw e;
        }
        messages = endpoint.messages();
        received = incoming.segment().asByteBuffer();
        for (int number = 0; number < SLOTS; number++) {
            post(number);
        }
    }

    /**
     * Opens one.
     *
     * @throws io.ofi4j.errors.NoProviderException if there is no provider as the hints say, with messages in order
     */
    static FabricLoop open(FabricHints hints) { return new FabricLoop(hints); }

    /**
     * A message that its receiver has not taken keeps its slot, over some providers. Those for peers that have stopped
     * must leave some for others; a peer that was killed may keep its own until the loop ends.
     */
    private void addSlots() {
        MemoryRegion region = domain.allocate((long) SLOTS * slot, Access.SEND);
        open.add(open.indexOf(incoming), region);
        int first = senders.length;
        outgoing.add(region);
        sending.add(region.segment().asByteBuffer());
        senders = Arrays.copyOf(senders, first + SLOTS);
        freeSlots = Arrays.copyOf(freeSlots, first + SLOTS);
        for (int number = first; number < senders.length; number++) {
            freeSlots[free++] = number;
        }
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
        peers.remove(peer.address);
        peer.close();
        vector.remove(peer.peer);
    }

    /** {@return a slot for a message, or -1 if all are on their way} Its number goes to {@link #send}. */
    int takeSlot(FabricChannel channel) {
        if (free == 0 && outgoing.size() < MAX_BLOCKS) { addSlots(); }
        if (free == 0) {
            stalled.add(channel);
            return -1;
        }
        return freeSlots[--free];
    }

    /** A slot that was taken, and from which nothing is sent. */
    void giveBack(int number) {
        freeSlots[free++] = number;
    }

    /** {@return the memory in which a slot for sends is, at its {@link #offset}} */
    MemorySegment memory(int number) {
        return outgoing.get(number / SLOTS).segment();
    }

    /** {@return the same memory} Whoever uses it sets its position and limit. */
    ByteBuffer sending(int number) {
        return sending.get(number / SLOTS);
    }

    long offset(int number) { return (long) (number % SLOTS) * slot; }

    int slotLength() { return slot; }

    /**
     * Sends a message from a slot, which is free again afterwards, at once or later. Without room the channel is asked
     * again later.
     *
     * @return whether there was room
     */
    boolean send(FabricChannel channel, LoopPeer peer, int number, int length) throws IOException {
        boolean isBusy = false;
        boolean isPosted = false;
        try {
            if (length <= injectSize) {
                isPosted = messages.tryInject(outgoing.get(number / SLOTS), offset(number), length, peer.peer);
            } else {
                isPosted = messages.trySend(outgoing.get(number / SLOTS), offset(number), length, peer.peer,
                        SLOTS + number);
                isBusy = isPosted;
            }
        } catch (FabricException e) {
            throw new IOException("the other side cannot be reached: " + e.getMessage(), e);
        } finally {
            if (isBusy) {
                senders[number] = channel;
            } else {
                freeSlots[free++] = number;
            }
        }
        if (!isPosted) {
            stalled.add(channel);
            peer.ring(); // it makes room when it polls
        }
        return isPosted;
    }

    /** Sends a header alone; whether there was room, or nothing can be sent any more, which the channel is told. */
    boolean send(FabricChannel channel, LoopPeer peer, Frames.Target target, int kind, int count) {
        int number = takeSlot(channel);
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
        freeSlots[free++] = number;
        FabricChannel sender = senders[number];
        senders[number] = null;
        return sender;
    }

    private void post(int number) {
        if (!messages.tryReceive(incoming, offset(number), slot, number)) { unposted.add(number); }
    }

    private void received(int number, int length) {
        MemorySegment memory = incoming.segment();
        long offset = offset(number);
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
        received.limit((int) offset + length).position((int) offset + Frames.HEADER);
        try {
            channel.received(Frames.kind(memory, offset), Frames.count(memory, offset), received);
        } catch (RuntimeException | OutOfMemoryError e) { // one channel's, such as no memory for its bytes
            channel.broken(e);
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

    /** As {@link #poll}, but waits: first it polls for a while, then it sleeps. */
    int await(Duration deadline, Duration spin) {
        return doorbell == null
                ? afterPoll(queue.await(completions, BATCH, deadline, spin))
                : doorbell.await(poll, deadline, spin);
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
     * {@return how long it may wait} Nobody tells a channel that there is room for what it has to send. Usually there is
     * soon; a peer that does not poll may keep it waiting for ever.
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
        if (failure != null) { throw failure; }
    }
}
