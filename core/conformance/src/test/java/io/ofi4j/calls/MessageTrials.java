package io.ofi4j.calls;

import io.ofi4j.info.OperationFlag;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.info.PeekAction;
import io.ofi4j.Messages;
import io.ofi4j.MulticastGroup;
import io.ofi4j.PreparedMessage;
import io.ofi4j.Tagged;
import io.ofi4j.Endpoint;
import io.ofi4j.info.Capability;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.Member;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Trials of the calls of fi_msg(3) and fi_tagged(3). */
final class MessageTrials {
    private static final long DATA = 0x11223344;
    private static final long TAG = 0x55;
    private static final long LENGTH = 64;
    private static final long TOKEN = 77;
    private static final String JOIN = "fi_join, fi_mc_addr, MULTICAST";
    /** More than any provider leaves unused of a receive of many messages. */
    private static final long ROOM = 64 << 10;

    /** What is tried on two endpoints with messages. */
    private interface Body {
        void run(Mailbox box) throws Exception;
    }

    /** Receives of many messages need to know the longest. */
    private static final class Knowing implements Pair.Wiring {
        @Override
        public Endpoint bindFar(Pair pair, Endpoint endpoint) {
            Endpoint bound = endpoint.bind(pair.farQueue);
            return endpoint.info().capabilities().contains(Capability.MULTI_RECV)
                    ? bound.longestMessage(LENGTH)
                    : bound;
        }
    }

    private MessageTrials() {}

    /** Whether a call is one of these. */
    static boolean has(String call) {
        return call.matches("fi_t?(send|recv|inject)(?!_).*|fi_cancel|" + JOIN);
    }

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_send, fi_recv", messages(box -> {
            receiver(box).receive(box.far.slice(0, LENGTH), TOKEN);
            sender(box).send(box.near.slice(0, LENGTH), box.pair.far, TOKEN);
            require(box, 1);
        }));
        all.put("fi_sendv, fi_recvv", messages(box -> {
            receiver(box).prepare().local(box.far, 0, LENGTH).receive(TOKEN);
            segments(sender(box).prepare(), box).send(TOKEN);
            require(box, 1);
        }));
        all.put("fi_sendmsg, fi_recvmsg", messages(box -> {
            receiver(box).prepare().local(box.far, 0, LENGTH).flags(OperationFlag.COMPLETION).receive(TOKEN);
            segments(sender(box).prepare(), box).flags(OperationFlag.COMPLETION).send(TOKEN);
            require(box, 1);
        }));
        all.put("fi_inject", messages(box -> {
            receiver(box).receive(box.far.slice(0, LENGTH), TOKEN);
            sender(box).inject(box.near.slice(0, LENGTH), box.pair.far);
            require(box, 0);
        }));
        all.put("fi_senddata", messages(box -> {
            receiver(box).receive(box.far.slice(0, LENGTH), TOKEN);
            sender(box).sendData(box.near.slice(0, LENGTH), DATA, box.pair.far, TOKEN);
            requireData(box, 1);
        }));
        all.put("fi_injectdata", messages(box -> {
            receiver(box).receive(box.far.slice(0, LENGTH), TOKEN);
            sender(box).injectData(box.near.slice(0, LENGTH), DATA, box.pair.far);
            requireData(box, 0);
        }));
        all.put("fi_recv, directed", messages(box -> {
            receiver(box).receive(box.far.slice(0, LENGTH), box.back, TOKEN);
            sender(box).send(box.near.slice(0, LENGTH), box.pair.far, TOKEN);
            require(box, 1);
        }, Capability.DIRECTED_RECV));
        all.put("fi_recvmsg, MULTI_RECV", messages(box -> {
            receiver(box).receiveMany(box.far.slice(0, 2 * ROOM), TOKEN);
            sender(box).send(box.near.slice(0, LENGTH), box.pair.far, TOKEN);
            require(box, 1);
            assertThat(box.pair.farQueue.operationsInFlight()).as("room for more").isEqualTo(1);
        }, Capability.MULTI_RECV));
        all.put("fi_cancel", messages(box -> {
            receiver(box).receive(box.far.slice(0, LENGTH), TOKEN);
            receiver(box).cancel(TOKEN);
            box.await(0, 1);
            assertThat(box.farDone.errors).singleElement()
                    .satisfies(error -> assertThat(error.errno()).isEqualTo(Errno.ECANCELED));
        }));
        addTaggedTo(all);
        addLooksTo(all);
        all.put(JOIN, MessageTrials::sendToGroup);
    }

    /** Where no group can be reached, the call is not tried. */
    private static void sendToGroup(CallColumn column) {
        TestProviders.info(column.hints().addCapabilities(Capability.MULTICAST));
        assumeTrue(Member.obstacle().isEmpty(), Member.obstacle());
        try (Member member = Member.at(1); MulticastGroup group = member.join(member.groupAtPort(1))) {
            member.send(group, DATA);
            member.await(1, 1);
            assertThat(member.received).containsExactly(DATA);
        }
    }

    private static void addTaggedTo(Map<String, CallTrial> all) {
        all.put("fi_tsend, fi_trecv", tagged(box -> {
            tags(box).receive(box.far.slice(0, LENGTH), TAG, 0, TOKEN);
            taggedSender(box).send(box.near.slice(0, LENGTH), box.pair.far, TAG, TOKEN);
            require(box, 1);
        }));
        all.put("fi_tsendv, fi_trecvv", tagged(box -> {
            tags(box).prepare().local(box.far, 0, LENGTH).tag(TAG).receive(TOKEN);
            segments(taggedSender(box).prepare(), box).tag(TAG).send(TOKEN);
            require(box, 1);
        }));
        all.put("fi_tsendmsg, fi_trecvmsg", tagged(box -> {
            tags(box).prepare().local(box.far, 0, LENGTH).tag(TAG).flags(OperationFlag.COMPLETION).receive(TOKEN);
            segments(taggedSender(box).prepare(), box).tag(TAG).flags(OperationFlag.COMPLETION).send(TOKEN);
            require(box, 1);
        }));
        all.put("fi_tinject", tagged(box -> {
            tags(box).receive(box.far.slice(0, LENGTH), TAG, 0, TOKEN);
            taggedSender(box).inject(box.near.slice(0, LENGTH), box.pair.far, TAG);
            require(box, 0);
        }));
        all.put("fi_tsenddata", tagged(box -> {
            tags(box).receive(box.far.slice(0, LENGTH), TAG, 0, TOKEN);
            taggedSender(box).sendData(box.near.slice(0, LENGTH), DATA, box.pair.far, TAG, TOKEN);
            requireData(box, 1);
        }));
        all.put("fi_tinjectdata", tagged(box -> {
            tags(box).receive(box.far.slice(0, LENGTH), TAG, 0, TOKEN);
            taggedSender(box).injectData(box.near.slice(0, LENGTH), DATA, box.pair.far, TAG);
            requireData(box, 0);
        }));
        all.put("fi_trecv, mask", tagged(box -> {
            taggedSender(box).send(box.near.slice(0, LENGTH), box.pair.far, TAG, TOKEN);
            tags(box).receive(box.far.slice(0, LENGTH), 0, 0xff, TOKEN);
            require(box, 1);
        }));
        all.put("fi_trecv, directed", tagged(box -> {
            tags(box).receive(box.far.slice(0, LENGTH), box.back, TAG, 0, TOKEN);
            taggedSender(box).send(box.near.slice(0, LENGTH), box.pair.far, TAG, TOKEN);
            require(box, 1);
        }, Capability.DIRECTED_RECV));
    }

    private static void addLooksTo(Map<String, CallTrial> all) {
        all.put("fi_trecvmsg, PEEK", tagged(box -> {
            tags(box).peek(PeekAction.KEEP, TAG, 0, TOKEN);
            box.await(0, 1);
            assertThat(box.farDone.errors).singleElement()
                    .satisfies(error -> assertThat(error.errno()).isEqualTo(Errno.ENOMSG));
        }));
        all.put("fi_trecvmsg, CLAIM", tagged(box -> {
            taggedSender(box).send(box.near.slice(0, LENGTH), box.pair.far, TAG, TOKEN);
            while (box.farDone.done.isEmpty()) { // until it has come
                box.farDone.errors.clear();
                tags(box).peek(PeekAction.CLAIM, TAG, 0, TOKEN);
                box.await(0, 1);
            }
            box.farDone.done.clear();
            tags(box).receiveClaimed(box.far.slice(0, LENGTH), TAG, 0, TOKEN);
            require(box, 1);
        }));
        all.put("fi_trecvmsg, DISCARD", tagged(box -> {
            tags(box).peek(PeekAction.DISCARD, TAG, 0, TOKEN);
            box.await(0, 1);
            assertThat(box.farDone.errors).singleElement()
                    .satisfies(error -> assertThat(error.errno()).isEqualTo(Errno.ENOMSG));
        }));
    }

    private static CallTrial messages(Body body, Capability... more) { return trial(Capability.MSG, body, more); }

    private static CallTrial tagged(Body body, Capability... more) { return trial(Capability.TAGGED, body, more); }

    private static CallTrial trial(Capability family, Body body, Capability... more) {
        return column -> {
            Set<Capability> wanted = EnumSet.of(family, more);
            if (!CallColumn.isOfDatagrams(column.label())) { wanted.add(Capability.RMA); }
            Capability[] all = wanted.toArray(Capability[]::new);
            try (Mailbox box = new Mailbox(column.hints().capabilities(all), new Knowing())) {
                box.write(LENGTH, TAG);
                body.run(box);
            }
        };
    }

    private static Messages sender(Mailbox box) { return box.pair.endpoint.messages(); }

    private static Messages receiver(Mailbox box) { return box.pair.farEndpoint.messages(); }

    private static Tagged taggedSender(Mailbox box) { return box.pair.endpoint.tagged(); }

    private static Tagged tags(Mailbox box) { return box.pair.farEndpoint.tagged(); }

    private static PreparedMessage segments(PreparedMessage message, Mailbox box) {
        return message.peer(box.pair.far).local(box.near, 0, LENGTH / 2).local(box.near, LENGTH / 2, LENGTH / 2);
    }

    private static void require(Mailbox box, int sent) {
        box.await(sent, 1);
        assertThat(box.nearDone.errors).isEmpty();
        assertThat(box.farDone.errors).isEmpty();
        assertThat(box.hasArrived(LENGTH)).isTrue();
    }

    private static void requireData(Mailbox box, int sent) {
        require(box, sent);
        assertThat(box.farDone.done.getFirst().data()).isEqualTo(DATA);
    }
}
