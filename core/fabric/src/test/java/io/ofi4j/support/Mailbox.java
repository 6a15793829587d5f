package io.ofi4j.support;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricHints;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Two endpoints that exchange messages, with a region at either end, and all that completes there. */
public final class Mailbox implements AutoCloseable {
    public static final int LENGTH = 2 << 20;

    public final Pair pair;
    public final MemoryRegion near;
    public final MemoryRegion far;
    /** The near end, as the far one knows it. */
    public final Peer back;
    public final Side nearDone = new Side();
    public final Side farDone = new Side();

    /** What a completion says. */
    public record Done(long token, long flags, long length, long data, long tag, long source) {}

    /** What has completed at one end. */
    public static final class Side implements DetailedCompletionHandler {
        public final List<Done> done = new ArrayList<>();
        public final List<CompletionError> errors = new ArrayList<>();

        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            done.add(new Done(token, flags, length, data, tag, source));
        }

        @Override
        public void onError(CompletionError error) { errors.add(error); }

        public List<Long> tokens() { return done.stream().map(Done::token).toList(); }

        private int count() { return done.size() + errors.size(); }
    }

    public Mailbox(String provider, Capability... capabilities) {
        this(TestProviders.hints(provider).capabilities(capabilities));
    }

    public Mailbox(FabricHints hints) {
        this(hints, new Pair.Wiring() {
        });
    }

    public Mailbox(FabricHints hints, Pair.Wiring wiring) {
        boolean tagged = TestProviders.info(hints).capabilities().contains(Capability.TAGGED);
        // verbs has no other without tags
        CompletionFormat format = tagged ? CompletionFormat.TAGGED : CompletionFormat.DATA;
        pair = new Pair(hints, CompletionQueueAttributes.defaults().format(format).size(2048), wiring);
        near = pair.domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
        far = pair.domain.allocate(LENGTH, Access.SEND, Access.RECEIVE);
        back = pair.vector == null ? pair.farEndpoint.connection().peer() : pair.vector.insert(pair.endpoint.address());
    }

    /** Fills the beginning of the near region with what {@link #hasArrived} looks for. */
    public void write(long length, long seed) {
        byte[] bytes = new byte[(int) length];
        new Random(seed).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, near.segment(), ValueLayout.JAVA_BYTE, 0, (int) length);
    }

    /** Whether the beginning of the far region equals that of the near one, and the byte behind is zero. */
    public boolean hasArrived(long length) {
        return near.segment().asSlice(0, length).mismatch(far.segment().asSlice(0, length)) == -1
                && (length == LENGTH || far.segment().get(ValueLayout.JAVA_BYTE, length) == 0);
    }

    public void poll() {
        pair.farQueue.poll(farDone, 64);
        pair.queue.poll(nearDone, 64);
    }

    /** Polls both ends until each has completed so many operations, well or not. */
    public void await(int nearCount, int farCount) {
        Waiting.YIELD.until(() -> {
            poll();
            return nearDone.count() >= nearCount && farDone.count() >= farCount;
        }, Pair.DEADLINE);
    }

    @Override
    public void close() {
        pair.endpoint.close();
        pair.farEndpoint.close();
        near.close();
        far.close();
        pair.close();
    }
}
