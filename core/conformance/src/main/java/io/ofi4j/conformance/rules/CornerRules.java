package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import io.ofi4j.info.WaitObject;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What programs do seldom, and must survive: each has ended a process, hung or lost data over some provider. Both ends
 * are in one process, where most of these happen.
 */
final class CornerRules {
    private static final int SIZE = 64;
    private static final int ROOM = 64 << 10;
    private static final int SHORTER = 200;
    private static final int TIMES = 50;
    private static final int PEERS = 8;
    private static final int MAX_RECEIVES = 20_000;
    private static final int MANY_POLLS = 2000;
    private static final long TOKEN = 7;
    private static final long TAG = 0x77;
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private CornerRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("a write of no bytes is delivered", CornerRules::deliverNothing);
        all.put("an option is read before the endpoint is enabled", CornerRules::readOption);
        all.put("an option is set before the endpoint is enabled", CornerRules::setOption);
        all.put("an endpoint closes that was bound to nothing", CornerRules::closeUnbound);
        all.put("one receive too many is refused", CornerRules::fillReceives);
        all.put("a receive of many messages is not written beyond its end", CornerRules::overrunReceive);
        all.put("the sender of a long message is told that it is discarded", CornerRules::discardLong);
        all.put("injects to an endpoint that was closed", CornerRules::injectToClosed);
        all.put("a queue is waited for after its endpoint has closed", CornerRules::waitBehindClose);
        all.put("an absent peer does not share its address", CornerRules::insertAbsent);
        all.put("a new peer takes the place of one that was removed", CornerRules::replacePeers);
        all.put("a message of a peer that is removed before it is taken", CornerRules::removeSender);
        all.put("an endpoint closes under the writes of its neighbour", CornerRules::closeUnderWrites);
        all.put("a name is used again", CornerRules::reuseName);
    }

    private static void deliverNothing(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.near.endpoint().rma().prepare().peer(ends.peer).local(source, 0, 0).remote(target.remote(), 0, 0)
                    .flags(OperationFlag.DELIVERY_COMPLETE).write(TOKEN);
            ends.awaitToken(TOKEN);
        }
    }

    /** It may be refused, by a word of ofi4j or by an error number. */
    private static void readOption(Subject subject) {
        withBoundEndpoint(subject, endpoint -> endpoint.options().get(EndpointOption.MINIMUM_MULTI_RECEIVE));
    }

    private static void setOption(Subject subject) {
        withBoundEndpoint(subject, endpoint -> endpoint.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, 128L));
    }

    private static void withBoundEndpoint(Subject subject, Consumer<Endpoint> work) {
        try (Ends ends = new Ends(subject); Endpoint endpoint = ends.domain.openEndpoint()) {
            if (ends.vector != null) { endpoint.bind(ends.vector); }
            try {
                work.accept(endpoint);
            } catch (IllegalStateException | FabricException e) {
                return; // refused, and the process goes on
            }
        }
    }

    private static void closeUnbound(Subject subject) {
        try (Ends ends = new Ends(subject)) {
            ends.domain.openEndpoint().close();
        }
    }

    private static Ends ends(Subject subject, Capability... capabilities) {
        return new Ends(subject, subject.hints(capabilities),
                CompletionQueueAttributes.defaults().format(CompletionFormat.DATA), Ends.QUEUES);
    }

    private static void fillReceives(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.RECEIVE)) {
            Messages receiver = ends.far.endpoint().messages();
            int posted = 0;
            while (posted < MAX_RECEIVES && receiver.tryReceive(target, 0, SIZE, posted)) {
                posted++;
            }
            Check.holds("a receive is accepted", posted > 0);
        }
    }

    /** Two messages leave as much as keeps the receive posted, and less than a third needs. */
    private static void overrunReceive(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG, Capability.MULTI_RECV)) {
            Long least = ends.far.endpoint().options().get(EndpointOption.MINIMUM_MULTI_RECEIVE);
            int length = Math.toIntExact(least) + 2 * SHORTER;
            int room = 2 * length + Math.toIntExact(least) + SHORTER;
            try (MemoryRegion source = ends.domain.allocate(length, Access.SEND);
                    MemoryRegion target = ends.domain.allocate(room + length, Access.RECEIVE)) {
                source.segment().fill((byte) 1);
                ends.far.endpoint().messages().receiveMany(target.slice(0, room), TOKEN);
                for (int i = 0; i < 3; i++) {
                    ends.near.endpoint().messages().send(source.slice(0, length), ends.peer, i);
                }
                for (int i = 0; i < MANY_POLLS; i++) {
                    ends.poll();
                }
                Check.bytes("what is behind the receive", target.segment().asSlice(room, length),
                        MemorySegment.ofArray(new byte[length]));
                // what has not fitted waits for a receive of its own
                ends.far.endpoint().messages().receive(target.slice(0, length), TOKEN + 1);
                for (int i = 0; i < MANY_POLLS; i++) {
                    ends.poll();
                }
            }
        }
    }

    private static void discardLong(Subject subject) {
        if (subject.isConnected()) { throw new UnsupportedOperationException("connected endpoints have no tags"); }
        try (Ends ends = new Ends(subject, subject.hints(Capability.TAGGED),
                CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED), Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.SEND)) {
            long length = Math.min(ROOM, ends.domain.info().endpoint().maximumMessageSize());
            ends.near.endpoint().tagged().send(source.slice(0, length), ends.peer, TAG, TOKEN);
            ends.require("the message, as a look for it finds it", () -> {
                if (ends.far.count() == 0 || !ends.far.errors.isEmpty()) {
                    ends.far.errors.clear();
                    ends.far.endpoint().tagged().peek(PeekAction.DISCARD, TAG, 0, TOKEN);
                    ends.require("what a look finds", () -> ends.far.count() > 0);
                }
                return !ends.far.done.isEmpty();
            });
            ends.require("the completion of a send whose message was discarded", () -> ends.near.count() > 0);
            Check.none("the errors", ends.near.errors);
        }
    }

    /** An inject completes nothing. Whether one is refused, fails or is lost is open. */
    private static void injectToClosed(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            Rma rma = ends.near.endpoint().rma();
            rma.write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.near.done.clear();
            for (int injected = 0; injected < 2 * TIMES; injected++) {
                if (injected == TIMES) { ends.far.endpoint().close(); }
                try {
                    rma.tryInjectWrite(source, 0, Long.BYTES, ends.peer, target.remote(), 0);
                } catch (IllegalStateException | FabricException e) {
                    continue; // as good as lost
                }
                if (injected % PEERS == 0) { ends.near.poll(); }
            }
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.near.poll();
            }
            Check.none("the completions of injects", ends.near.tokens());
        }
    }

    private static void waitBehindClose(Subject subject) {
        try (Ends ends = new Ends(subject, subject.hints(),
                CompletionQueueAttributes.defaults().waitObject(WaitObject.FD), Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.near.endpoint().rma().write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.near.endpoint().close();
            ends.far.endpoint().close();
            Check.equal("the completions of a queue without endpoints", ends.near.queue.await(NOTHING, 1, SHORT), 0);
        }
    }

    /** That it is refused is as good. */
    private static void insertAbsent(Subject subject) {
        try (Ends ends = new Ends(subject); CompletionQueue queue = ends.domain.openCompletionQueue()) {
            EndpointAddress absent;
            EndpointAddress present;
            try (Endpoint gone = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
                absent = gone.address();
            }
            Peer first;
            try {
                first = ends.vector().insert(absent);
            } catch (FabricException | IllegalArgumentException e) {
                return;
            }
            try (Endpoint other = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
                present = other.address();
                Peer second = ends.vector().insert(present);
                Check.holds("two peers have two addresses", first.fabricAddress() != second.fabricAddress());
            }
        }
    }

    private static void replacePeers(Subject subject) {
        try (Ends ends = new Ends(subject);
                CompletionQueue queue = ends.domain.openCompletionQueue();
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            for (int round = 1; round <= PEERS; round++) {
                Pattern.fill(source.segment(), round);
                try (Endpoint other = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
                    Peer peer = ends.vector().insert(other.address());
                    ends.near.endpoint().rma().write(source.slice(0, SIZE), peer, target.remote(), round);
                    ends.require("the completion of a write to a new peer", () -> {
                        queue.poll(NOTHING, SIZE);
                        return ends.near.count() > 0;
                    });
                    Check.none("the errors", ends.near.errors);
                    ends.require("the bytes of a write to a new peer", () -> {
                        queue.poll(NOTHING, SIZE);
                        return target.segment().mismatch(source.segment()) == -1;
                    });
                    ends.near.done.clear();
                    ends.vector().remove(peer);
                }
            }
        }
    }

    /** What becomes of the message is open. */
    private static void removeSender(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.SEND);
                MemoryRegion target = ends.domain.allocate(ROOM, Access.RECEIVE)) {
            ends.vector();
            Peer back = ends.back();
            ends.far.endpoint().messages().receive(target.slice(0, ROOM), TOKEN);
            ends.near.endpoint().messages().send(source.slice(0, ROOM), ends.peer, TOKEN);
            ends.vector().remove(back);
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
            }
        }
    }

    private static void closeUnderWrites(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate((long) PEERS * ROOM, Access.WRITE);
                MemoryRegion target = ends.domain.allocate((long) PEERS * ROOM, Access.REMOTE_WRITE)) {
            Rma rma = ends.near.endpoint().rma();
            for (int i = 0; i < PEERS; i++) {
                rma.tryWrite(source, (long) i * ROOM, ROOM, ends.peer, target.remote(), (long) i * ROOM, i);
            }
            ends.far.endpoint().close();
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.near.poll();
            }
        }
    }

    /** Names are a program's own choice over shared memory alone. */
    private static void reuseName(Subject subject) {
        try (Ends ends = new Ends(subject);
                CompletionQueue queue = ends.domain.openCompletionQueue();
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            EndpointAddress name = ends.domain.info().addressNamed("ofi4j-verify-" + ProcessHandle.current().pid());
            for (int round = 1; round <= 2; round++) {
                Pattern.fill(source.segment(), round);
                try (Endpoint named = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).address(name)
                        .enable()) {
                    Peer peer = ends.vector().insert(named.address());
                    ends.near.endpoint().rma().write(source.slice(0, SIZE), peer, target.remote(), round);
                    ends.require("the bytes of a write to a name", () -> {
                        queue.poll(NOTHING, SIZE);
                        return target.segment().mismatch(source.segment()) == -1;
                    });
                    ends.vector().remove(peer);
                }
            }
        }
    }
}
