package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Ends;
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

/** What messages promise: fi_msg(3), fi_tagged(3) and fi_endpoint(3). */
final class MessageRules {
    private static final int WINDOW = 32;
    private static final int MESSAGES = 3200;
    private static final int[] LENGTHS = {8, 1, 64, 500, 1200, 4000, 9, 16_384};
    private static final int ROOM = 16_384;
    private static final int LONG = 65_536;
    private static final int UNTAKEN = 39;
    private static final int TAKEN = 12;
    private static final long TAG = 0x1234;
    private static final int MANY_POLLS = 2000;

    private MessageRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("messages come whole, once, in order", subject -> exchange(subject, false));
        all.put("tagged messages come whole, once, in order", subject -> exchange(subject, true));
        all.put("receives complete in order where that is promised", MessageRules::completeInOrder);
        all.put("a message is not written beyond its receive", MessageRules::truncate);
        all.put("the longest inject, one byte less, one more", MessageRules::injectLongest);
        all.put("the source of a peer that was not inserted", MessageRules::nameStranger);
        all.put("endpoints close with receives that are posted", MessageRules::closeWithReceives);
        all.put("endpoints close with messages that nobody took", MessageRules::closeWithMessages);
    }

    private static Ends ends(Subject subject, Capability... capabilities) {
        boolean tagged = Set.of(capabilities).contains(Capability.TAGGED);
        return new Ends(subject, subject.hints(capabilities),
                CompletionQueueAttributes.defaults().format(tagged ? CompletionFormat.TAGGED : CompletionFormat.DATA),
                Ends.QUEUES);
    }

    private static int length(FabricInfo info, int number) {
        return (int) Math.min(LENGTHS[number % LENGTHS.length], info.endpoint().maximumMessageSize());
    }

    private static void exchange(Subject subject, boolean tagged) {
        try (Ends ends = ends(subject, tagged ? Capability.TAGGED : Capability.MSG);
                MemoryRegion source = ends.domain.allocate((long) WINDOW * ROOM, Access.SEND);
                MemoryRegion target = ends.domain.allocate((long) WINDOW * ROOM, Access.RECEIVE)) {
            FabricInfo info = ends.domain.info();
            boolean inOrder = tagged || info.receive().messageOrder().contains(MessageOrder.SAS);
            for (int first = 0; first < MESSAGES; first += WINDOW) {
                for (int i = 0; i < WINDOW; i++) {
                    var into = target.slice((long) i * ROOM, ROOM);
                    if (tagged) {
                        ends.far.endpoint().tagged().receive(into, first + i, 0, i);
                    } else {
                        ends.far.endpoint().messages().receive(into, i);
                    }
                }
                for (int i = 0; i < WINDOW; i++) {
                    int length = length(info, first + i);
                    Pattern.fill(source.segment().asSlice((long) i * ROOM, length), first + i);
                    var from = source.slice((long) i * ROOM, length);
                    if (tagged) {
                        ends.near.endpoint().tagged().send(from, ends.peer, first + i, i);
                    } else {
                        ends.near.endpoint().messages().send(from, ends.peer, i);
                    }
                }
                requireAll(ends.near, ends, "sends");
                requireAll(ends.far, ends, "receives");
                List<Integer> expected = new ArrayList<>();
                for (int i = 0; i < WINDOW; i++) {
                    expected.add(first + i);
                }
                for (End.Done done : ends.far.done.stream().sorted((a, b) -> Long.compare(a.token(), b.token()))
                        .toList()) {
                    int number = inOrder ? first + (int) done.token() : match(done, target, expected, info);
                    if (!expected.remove((Integer) number)) {
                        throw new Wrong("the message " + number + " came twice");
                    }
                    int length = length(info, number);
                    if (done.length() != 0) { // some formats and providers do not say it of each
                        Check.equal("the length of message " + number, done.length(), length);
                    }
                    Check.bytes("message " + number, target.segment().asSlice(done.token() * ROOM, length),
                            Pattern.of(number, length));
                }
                ends.near.done.clear();
                ends.far.done.clear();
            }
        }
    }

    /** Which of the expected messages has come. */
    private static int match(End.Done done, MemoryRegion target, List<Integer> expected, FabricInfo info) {
        return expected.stream().filter(number -> {
            int length = length(info, number);
            return target.segment().asSlice(done.token() * ROOM, length).mismatch(Pattern.of(number, length)) == -1;
        }).findFirst().orElseThrow(() -> new Wrong("what came in receive " + done.token() + " is no message"));
    }

    private static void requireAll(End end, Ends ends, String what) {
        try {
            ends.require("a completion", () -> end.count() >= WINDOW);
        } catch (Absent _) {
            throw new Wrong("the completions of " + WINDOW + " " + what, Integer.toString(end.count()),
                    Integer.toString(WINDOW));
        }
        Check.none("the errors of " + what, end.errors);
        Check.equal("the tokens of " + what, end.tokens().stream().sorted().toList(),
                java.util.stream.LongStream.range(0, WINDOW).boxed().toList());
    }

    /** A long message and then a short one, to receives that are there. */
    private static void completeInOrder(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion source = ends.domain.allocate(LONG, Access.SEND);
                MemoryRegion target = ends.domain.allocate(2L * LONG, Access.RECEIVE)) {
            if (!ends.domain.info().receive().completesInOrder()) {
                throw new UnsupportedOperationException("no order of completions is promised");
            }
            long longest = Math.min(LONG, ends.domain.info().endpoint().maximumMessageSize());
            for (int round = 0; round < WINDOW; round++) {
                ends.far.endpoint().messages().receive(target.slice(0, LONG), 1);
                ends.far.endpoint().messages().receive(target.slice(LONG, LONG), 2);
                ends.near.endpoint().messages().send(source.slice(0, longest), ends.peer, 1);
                ends.near.endpoint().messages().send(source.slice(0, Long.BYTES), ends.peer, 2);
                ends.require("the receives of two messages", () -> ends.far.count() == 2 && ends.near.count() == 2);
                Check.none("the errors", ends.far.errors);
                Check.equal("the order of the receives", ends.far.tokens(), List.of(1L, 2L));
                ends.far.done.clear();
                ends.near.done.clear();
            }
        }
    }

    private static void truncate(Subject subject) {
        int room = 64;
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion source = ends.domain.allocate(4L * room, Access.SEND);
                MemoryRegion target = ends.domain.allocate(4L * room, Access.RECEIVE)) {
            source.segment().fill((byte) 1);
            ends.far.endpoint().messages().receive(target.slice(0, room), 1);
            ends.near.endpoint().messages().send(source.slice(0, 2L * room), ends.peer, 1);
            ends.require("what becomes of a receive that is too short", () -> ends.far.count() > 0);
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
            }
            Check.equal("the byte behind the receive",
                    target.segment().get(java.lang.foreign.ValueLayout.JAVA_BYTE, room), (byte) 0);
            Check.none("the receives that completed well", ends.far.tokens());
        }
    }

    private static void injectLongest(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG)) {
            long longest = ends.domain.info().transmit().injectSize();
            if (longest == 0) { throw new UnsupportedOperationException("the provider injects nothing"); }
            try (MemoryRegion source = ends.domain.allocate(longest + 1, Access.SEND);
                    MemoryRegion target = ends.domain.allocate(longest + 1, Access.RECEIVE)) {
                for (long length = longest - 1; length <= longest; length++) {
                    Pattern.fill(source.segment(), length);
                    ends.far.endpoint().messages().receive(target.slice(0, longest + 1), length);
                    ends.near.endpoint().messages().inject(source.slice(0, length), ends.peer);
                    source.segment().fill((byte) -1);
                    ends.far.done.clear();
                    ends.require("an inject of " + length + " bytes", () -> ends.far.count() > 0);
                    Check.none("the errors", ends.far.errors);
                    Check.bytes("an inject of " + length + " bytes", target.segment().asSlice(0, length),
                            Pattern.of(length, longest + 1).asSlice(0, length));
                }
                Check.thrown("an inject of " + (longest + 1) + " bytes", IllegalArgumentException.class,
                        () -> ends.near.endpoint().messages().inject(source.slice(0, longest + 1), ends.peer));
            }
        }
    }

    /** The far end has inserted nobody but itself. */
    private static void nameStranger(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG, Capability.SOURCE);
                MemoryRegion source = ends.domain.allocate(Long.BYTES, Access.SEND);
                MemoryRegion target = ends.domain.allocate(Long.BYTES, Access.RECEIVE)) {
            ends.vector();
            ends.far.endpoint().messages().receive(target.slice(0, Long.BYTES), 1);
            ends.near.endpoint().messages().send(source.slice(0, Long.BYTES), ends.peer, 1);
            ends.require("a message", () -> ends.far.count() > 0);
            Check.none("the errors", ends.far.errors);
            Check.equal("the source", ends.far.done.getFirst().source(), Peer.ADDRESS_NOT_AVAILABLE);
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
                MemoryRegion target = ends.domain.allocate(ROOM, Access.RECEIVE)) {
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
