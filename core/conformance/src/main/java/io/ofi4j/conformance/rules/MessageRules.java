package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Tagged;
import io.ofi4j.Peer;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.FarEnd;
import io.ofi4j.conformance.FarRegion;
import io.ofi4j.conformance.Pair;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MessageOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** What messages promise: fi_msg(3), fi_tagged(3) and fi_endpoint(3). */
final class MessageRules {
    private static final int EADDRNOTAVAIL = 99;
    private static final int WINDOW = 32;
    private static final int MESSAGES = 3200;
    private static final int[] LENGTHS = {8, 1, 64, 500, 1200, 4000, 9, 16_384};
    private static final int ROOM = 16_384;
    private static final int LONG = 65_536;
    /** Of many datagrams. */
    private static final long LONGER = 256 << 10;
    private static final int MOST_POLLS_MEANWHILE = 40;
    private static final int UNTAKEN = 39;
    private static final int TAKEN = 12;
    private static final long TAG = 0x1234;
    private static final int MANY_POLLS = 2000;
    private static final int FEW_POLLS = 200;
    private static final List<Long> ALL_TOKENS = LongStream.range(0, WINDOW).boxed().toList();

    private MessageRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("messages come whole, once, in order", subject -> exchange(subject, false));
        all.put("tagged messages come whole, once, in order", subject -> exchange(subject, true));
        all.put("receives complete in order where that is promised", MessageRules::completeInOrder);
        all.put("a message is not written beyond its receive", MessageRules::truncate);
        all.put("the longest inject, one byte less, one more", MessageRules::injectLongest);
        all.put("the source of a peer that was not inserted", MessageRules::nameStranger);
        all.put("a tagged message waits for a receive of its own endpoint", MessageRules::awaitOwnReceive);
        all.put("an older message is received while a longer one arrives", MessageRules::receiveOlderMeanwhile);
        all.put("endpoints close with receives that are posted", MessageRules::closeWithReceives);
        all.put("endpoints close with messages that nobody took", MessageRules::closeWithMessages);
    }

    private static CompletionFormat format(Capability... capabilities) {
        return Set.of(capabilities).contains(Capability.TAGGED) ? CompletionFormat.TAGGED : CompletionFormat.DATA;
    }

    private static Ends ends(Subject subject, Capability... capabilities) {
        return new Ends(subject, subject.hints(capabilities),
                CompletionQueueAttributes.defaults().format(format(capabilities)), Ends.QUEUES);
    }

    private static int length(FabricInfo info, int number) {
        return (int) Math.min(LENGTHS[number % LENGTHS.length], info.endpoint().maximumMessageSize());
    }

    private static Pair pair(Subject subject, Capability... capabilities) throws InterruptedException {
        return new Pair(subject, format(capabilities), Pair.QUEUE, capabilities);
    }

    private static void exchange(Subject subject, boolean tagged) throws InterruptedException {
        try (Pair pair = pair(subject, tagged ? Capability.TAGGED : Capability.MSG);
                MemoryRegion source = pair.domain.allocate((long) WINDOW * ROOM, Access.SEND)) {
            FarRegion target = pair.far.allocate((long) WINDOW * ROOM, Access.RECEIVE);
            FabricInfo info = pair.domain.info();
            boolean inOrder = tagged || info.receive().messageOrder().contains(MessageOrder.SAS);
            for (int first = 0; first < MESSAGES && pair.hasTime(); first += WINDOW) {
                if (tagged) {
                    pair.far.receiveTagged(target, 0, ROOM, 0, WINDOW, first);
                } else {
                    pair.far.receive(target, 0, ROOM, 0, WINDOW);
                }
                for (int i = 0; i < WINDOW; i++) {
                    int length = length(info, first + i);
                    Pattern.fill(source.segment().asSlice((long) i * ROOM, length), first + i);
                    var from = source.slice((long) i * ROOM, length);
                    if (tagged) {
                        pair.near.endpoint().tagged().send(from, pair.peer, first + i, i);
                    } else {
                        pair.near.endpoint().messages().send(from, pair.peer, i);
                    }
                }
                requireSent(pair);
                requireReceived(pair, target, first, inOrder);
            }
        }
    }

    private static void requireSent(Pair pair) {
        try {
            pair.require("a completion", () -> pair.near.count() >= WINDOW);
        } catch (Absent _) {
            throw new Wrong("the completions of " + WINDOW + " sends", Integer.toString(pair.near.count()),
                    Integer.toString(WINDOW));
        }
        Check.none("the errors of sends", pair.near.errors);
        Check.equal("the tokens of sends", pair.near.tokens().stream().sorted().toList(), ALL_TOKENS);
        pair.near.done.clear();
    }

    private static void requireReceived(Pair pair, FarRegion target, int first, boolean inOrder) {
        FarEnd far = pair.far;
        try {
            pair.requireFar("a completion", () -> far.count() >= WINDOW);
        } catch (Absent _) {
            throw new Wrong("the completions of " + WINDOW + " receives", Integer.toString(far.count()),
                    Integer.toString(WINDOW));
        }
        Check.none("the errors of receives", far.errors);
        Check.equal("the tokens of receives", far.tokens().stream().sorted().toList(), ALL_TOKENS);
        List<Integer> expected = new ArrayList<>(IntStream.range(first, first + WINDOW).boxed().toList());
        for (End.Done done : far.done.stream().sorted((a, b) -> Long.compare(a.token(), b.token())).toList()) {
            FabricInfo info = pair.domain.info();
            int number = inOrder ? first + (int) done.token() : match(done, target, expected, info);
            if (!expected.remove((Integer) number)) { throw new Wrong("the message " + number + " came twice"); }
            int length = length(info, number);
            if (done.length() != 0) { // some formats and providers do not say it of each
                Check.equal("the length of message " + number, done.length(), length);
            }
            target.require("message " + number, done.token() * ROOM, length, number);
        }
        far.done.clear();
    }

    /** Which of the expected messages has come. */
    private static int match(End.Done done, FarRegion target, List<Integer> expected, FabricInfo info) {
        return expected.stream()
                .filter(number -> target.mismatch(done.token() * ROOM, length(info, number), number) == null)
                .findFirst().orElseThrow(() -> new Wrong("what came in receive " + done.token() + " is no message"));
    }

    /** A long message and then a short one, to receives that are there. */
    private static void completeInOrder(Subject subject) throws InterruptedException {
        try (Pair pair = pair(subject, Capability.MSG); MemoryRegion source = pair.domain.allocate(LONG, Access.SEND)) {
            if (!pair.domain.info().receive().completesInOrder()) {
                throw new UnsupportedOperationException("no order of completions is promised");
            }
            FarRegion target = pair.far.allocate(2L * LONG, Access.RECEIVE);
            long longest = Math.min(LONG, pair.domain.info().endpoint().maximumMessageSize());
            for (int round = 0; round < WINDOW; round++) {
                pair.far.receive(target, 0, LONG, 1);
                pair.far.receive(target, LONG, LONG, 2);
                pair.near.endpoint().messages().send(source.slice(0, longest), pair.peer, 1);
                pair.near.endpoint().messages().send(source.slice(0, Long.BYTES), pair.peer, 2);
                pair.requireFar("the receives of two messages", () -> pair.far.count() == 2 && pair.near.count() == 2);
                Check.none("the errors", pair.far.errors);
                Check.equal("the order of the receives", pair.far.tokens(), List.of(1L, 2L));
                pair.far.done.clear();
                pair.near.done.clear();
            }
        }
    }

    private static void truncate(Subject subject) throws InterruptedException {
        int room = 64;
        try (Pair pair = pair(subject, Capability.MSG);
                MemoryRegion source = pair.domain.allocate(4L * room, Access.SEND)) {
            FarRegion target = pair.far.allocate(4L * room, Access.RECEIVE);
            source.segment().fill((byte) 1);
            pair.far.receive(target, 0, room, 1);
            pair.near.endpoint().messages().send(source.slice(0, 2L * room), pair.peer, 1);
            pair.requireFar("what becomes of a receive that is too short", () -> pair.far.count() > 0);
            for (int i = 0; i < MANY_POLLS; i++) {
                pair.poll();
            }
            Check.equal("the byte behind the receive", target.at(room), (byte) 0);
            Check.none("the receives that completed well", pair.far.tokens());
        }
    }

    private static void injectLongest(Subject subject) throws InterruptedException {
        try (Pair pair = pair(subject, Capability.MSG)) {
            long longest = pair.domain.info().transmit().injectSize();
            if (longest == 0) { throw new UnsupportedOperationException("the provider injects nothing"); }
            FarRegion target = pair.far.allocate(longest + 1, Access.RECEIVE);
            try (MemoryRegion source = pair.domain.allocate(longest + 1, Access.SEND)) {
                for (long length = longest - 1; length <= longest; length++) {
                    Pattern.fill(source.segment(), length);
                    pair.far.receive(target, 0, longest + 1, length);
                    pair.near.endpoint().messages().inject(source.slice(0, length), pair.peer);
                    source.segment().fill((byte) -1);
                    pair.far.done.clear();
                    pair.requireFar("an inject of " + length + " bytes", () -> pair.far.count() > 0);
                    Check.none("the errors", pair.far.errors);
                    target.require("an inject of " + length + " bytes", 0, length, length);
                }
                Check.thrown("an inject of " + (longest + 1) + " bytes", IllegalArgumentException.class,
                        () -> pair.near.endpoint().messages().inject(source.slice(0, longest + 1), pair.peer));
            }
        }
    }

    /** The far end has inserted nobody. */
    private static void nameStranger(Subject subject) throws InterruptedException {
        if (subject.isConnected()) {
            throw new UnsupportedOperationException("connected endpoints have no address vector");
        }
        try (Pair pair = pair(subject, Capability.MSG, Capability.SOURCE);
                MemoryRegion source = pair.domain.allocate(Long.BYTES, Access.SEND)) {
            FarRegion target = pair.far.allocate(Long.BYTES, Access.RECEIVE);
            pair.far.receive(target, 0, Long.BYTES, 1);
            pair.near.endpoint().messages().send(source.slice(0, Long.BYTES), pair.peer, 1);
            pair.requireFar("a message", () -> pair.far.count() > 0);
            if (pair.domain.info().capabilities().contains(Capability.SOURCE_ERR)) { // it is told by an error
                Check.equal("the number of the error", Check.single("the errors", pair.far.errors).errno(),
                        EADDRNOTAVAIL);
                return;
            }
            Check.none("the errors", pair.far.errors);
            Check.equal("the source", pair.far.done.getFirst().source(), Peer.ADDRESS_NOT_AVAILABLE);
        }
    }

    /** A third endpoint of the domain, to which nobody sends, receives with the same tag. */
    private static void awaitOwnReceive(Subject subject) {
        if (subject.isConnected()) { throw new UnsupportedOperationException("connected endpoints have no tags"); }
        try (Ends ends = ends(subject, Capability.TAGGED);
                MemoryRegion source = ends.domain.allocate(Long.BYTES, Access.SEND);
                MemoryRegion target = ends.domain.allocate(2L * Long.BYTES, Access.RECEIVE);
                CompletionQueue queue = ends.domain.openCompletionQueue();
                Endpoint third = ends.domain.openEndpoint().bind(queue).bind(ends.vector()).enable()) {
            End other = End.of(queue);
            ends.back(); // some providers keep only messages of peers that are known
            Pattern.fill(source.segment(), TAG);
            ends.near.endpoint().tagged().send(source.slice(0, Long.BYTES), ends.peer, TAG, 1);
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
            }
            third.tagged().receive(target.slice(0, Long.BYTES), TAG, 0, 1);
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
                other.poll();
            }
            Check.none("what came at an endpoint that nobody sends to", other.tokens());
            Check.none("the completions of an endpoint without a receive", ends.far.tokens());
            ends.far.endpoint().tagged().receive(target.slice(Long.BYTES, Long.BYTES), TAG, 0, 2);
            ends.require("a message behind a receive of another endpoint", () -> ends.far.count() > 0);
            Check.none("the errors", ends.far.errors);
            Check.bytes("a message behind a receive of another endpoint",
                    target.segment().asSlice(Long.BYTES, Long.BYTES), Pattern.of(TAG, Long.BYTES));
        }
    }

    /** The receive of the older message is posted a poll later each time: anywhere in the longer one. */
    private static void receiveOlderMeanwhile(Subject subject) {
        if (subject.isConnected()) { throw new UnsupportedOperationException("connected endpoints have no tags"); }
        try (Ends ends = ends(subject, Capability.TAGGED);
                MemoryRegion source = ends.domain.allocate(LONGER + Long.BYTES, Access.SEND);
                MemoryRegion target = ends.farDomain.allocate(LONGER + Long.BYTES, Access.RECEIVE)) {
            ends.back(); // some providers keep only messages of peers that are known
            Tagged sender = ends.near.endpoint().tagged();
            Tagged receiver = ends.far.endpoint().tagged();
            long length = Math.min(LONGER, ends.domain.info().endpoint().maximumMessageSize());
            for (int round = 0; round < MOST_POLLS_MEANWHILE; round++) {
                Pattern.fill(source.segment().asSlice(0, length), round);
                Pattern.fill(source.segment().asSlice(LONGER, Long.BYTES), round + TAG);
                target.segment().fill((byte) 0);
                sender.send(source.slice(LONGER, Long.BYTES), ends.peer, TAG, 1);
                for (int i = 0; i < FEW_POLLS; i++) {
                    ends.poll();
                }
                receiver.receive(target.slice(0, length), TAG + 1, 0, 1);
                sender.send(source.slice(0, length), ends.peer, TAG + 1, 2);
                for (int i = 0; i < round; i++) {
                    (i % 2 == 0 ? ends.near : ends.far).poll();
                }
                receiver.receive(target.slice(LONGER, Long.BYTES), TAG, 0, 2);
                int both = 2 * (round + 1);
                ends.require("a message of " + length + " bytes, and one received while it arrives",
                        () -> ends.far.count() >= both && ends.near.count() >= both);
                Check.none("the errors", ends.far.errors);
                Check.bytes("a message received while a longer one arrives",
                        target.segment().asSlice(LONGER, Long.BYTES), Pattern.of(round + TAG, Long.BYTES));
                Check.bytes("a message that arrives while an older one is received",
                        target.segment().asSlice(0, length), Pattern.of(round, (int) length));
            }
        }
    }

    private static void closeWithReceives(Subject subject) {
        for (Capability family : List.of(Capability.MSG, Capability.TAGGED)) {
            if (family == Capability.TAGGED && (subject.isConnected() || subject.isOfDatagrams())) { continue; }
            try (Ends ends = ends(subject, family);
                    MemoryRegion target = ends.domain.allocate(2L * LONG, Access.RECEIVE)) {
                for (End end : List.of(ends.near, ends.far)) {
                    for (int i = 0; i < WINDOW; i++) {
                        if (family == Capability.TAGGED) {
                            end.endpoint().tagged().receive(target.slice(i, Long.BYTES), TAG, 0, i);
                        } else {
                            end.endpoint().messages().receive(target.slice(i, Long.BYTES), i);
                        }
                    }
                }
                ends.near.endpoint().close();
                ends.far.endpoint().close();
                ends.require("each receive of endpoints that were closed",
                        () -> ends.near.count() == WINDOW && ends.far.count() == WINDOW);
            }
        }
    }

    private static void closeWithMessages(Subject subject) {
        for (int length : new int[]{256, ROOM}) {
            for (boolean senderFirst : new boolean[]{true, false}) {
                closeWithMessages(subject, length, senderFirst);
            }
        }
    }

    private static void closeWithMessages(Subject subject, int asked, boolean senderFirst) {
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.SEND);
                MemoryRegion target = ends.farDomain.allocate(ROOM, Access.RECEIVE)) {
            long length = Math.min(asked, ends.domain.info().endpoint().maximumMessageSize());
            int sent = 0;
            for (int i = 0; i < MANY_POLLS && sent < UNTAKEN; i++) {
                if (ends.near.endpoint().messages().trySend(source, 0, length, ends.peer, sent)) { sent++; }
                ends.poll();
            }
            for (int i = 0; i < TAKEN; i++) {
                ends.far.endpoint().messages().receive(target.slice(0, ROOM), i);
            }
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
            }
            (senderFirst ? ends.near : ends.far).endpoint().close();
            (senderFirst ? ends.far : ends.near).endpoint().close();
        }
    }
}
