package io.ofi4j.examples;

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
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.Ranks;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * A stream of messages from rank 0 to rank 1 over endpoints that have no connections. The receiver says with one-sided
 * injects how many messages it has taken, and that it lives. The sender never has more under way than there are
 * receives, and finds out when the receiver has gone.
 */
public final class CreditedStream {
    private static final int LENGTH = 64;
    /** How many receives are posted: the credits of the sender at the beginning. */
    private static final int RECEIVES = 128;
    /** One inject for so many messages is enough: the sender still has the rest. */
    private static final int TOLD_TOGETHER = RECEIVES / 4;
    private static final long BEAT_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int BEATS_MISSED = 3;
    /** The two numbers that the receiver writes into the sender's memory. */
    private static final long TAKEN = 0;
    private static final long BEATS = 8;

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final MemoryRegion slots;
    private final MemoryRegion numbers;
    private final Ranks ranks;
    /** The slots whose messages have come. They are filled in order, but may complete in another. */
    private final boolean[] hasCome = new boolean[RECEIVES];
    private CompletionError failure;

    private CreditedStream(Endpoint endpoint, CompletionQueue queue, MemoryRegion slots, MemoryRegion numbers,
            Ranks ranks) {
        this.endpoint = endpoint;
        this.queue = queue;
        this.slots = slots;
        this.numbers = numbers;
        this.ranks = ranks;
    }

    /**
     * Runs one of two ranks.
     *
     * @param arguments the provider, how many messages there are, and how many of them the receiver takes before it
     *         dies; as many or more than there are if it is to live
     */
    public static void main(String[] arguments) {
        if (arguments.length != 3) {
            System.err.println("usage: CreditedStream PROVIDER MESSAGES TAKEN");
            System.exit(2);
        }
        long messages = Long.parseLong(arguments[1]);
        long last = Long.parseLong(arguments[2]);
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider(arguments[0]).addCapabilities(Capability.MSG);
        try (Job job = Job.join();
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion slots = domain.allocate((long) RECEIVES * LENGTH, Access.SEND, Access.RECEIVE);
                MemoryRegion numbers = domain.allocate(16, Access.WRITE, Access.REMOTE_WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            job.progressWhileWaiting(queue);
            Ranks ranks = Ranks.exchange(job, endpoint, peers, numbers.remote());
            CreditedStream stream = new CreditedStream(endpoint, queue, slots, numbers, ranks);
            if (job.rank() == 1) { stream.postAll(); }
            job.barrier(); // the receives are there
            if (job.rank() == 0) {
                if (!stream.send(messages)) { return; }
            } else {
                stream.receive(messages, last);
            }
            job.barrier();
        }
    }

    // @start region=credits
    /** Whether all messages were taken; false if the receiver has gone. */
    private boolean send(long messages) {
        long sent = 0;
        long most = 0;
        long beats = 0;
        long lastBeat = System.nanoTime();
        while (numbers.getLongAcquire(TAKEN) < messages) {
            long underWay = sent - numbers.getLongAcquire(TAKEN);
            long slot = sent % RECEIVES * LENGTH;
            // a slot is used again when its message was taken, and so was sent long ago
            if (sent < messages && underWay < RECEIVES) {
                slots.segment().set(ValueLayout.JAVA_LONG, slot, sent);
                if (endpoint.messages().trySend(slots, slot, LENGTH, ranks.peer(1), sent)) {
                    sent++;
                    most = Math.max(most, underWay + 1);
                }
            }
            queue.poll(completions, RECEIVES); // also what lets the receiver's numbers come
            if (numbers.getLongAcquire(BEATS) != beats) {
                beats = numbers.getLongAcquire(BEATS);
                lastBeat = System.nanoTime();
            } else if (System.nanoTime() - lastBeat > BEATS_MISSED * BEAT_NANOS) {
                System.out.println("the receiver has gone: it took " + numbers.getLongAcquire(TAKEN) + " messages"
                        + (failure == null ? "" : ", and an operation failed: " + failure.text()));
                return false;
            }
        }
        System.out.println("sent " + sent + " messages, at most " + most + " under way, " + beats + " beats heard");
        return true;
    }

    private void postAll() {
        for (int slot = 0; slot < RECEIVES; slot++) {
            post(slot);
        }
    }

    private void post(long slot) { endpoint.messages().receive(slots.slice(slot * LENGTH, LENGTH), slot); }

    /** Takes the messages, which come in order, and says so. */
    private void receive(long messages, long last) {
        long taken = 0;
        long told = 0;
        long beats = 0;
        long nextBeat = System.nanoTime();
        while (taken < messages) {
            queue.poll(completions, RECEIVES);
            while (hasCome[(int) (taken % RECEIVES)]) {
                int slot = (int) (taken % RECEIVES);
                hasCome[slot] = false;
                long number = slots.segment().get(ValueLayout.JAVA_LONG, (long) slot * LENGTH);
                if (number != taken) { throw new IllegalStateException("message " + number + " came as " + taken); }
                post(slot); // before the sender learns that there is room
                taken++;
            }
            if (taken >= last && last < messages) { Runtime.getRuntime().halt(0); }
            if (taken - told >= TOLD_TOGETHER || taken == messages) {
                tell(TAKEN, taken);
                told = taken;
            }
            if (System.nanoTime() - nextBeat >= 0) {
                tell(BEATS, ++beats);
                nextBeat += BEAT_NANOS;
            }
        }
        System.out.println("took " + taken + " messages in their order");
    }

    /** Injects take no receive at the other side, and none of its credits. */
    private void tell(long which, long number) {
        numbers.segment().set(ValueLayout.JAVA_LONG, which, number);
        endpoint.rma().injectWrite(numbers.slice(which, Long.BYTES), ranks.peer(0),
                ranks.region(0, 0).slice(which, Long.BYTES));
    }

    private final CompletionHandler completions = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if ((flags & CompletionFlags.RECV) != 0) { hasCome[(int) token] = true; }
        }

        @Override
        public void onError(CompletionError error) { failure = error; }
    };
    // @end
}
