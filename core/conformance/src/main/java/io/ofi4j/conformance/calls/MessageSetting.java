package io.ofi4j.conformance.calls;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.PreparedMessage;
import io.ofi4j.Tagged;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricHints;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/** What a call of messages is tried on: two ends, with a region at each; the near one has what is sent. */
final class MessageSetting implements AutoCloseable {
    static final long LENGTH = 64;
    /** More than any provider leaves unused of a receive of many messages. */
    static final long ROOM = 64 << 10;

    private static final int MANY_POLLS = 2000;
    private static final long SEED = 0x55;

    final Ends ends;
    final End near;
    final End far;
    final Peer peer;
    /** The near end, as the far one knows it. */
    final Peer back;
    final MemoryRegion source;
    final MemoryRegion target;

    MessageSetting(Subject subject, FabricHints hints, Ends.Wiring wiring) {
        boolean tagged = Subject.info(hints).capabilities().contains(Capability.TAGGED);
        // verbs has no other without tags
        CompletionFormat format = tagged ? CompletionFormat.TAGGED : CompletionFormat.DATA;
        ends = new Ends(subject, hints, CompletionQueueAttributes.defaults().format(format), wiring);
        near = ends.near;
        far = ends.far;
        peer = ends.peer;
        back = ends.back();
        source = ends.domain.allocate(LENGTH, Access.SEND);
        target = ends.farDomain.allocate(2 * ROOM, Access.RECEIVE);
        byte[] bytes = new byte[(int) LENGTH];
        new Random(SEED).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, source.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    Messages sender() { return near.endpoint().messages(); }

    Messages receiver() { return far.endpoint().messages(); }

    Tagged taggedSender() { return near.endpoint().tagged(); }

    Tagged taggedReceiver() { return far.endpoint().tagged(); }

    /** The message in two segments, where a message may have so many. */
    PreparedMessage segments(PreparedMessage message) {
        if (ends.domain.info().transmit().iovLimit() < 2) {
            throw new UnsupportedOperationException("a message has at most one segment");
        }
        return message.peer(peer).local(source, 0, LENGTH / 2).local(source, LENGTH / 2, LENGTH / 2);
    }

    /** Polls so often that a message has come before its receive, if it ever does. */
    void arrive() {
        for (int i = 0; i < MANY_POLLS; i++) {
            ends.poll();
        }
    }

    /** Waits until the message has come, and the near end has completed so many operations. */
    void require(int sent) {
        ends.await(sent, 1);
        Check.none("the errors of the sender", near.errors);
        Check.none("the errors of the receiver", far.errors);
        Check.equal("what was received", target.segment().asSlice(0, LENGTH).toArray(ValueLayout.JAVA_BYTE),
                source.segment().toArray(ValueLayout.JAVA_BYTE));
        Check.equal("the byte behind what was received", target.segment().get(ValueLayout.JAVA_BYTE, LENGTH), (byte) 0);
    }

    @Override
    public void close() {
        near.endpoint().close();
        far.endpoint().close();
        source.close();
        target.close();
        ends.close();
    }
}
