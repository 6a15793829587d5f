package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.MessageSetting.LENGTH;
import static io.ofi4j.conformance.calls.MessageSetting.ROOM;

import io.ofi4j.Endpoint;
import io.ofi4j.MulticastGroup;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Untried;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Trials of the calls of fi_msg(3) and fi_tagged(3). */
final class MessageTrials {
    private static final long DATA = 0x11223344;
    private static final long TAG = 0x55;
    private static final int ENOMSG = 42;
    private static final int ECANCELED = 125;
    private static final long TOKEN = 77;
    private static final String JOIN = "fi_join, fi_mc_addr, MULTICAST";

    /** What is tried on two endpoints with messages. */
    private interface Body {
        void run(MessageSetting box) throws Exception;
    }

    /** Receives of many messages need to know the longest. */
    private static final class Knowing implements Ends.Wiring {
        @Override
        public Endpoint bindFar(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.far.queue).longestMessage(LENGTH);
        }
    }

    private MessageTrials() {}

    /** Whether a call is one of these. */
    static boolean has(String call) {
        return call.matches("fi_t?(send|recv|inject)(?!_).*|fi_cancel|" + JOIN);
    }

    static void addMessagesTo(Map<String, Trial> all) {
        all.put("fi_send, fi_recv", messages(box -> {
            box.receiver().receive(box.target.slice(0, LENGTH), TOKEN);
            box.sender().send(box.source.slice(0, LENGTH), box.peer, TOKEN);
            box.require(1);
        }));
        all.put("fi_sendv, fi_recvv", messages(box -> {
            box.receiver().prepare().local(box.target, 0, LENGTH).receive(TOKEN);
            box.segments(box.sender().prepare()).send(TOKEN);
            box.require(1);
        }));
        all.put("fi_sendmsg, fi_recvmsg", messages(box -> {
            box.receiver().prepare().local(box.target, 0, LENGTH).flags(OperationFlag.COMPLETION).receive(TOKEN);
            box.segments(box.sender().prepare()).flags(OperationFlag.COMPLETION).send(TOKEN);
            box.require(1);
        }));
        all.put("fi_inject", messages(box -> {
            box.receiver().receive(box.target.slice(0, LENGTH), TOKEN);
            box.sender().inject(box.source.slice(0, LENGTH), box.peer);
            box.require(0);
        }));
        all.put("fi_senddata", messages(box -> {
            box.receiver().receive(box.target.slice(0, LENGTH), TOKEN);
            box.sender().sendData(box.source.slice(0, LENGTH), DATA, box.peer, TOKEN);
            requireData(box, 1);
        }));
        all.put("fi_injectdata", messages(box -> {
            box.receiver().receive(box.target.slice(0, LENGTH), TOKEN);
            box.sender().injectData(box.source.slice(0, LENGTH), DATA, box.peer);
            requireData(box, 0);
        }));
        all.put("fi_recv, directed", messages(box -> {
            box.receiver().receive(box.target.slice(0, LENGTH), box.back, TOKEN);
            box.sender().send(box.source.slice(0, LENGTH), box.peer, TOKEN);
            box.require(1);
        }, Capability.DIRECTED_RECV));
        all.put("fi_recvmsg, MULTI_RECV", messages(box -> {
            box.receiver().receiveMany(box.target.slice(0, 2 * ROOM), TOKEN);
            box.sender().send(box.source.slice(0, LENGTH), box.peer, TOKEN);
            box.require(1);
            Check.equal("room for more", box.far.queue.operationsInFlight(), 1);
        }, Capability.MULTI_RECV));
        all.put("fi_cancel", messages(box -> {
            box.receiver().receive(box.target.slice(0, LENGTH), TOKEN);
            box.receiver().cancel(TOKEN);
            box.ends.await(0, 1);
            requireError(box, ECANCELED);
        }));
    }

    static void addGroupsTo(Map<String, Trial> all) { all.put(JOIN, MessageTrials::sendToGroup); }

    /** Where no group can be reached, the call is not tried. */
    private static void sendToGroup(Subject subject) {
        Subject.info(subject.hints().addCapabilities(Capability.MULTICAST));
        if (!GroupMember.obstacle().isEmpty()) { throw new Untried(GroupMember.obstacle()); }
        try (GroupMember member = new GroupMember(subject); MulticastGroup group = member.join()) {
            member.send(group, DATA);
            member.await();
            Check.equal("what the member received", member.received, List.of(DATA));
        }
    }

    static void addTaggedTo(Map<String, Trial> all) {
        addTransfersTo(all);
        addLooksTo(all);
    }

    private static void addTransfersTo(Map<String, Trial> all) {
        all.put("fi_tsend, fi_trecv", tagged(box -> {
            box.taggedReceiver().receive(box.target.slice(0, LENGTH), TAG, 0, TOKEN);
            box.taggedSender().send(box.source.slice(0, LENGTH), box.peer, TAG, TOKEN);
            box.require(1);
        }));
        all.put("fi_tsendv, fi_trecvv", tagged(box -> {
            box.taggedReceiver().prepare().local(box.target, 0, LENGTH).tag(TAG).receive(TOKEN);
            box.segments(box.taggedSender().prepare()).tag(TAG).send(TOKEN);
            box.require(1);
        }));
        all.put("fi_tsendmsg, fi_trecvmsg", tagged(box -> {
            box.taggedReceiver().prepare().local(box.target, 0, LENGTH).tag(TAG).flags(OperationFlag.COMPLETION)
                    .receive(TOKEN);
            box.segments(box.taggedSender().prepare()).tag(TAG).flags(OperationFlag.COMPLETION).send(TOKEN);
            box.require(1);
        }));
        all.put("fi_tinject", tagged(box -> {
            box.taggedReceiver().receive(box.target.slice(0, LENGTH), TAG, 0, TOKEN);
            box.taggedSender().inject(box.source.slice(0, LENGTH), box.peer, TAG);
            box.require(0);
        }));
        all.put("fi_tsenddata", tagged(box -> {
            box.taggedReceiver().receive(box.target.slice(0, LENGTH), TAG, 0, TOKEN);
            box.taggedSender().sendData(box.source.slice(0, LENGTH), DATA, box.peer, TAG, TOKEN);
            requireData(box, 1);
        }));
        all.put("fi_tinjectdata", tagged(box -> {
            box.taggedReceiver().receive(box.target.slice(0, LENGTH), TAG, 0, TOKEN);
            box.taggedSender().injectData(box.source.slice(0, LENGTH), DATA, box.peer, TAG);
            requireData(box, 0);
        }));
        all.put("fi_trecv, mask", tagged(box -> {
            box.taggedSender().send(box.source.slice(0, LENGTH), box.peer, TAG, TOKEN);
            box.arrive();
            box.taggedReceiver().receive(box.target.slice(0, LENGTH), 0, 0xff, TOKEN);
            box.require(1);
        }));
        all.put("fi_trecv, directed", tagged(box -> {
            box.taggedReceiver().receive(box.target.slice(0, LENGTH), box.back, TAG, 0, TOKEN);
            box.taggedSender().send(box.source.slice(0, LENGTH), box.peer, TAG, TOKEN);
            box.require(1);
        }, Capability.DIRECTED_RECV));
    }

    private static void addLooksTo(Map<String, Trial> all) {
        all.put("fi_trecvmsg, PEEK", tagged(box -> {
            box.taggedReceiver().peek(PeekAction.KEEP, TAG, 0, TOKEN);
            box.ends.await(0, 1);
            requireError(box, ENOMSG);
        }));
        all.put("fi_trecvmsg, CLAIM", tagged(box -> {
            box.taggedSender().send(box.source.slice(0, LENGTH), box.peer, TAG, TOKEN);
            while (box.far.done.isEmpty()) { // until it has come
                box.far.errors.clear();
                box.taggedReceiver().peek(PeekAction.CLAIM, TAG, 0, TOKEN);
                box.ends.await(0, 1);
            }
            box.far.done.clear();
            box.taggedReceiver().receiveClaimed(box.target.slice(0, LENGTH), TAG, 0, TOKEN);
            box.require(1);
        }));
        all.put("fi_trecvmsg, DISCARD", tagged(box -> {
            box.taggedReceiver().peek(PeekAction.DISCARD, TAG, 0, TOKEN);
            box.ends.await(0, 1);
            requireError(box, ENOMSG);
        }));
    }

    private static Trial messages(Body body, Capability... more) { return trial(Capability.MSG, body, more); }

    private static Trial tagged(Body body, Capability... more) { return trial(Capability.TAGGED, body, more); }

    private static Trial trial(Capability family, Body body, Capability... more) {
        return subject -> {
            Set<Capability> wanted = EnumSet.of(family, more);
            Capability[] all = wanted.toArray(Capability[]::new);
            try (MessageSetting box = new MessageSetting(subject, subject.hints(all),
                    wanted.contains(Capability.MULTI_RECV) ? new Knowing() : Ends.QUEUES)) {
                body.run(box);
            }
        };
    }

    private static void requireData(MessageSetting box, int sent) {
        box.require(sent);
        Check.equal("the data", box.far.done.getFirst().data(), DATA);
    }

    private static void requireError(MessageSetting box, int errno) {
        Check.equal("the number of the error", Check.single("the errors", box.far.errors).errno(), errno);
    }
}
