package io.ofi4j.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Tagged;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.PeekAction;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.model.MessageWorld.Lane;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/** One end of a {@link MessageProgram}: what it has posted, sent and received. */
final class MessageSide {
    static final CompletionQueueAttributes QUEUE = CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED)
            .size(2048);

    private static final int LENGTH = 4096;
    private static final int PLACES = 512;
    private static final int HEADER = 16;
    private static final long UNTAGGED = -1;

    private final List<Lane> lanes;
    private final CompletionQueue queue;
    private final MemoryRegion memory;
    /** The offsets of the memory that nothing uses. */
    private final List<Long> places = new ArrayList<>();
    /** Operations whose token has not come back, by it. */
    private final Map<Long, Posted> pending = new LinkedHashMap<>();
    private final Map<Long, Integer> seen = new HashMap<>();
    /** What was sent to this end, by number; each is taken out as it arrives. */
    private final Map<Long, Message> incoming = new LinkedHashMap<>();
    private final List<Taken> taken = new ArrayList<>();
    private final List<Posted> claimed = new ArrayList<>();
    private long expected;

    private enum Kind {
        SEND, RECEIVE, LOOK, ONE_SIDED
    }

    /** A receive is of the lane that it is posted to, and of its receiver's other lanes. */
    private record Posted(Kind kind, Lane lane, long token, long offset, long tag, long mask, boolean isOfClaim) {}

    private record Message(Lane lane, long number, int length, long tag, boolean hasData) {}

    /** Which receive has got which message. */
    private record Taken(Posted receive, Message message) {}

    private final DetailedCompletionHandler handler = new DetailedCompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            if (token != MessageProgram.NO_TOKEN) { completed(token, flags, length, data); }
        }

        @Override
        public void onError(CompletionError error) {
            Posted posted = pending.remove(error.token());
            MessageProgram.require(posted != null, "an error of nobody: " + error);
            seen.merge(error.token(), 1, Integer::sum);
            boolean isMissing = posted.kind == Kind.LOOK && error.errno() == Errno.ENOMSG;
            boolean isCanceled = posted.kind == Kind.RECEIVE && error.errno() == Errno.ECANCELED;
            MessageProgram.require(isMissing || isCanceled, posted + ": " + error);
            if (posted.kind == Kind.RECEIVE) { places.add(posted.offset); }
        }
    };

    MessageSide(Domain domain, CompletionQueue queue, List<Lane> lanes) {
        this.lanes = lanes;
        this.queue = queue;
        this.memory = domain.allocate((long) PLACES * LENGTH, Access.SEND, Access.RECEIVE);
        for (long place = 0; place < PLACES; place++) {
            places.add(place * LENGTH);
        }
    }

    static boolean isOffered(FabricHints hints) {
        try {
            return !Libfabric.load().info(hints).isEmpty();
        } catch (NoProviderException e) {
            return false;
        }
    }

    void poll() { queue.poll(handler, 64); }

    void expect(long token) {
        expected++;
        pending.put(token, new Posted(Kind.ONE_SIDED, lanes.getFirst(), token, -1, UNTAGGED, 0, false));
    }

    private void note(Posted posted) {
        expected++;
        pending.put(posted.token, posted);
    }

    int pendingReceives() { return (int) receives().count(); }

    private Stream<Posted> receives() {
        return pending.values().stream().filter(posted -> posted.kind == Kind.RECEIVE);
    }

    int lanes() { return lanes.size(); }

    void receive(int lane, long token, long tag, long mask, boolean directed) {
        receive(lanes.get(lane), token, tag, mask, directed);
    }

    private void receive(Lane lane, long token, long tag, long mask, boolean directed) {
        long offset = places.removeFirst();
        boolean posted = directed
                ? tryDirected(lane, offset, token, tag, mask)
                : tryReceive(lane, offset, token, tag, mask);
        if (posted) {
            note(new Posted(Kind.RECEIVE, lane, token, offset, tag, mask, false));
        } else {
            places.add(offset);
        }
    }

    private boolean tryReceive(Lane lane, long offset, long token, long tag, long mask) {
        return tag == UNTAGGED
                ? lane.receiver().messages().tryReceive(memory, offset, LENGTH, token)
                : lane.receiver().tagged().tryReceive(memory, offset, LENGTH, tag, mask, token);
    }

    /** From any peer where a provider cannot tell one from the others. */
    private boolean tryDirected(Lane lane, long offset, long token, long tag, long mask) {
        try {
            return tag == UNTAGGED
                    ? lane.receiver().messages().tryReceive(memory, offset, LENGTH, lane.peer(), token)
                    : lane.receiver().tagged().tryReceive(memory, offset, LENGTH, lane.peer(), tag, mask, token);
        } catch (UnsupportedOperationException e) {
            return tryReceive(lane, offset, token, tag, mask);
        }
    }

    void send(MessageSide to, int lane, long token, long tag, int length, boolean inject, boolean withData) {
        if (places.size() < PLACES / 4) { return; }
        long offset = places.removeFirst();
        MessageProgram.put(memory, offset, MessageProgram.content(token, length));
        Lane from = lanes.get(lane);
        boolean fits = inject && length <= from.sender().messages().injectSize();
        boolean posted = fits ? inject(from, offset, length, tag) : send(from, offset, length, tag, withData, token);
        if (posted) { to.incoming.put(token, new Message(to.lanes.get(lane), token, length, tag, withData && !fits)); }
        if (posted && !fits) {
            note(new Posted(Kind.SEND, from, token, offset, tag, 0, false));
        } else {
            places.add(offset);
        }
    }

    private boolean inject(Lane lane, long offset, int length, long tag) {
        return tag == UNTAGGED
                ? lane.sender().messages().tryInject(memory, offset, length, lane.peer())
                : lane.sender().tagged().tryInject(memory, offset, length, lane.peer(), tag);
    }

    private boolean send(Lane lane, long offset, int length, long tag, boolean withData, long token) {
        if (!withData && token % 3 == 0) { return sendInTwo(lane, offset, length, tag, token); }
        if (tag == UNTAGGED) {
            Messages messages = lane.sender().messages();
            return withData
                    ? messages.trySendData(memory, offset, length, data(token), lane.peer(), token)
                    : messages.trySend(memory, offset, length, lane.peer(), token);
        }
        Tagged tagged = lane.sender().tagged();
        return withData
                ? tagged.trySendData(memory, offset, length, data(token), lane.peer(), tag, token)
                : tagged.trySend(memory, offset, length, lane.peer(), tag, token);
    }

    /** As a header and a body. */
    private boolean sendInTwo(Lane lane, long offset, int length, long tag, long token) {
        int header = Math.min(length, HEADER);
        return tag == UNTAGGED
                ? lane.sender().messages().trySend(memory, offset, header, memory, offset + header, length - header,
                        lane.peer(), token)
                : lane.sender().tagged().trySend(memory, offset, header, memory, offset + header, length - header,
                        lane.peer(), tag, token);
    }

    private static long data(long token) { return token & 0xffff; }

    void cancelOne(Random random) {
        List<Posted> receives = receives().filter(posted -> !posted.isOfClaim).toList();
        if (receives.isEmpty()) { return; }
        Posted one = receives.get(random.nextInt(receives.size()));
        boolean isTagged = one.tag != UNTAGGED;
        if (isTagged) {
            one.lane.receiver().tagged().cancel(one.token);
        } else {
            one.lane.receiver().messages().cancel(one.token);
        }
    }

    void look(long token, long tag) {
        Lane lane = lanes.getFirst();
        if (lane.receiver().tagged().tryPeek(PeekAction.CLAIM, tag, 0, token)) {
            note(new Posted(Kind.LOOK, lane, token, -1, tag, 0, true));
        }
    }

    private void completed(long token, long flags, long length, long data) {
        Posted posted = pending.remove(token);
        MessageProgram.require(posted != null, "token " + token + " of nobody, or once more");
        seen.merge(token, 1, Integer::sum);
        switch (posted.kind) {
            case SEND -> places.add(posted.offset);
            case LOOK -> claimed.add(posted);
            case RECEIVE -> received(posted, flags, length, data);
            case ONE_SIDED -> {
            }
        }
    }

    private void received(Posted posted, long flags, long length, long data) {
        byte[] bytes = memory.segment().asSlice(posted.offset, length).toArray(JAVA_BYTE);
        Message message = incoming.values().stream().filter(one -> one.length == length)
                .filter(one -> Arrays.equals(bytes, MessageProgram.content(one.number, one.length)))
                .filter(one -> fits(posted, one)).findFirst().orElse(null);
        MessageProgram.require(message != null, posted + " has got " + length + " bytes that nobody sent it: "
                + Arrays.toString(Arrays.copyOf(bytes, Math.min(16, bytes.length))));
        incoming.remove(message.number);
        boolean hasData = (flags & CompletionFlags.REMOTE_CQ_DATA) != 0;
        MessageProgram.require(hasData == message.hasData && (!hasData || data == data(message.number)),
                message + " came with data " + data + ", flags " + Long.toHexString(flags));
        taken.add(new Taken(posted, message));
        places.add(posted.offset);
    }

    private static boolean fits(Posted receive, Message message) {
        if (receive.lane.receiver() != message.lane.receiver()) { return false; }
        if (receive.tag == UNTAGGED || message.tag == UNTAGGED) { return receive.tag == message.tag; }
        return (receive.tag & ~receive.mask) == (message.tag & ~receive.mask);
    }

    boolean areLooksDone() { return pending.values().stream().noneMatch(posted -> posted.kind == Kind.LOOK); }

    /** Receives what was claimed, with the token of the claim. */
    void takeClaimed() {
        for (Posted look : claimed) {
            long offset = places.removeFirst();
            look.lane.receiver().tagged().receiveClaimed(memory.slice(offset, LENGTH), look.tag, 0, look.token);
            pending.put(look.token, new Posted(Kind.RECEIVE, look.lane, look.token, offset, look.tag, 0, true));
            seen.merge(look.token, -1, Integer::sum);
        }
        claimed.clear();
    }

    /** Posts a receive for each message that none waits for. */
    void receiveWhatIsMissing(long[] tokens) {
        List<Posted> waiting = new ArrayList<>(receives().toList());
        for (Message message : incoming.values()) {
            Posted fitting = waiting.stream().filter(receive -> fits(receive, message)).findFirst().orElse(null);
            if (fitting != null) {
                waiting.remove(fitting);
            } else if (!places.isEmpty()) { receive(message.lane, tokens[0]++, message.tag, 0, false); }
        }
    }

    /** Wakes a message that has come, if another receive did not. */
    void receiveOneMore(long[] tokens) {
        if (!incoming.isEmpty() && pendingReceives() < 2 * MessageProgram.MAX_RECEIVES && !places.isEmpty()) {
            receive(lanes.getFirst(), tokens[0]++, incoming.values().iterator().next().tag, 0, false);
        }
    }

    boolean hasEverything() { return incoming.isEmpty(); }

    boolean areSendsDone() { return pending.values().stream().allMatch(posted -> posted.kind == Kind.RECEIVE); }

    boolean isQuiet() { return pending.isEmpty(); }

    int received() { return taken.size(); }

    void requireEveryTokenOnce() {
        MessageProgram.require(pending.isEmpty(), "never came back: " + pending.values());
        MessageProgram.require(seen.values().stream().allMatch(times -> times == 1) && seen.size() == expected,
                expected + " operations, " + seen.size() + " tokens, each once: " + seen);
    }

    /**
     * Of the same lane and tag, without masks and claims, receives get messages in the order in which both were posted.
     */
    void requireOrder() {
        boolean isMixed = taken.stream().anyMatch(one -> one.receive.mask != 0 || one.receive.isOfClaim);
        for (Lane lane : lanes) {
            for (long tag = UNTAGGED; tag < (isMixed ? 0 : 4); tag++) {
                requireOrder(lane, tag);
            }
        }
    }

    private void requireOrder(Lane lane, long tag) {
        List<Taken> ordered = taken.stream().filter(one -> one.message.lane == lane && one.receive.tag == tag)
                .sorted(Comparator.comparingLong(one -> one.receive.token)).toList();
        for (int i = 1; i < ordered.size(); i++) {
            MessageProgram.require(ordered.get(i - 1).message.number < ordered.get(i).message.number,
                    "out of order: " + ordered.get(i - 1) + ", " + ordered.get(i));
        }
    }

    void close() {
        MessageProgram.require(queue.operationsInFlight() == 0, "in flight at the end: " + queue.operationsInFlight());
        memory.close();
    }

    @Override
    public String toString() { return "pending " + pending.values() + ", not arrived " + incoming.values(); }
}
