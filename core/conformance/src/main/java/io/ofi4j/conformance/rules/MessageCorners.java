package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.CompletionError;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Tagged;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** What programs do seldom with messages and collective operations, and must survive. */
final class MessageCorners {
    private static final int SIZE = 64;
    /** Of several packets over any provider. */
    private static final int LONG = 60_000;
    private static final int MANY_POLLS = 2000;
    private static final long TOKEN = 7;
    private static final long TAG = 0x77;
    private static final long FROM_ONE = 1;
    private static final long FROM_ANY = 2;
    private static final long CANCELED = 3;
    private static final int ECANCELED = 125;
    /** Members of a group do not share them evenly. */
    private static final int UNEVEN = 3;
    /** More than one message of a provider between two members. */
    private static final int MANY_ELEMENTS = 8192;

    private MessageCorners() {}

    static void addTo(Map<String, Trial> all) {
        all.put("a message that is sent with INJECT completes", MessageCorners::sendInjected);
        all.put("a tagged message waits for its receive", MessageCorners::sendTaggedFirst);
        all.put("a tagged message waits in a shared context", MessageCorners::sendTaggedToShared);
        all.put("a long message that is claimed comes whole", MessageCorners::claimLong);
        all.put("a peer is inserted while a message waits", MessageCorners::insertMeanwhile);
        all.put("receives from one peer take no message of another", MessageCorners::receiveFromOne);
        all.put("a receive of a shared context is canceled", MessageCorners::cancelShared);
        all.put("a broadcast changes nothing but its elements", MessageCorners::broadcastUnevenly);
        all.put("members of a group send each other much", MessageCorners::gatherMuch);
    }

    private static Ends ends(Subject subject, CompletionFormat format, Capability... capabilities) {
        return new Ends(subject, subject.hints(capabilities), CompletionQueueAttributes.defaults().format(format),
                Ends.QUEUES);
    }

    private static void pollLong(Ends ends) {
        for (int i = 0; i < MANY_POLLS; i++) {
            ends.poll();
        }
    }

    private static void sendInjected(Subject subject) {
        try (Ends ends = ends(subject, CompletionFormat.DATA, Capability.MSG);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.SEND);
                MemoryRegion target = ends.farDomain.allocate(SIZE, Access.RECEIVE)) {
            Pattern.fill(source.segment(), 1);
            ends.far.endpoint().messages().receive(target.slice(0, SIZE), TOKEN);
            ends.near.endpoint().messages().prepare().peer(ends.peer).local(source, 0, Long.BYTES)
                    .flags(OperationFlag.INJECT, OperationFlag.COMPLETION).send(TOKEN + 1);
            ends.require("the message", () -> ends.far.count() > 0);
            ends.require("the completion of its send", () -> ends.near.count() > 0);
            Check.none("the errors", ends.near.errors);
            Check.equal("the tokens of the sends", ends.near.tokens(), List.of(TOKEN + 1));
        }
    }

    private static void sendTaggedFirst(Subject subject) {
        try (Ends ends = ends(subject, CompletionFormat.TAGGED, Capability.TAGGED);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.SEND);
                MemoryRegion target = ends.farDomain.allocate(SIZE, Access.RECEIVE)) {
            Pattern.fill(source.segment(), 1);
            ends.near.endpoint().tagged().send(source.slice(0, SIZE), ends.peer, TAG, TOKEN);
            pollLong(ends);
            ends.far.endpoint().tagged().receive(target.slice(0, SIZE), TAG, 0, TOKEN + 1);
            ends.require("the message", () -> ends.far.count() > 0);
            Check.none("the errors", ends.far.errors);
            Check.bytes("the message", target.segment(), source.segment());
        }
    }

    private static void claimLong(Subject subject) {
        if (subject.isConnected()) { throw new UnsupportedOperationException("connected endpoints have no tags"); }
        try (Ends ends = ends(subject, CompletionFormat.TAGGED, Capability.TAGGED);
                MemoryRegion source = ends.domain.allocate(LONG, Access.SEND);
                MemoryRegion target = ends.farDomain.allocate(LONG, Access.RECEIVE)) {
            Pattern.fill(source.segment(), 1);
            long length = Math.min(LONG, ends.domain.info().endpoint().maximumMessageSize());
            ends.near.endpoint().tagged().send(source.slice(0, length), ends.peer, TAG, TOKEN);
            ends.require("the message, as a claim finds it", () -> {
                ends.far.errors.clear();
                ends.far.endpoint().tagged().peek(PeekAction.CLAIM, TAG, 0, TOKEN);
                ends.require("what a claim finds", () -> ends.far.count() > 0);
                return !ends.far.done.isEmpty();
            });
            ends.far.done.clear();
            ends.far.endpoint().tagged().receiveClaimed(target.slice(0, length), TAG, 0, TOKEN);
            ends.require("the message that was claimed", () -> ends.far.count() > 0);
            Check.none("the errors", ends.far.errors);
            Check.equal("the length of the message", ends.far.done.getFirst().length(), length);
            Check.bytes("the message", target.segment().asSlice(0, length), source.segment().asSlice(0, length));
        }
    }

    /** With a vector for each end, so that the receiver does not know the sender. */
    private static void insertMeanwhile(Subject subject) {
        try (Ends ends = ends(subject, CompletionFormat.DATA, Capability.MSG);
                AddressVector vector = ends.vector() == null ? null : ends.domain.openAddressVector();
                Endpoint receiver = ends.domain.openEndpoint().bind(vector).bind(ends.far.queue).enable();
                MemoryRegion source = ends.domain.allocate(SIZE, Access.SEND);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.RECEIVE)) {
            Pattern.fill(source.segment(), 1);
            Peer peer = ends.vector.insert(receiver.address());
            ends.near.endpoint().messages().send(source.slice(0, SIZE), peer, TOKEN);
            pollLong(ends);
            vector.insert(ends.far.endpoint().address());
            vector.insert(ends.near.endpoint().address());
            receiver.messages().receive(target.slice(0, SIZE), TOKEN + 1);
            ends.require("the message", () -> ends.far.count() > 0);
            Check.none("the errors", ends.far.errors);
            Check.bytes("the message", target.segment(), source.segment());
        }
    }

    private static void cancelShared(Subject subject) {
        try (Ends ends = shared(subject, Capability.MSG);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.RECEIVE)) {
            Messages receiver = ends.receiveContexts.getLast().messages();
            receiver.receive(target.slice(0, SIZE), TOKEN);
            receiver.cancel(TOKEN);
            ends.require("the canceled receive", () -> ends.far.count() > 0);
            CompletionError error = Check.single("the errors", ends.far.errors);
            Check.equal("the token of the error", error.token(), TOKEN);
            Check.equal("the number of the error", error.errno(), ECANCELED);
        }
    }

    /** The other sends first, while a receive from any peer is posted behind the one from the near end. */
    private static void receiveFromOne(Subject subject) {
        try (Ends ends = ends(subject, CompletionFormat.DATA, Capability.MSG, Capability.DIRECTED_RECV);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.SEND);
                MemoryRegion target = ends.domain.allocate(4L * SIZE, Access.RECEIVE);
                Endpoint other = ends.domain.openEndpoint().bind(ends.vector()).bind(ends.near.queue).enable()) {
            Peer near = ends.back();
            ends.vector.insert(other.address());
            Messages receiver = ends.far.endpoint().messages();
            receiver.receive(target.slice(0, SIZE), near, FROM_ONE);
            receiver.receive(target.slice(SIZE, SIZE), FROM_ANY);
            other.messages().send(source.slice(0, SIZE), ends.peer, TOKEN);
            ends.require("the message of another peer", () -> ends.far.count() > 0);
            Check.equal("the receive that took the message of another peer", ends.far.tokens(), List.of(FROM_ANY));
            ends.far.done.clear();
            receiver.receive(target.slice(2L * SIZE, SIZE), near, CANCELED);
            receiver.cancel(CANCELED);
            ends.require("the canceled receive", () -> ends.far.count() > 0);
            Check.equal("the token of the canceled receive", ends.far.errors.getFirst().token(), CANCELED);
            ends.near.endpoint().messages().send(source.slice(0, SIZE), ends.peer, TOKEN);
            ends.require("the message of the peer", () -> !ends.far.done.isEmpty());
            Check.equal("the receive that took the message of the peer", ends.far.tokens(), List.of(FROM_ONE));
        }
    }

    /** {@return ends with a context each that receives} */
    private static Ends shared(Subject subject, Capability... capabilities) {
        return new Ends(subject, subject.hints(capabilities).attributes(AttributeHints.none().sharedReceiveContext()),
                CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED), new Ends.Wiring() {
                    @Override
                    public Endpoint bindFar(Ends ends, Endpoint endpoint) {
                        return endpoint.bind(ends.far.queue).bind(ends.openReceiveContext(ends.far));
                    }

                    @Override
                    public Endpoint bindNear(Ends ends, Endpoint endpoint) {
                        return endpoint.bind(ends.near.queue).bind(ends.openReceiveContext(ends.near));
                    }
                });
    }

    private static void sendTaggedToShared(Subject subject) {
        try (Ends ends = shared(subject, Capability.MSG, Capability.TAGGED);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.SEND);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.RECEIVE)) {
            Tagged receiver = ends.receiveContexts.getLast().tagged();
            Pattern.fill(source.segment(), 1);
            ends.near.endpoint().tagged().send(source.slice(0, SIZE), ends.peer, TAG, TOKEN);
            pollLong(ends);
            receiver.receive(target.slice(0, SIZE), TAG, 0, TOKEN + 1);
            ends.require("the message", () -> ends.far.count() > 0);
            Check.none("the errors", ends.far.errors);
            Check.bytes("the message", target.segment(), source.segment());
        }
    }

    /** Both members of a group, with memory. */
    private static final class Group implements AutoCloseable {
        final Ends ends;
        final List<CollectiveGroup> members;
        final MemoryRegion local;
        final MemoryRegion result;

        Group(Subject subject) {
            if (subject.isConnected()) { throw new UnsupportedOperationException("connections form no group"); }
            FabricHints hints = subject.hints().capabilities(Capability.MSG, Capability.COLLECTIVE);
            if (!Subject.info(hints).provider().equals(subject.provider())) { // ofi_rxm over it has them
                throw new UnsupportedOperationException("it has no collective operations");
            }
            ends = new Ends(subject, hints, CompletionQueueAttributes.defaults(), Ends.QUEUES);
            List<Peer> peers = List.of(ends.back(), ends.peer);
            members = List.of(ends.near.endpoint().collectives().join(peers),
                    ends.far.endpoint().collectives().join(peers));
            members.forEach(member -> member.awaitJoined(subject.deadline()));
            local = ends.domain.allocate(2L * MANY_ELEMENTS * Long.BYTES, Access.SEND, Access.RECEIVE);
            result = ends.domain.allocate(4L * MANY_ELEMENTS * Long.BYTES, Access.SEND, Access.RECEIVE);
        }

        /** {@return what a member has of some memory, which the two divide} */
        MemoryRegion.Slice half(MemoryRegion region, int member, long length) {
            return region.slice(member * region.length() / 2, length);
        }

        void await() {
            ends.require("the completions of both members", () -> ends.near.count() > 0 && ends.far.count() > 0);
            Check.none("the errors", ends.near.errors);
            Check.none("the errors", ends.far.errors);
        }

        @Override
        public void close() {
            local.close();
            result.close();
            ends.close();
        }
    }

    /** What would be wrong may be refused. */
    private static void broadcastUnevenly(Subject subject) {
        try (Group group = new Group(subject)) {
            group.half(group.local, 0, UNEVEN * Long.BYTES);
            Pattern.fill(group.local.segment().asSlice(0, UNEVEN * Long.BYTES), 1);
            for (int member = 0; member < 2; member++) {
                try {
                    group.members.get(member).broadcast(Datatype.INT64,
                            group.half(group.local, member, UNEVEN * Long.BYTES), 0, TOKEN);
                } catch (IllegalArgumentException e) {
                    throw new UnsupportedOperationException(e.getMessage(), e);
                }
            }
            group.await();
            MemorySegment there = group.local.segment().asSlice(group.local.length() / 2);
            Check.bytes("the elements", there.asSlice(0, UNEVEN * Long.BYTES), Pattern.of(1, UNEVEN * Long.BYTES));
            Check.bytes("what is behind the elements", there.asSlice(UNEVEN * Long.BYTES, SIZE),
                    MemorySegment.ofArray(new byte[SIZE]));
        }
    }

    private static void gatherMuch(Subject subject) {
        try (Group group = new Group(subject)) {
            long length = (long) MANY_ELEMENTS * Long.BYTES;
            for (int member = 0; member < 2; member++) {
                Pattern.fill(group.local.segment().asSlice(member * length, length), member);
                try {
                    group.members.get(member).allGather(Datatype.INT64, group.half(group.local, member, length),
                            group.half(group.result, member, 2 * length), TOKEN);
                } catch (IllegalArgumentException e) {
                    throw new UnsupportedOperationException(e.getMessage(), e);
                }
            }
            group.await();
            for (int member = 0; member < 2; member++) {
                Check.bytes("what member " + member + " has gathered",
                        group.result.segment().asSlice(member * 2 * length, 2 * length), group.local.segment());
            }
        }
    }
}
