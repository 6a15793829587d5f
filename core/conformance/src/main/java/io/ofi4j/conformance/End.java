package io.ofi4j.conformance;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.Endpoint;
import io.ofi4j.info.CompletionFlags;
import java.util.ArrayList;
import java.util.List;

/** An endpoint with its queue, and all that has completed there. */
public final class End implements DetailedCompletionHandler {
    private static final int BATCH = 64;

    /** Where its operations complete. */
    public final CompletionQueue queue;
    /** What has completed, in its order. */
    public final List<Done> done = new ArrayList<>();
    /** What has failed, in its order. */
    public final List<CompletionError> errors = new ArrayList<>();

    private Endpoint endpoint;

    /** What a completion says. */
    public record Done(long token, long flags, long length, long data, long tag, long source) {
        /** {@return whether it tells of a write of a peer, or of a message, that has data} */
        public boolean isRemoteData() {
            return (flags & CompletionFlags.REMOTE_CQ_DATA) != 0;
        }
    }

    End(CompletionQueue queue) { this.queue = queue; }

    /** {@return an end that only collects what completes in a queue} */
    public static End of(CompletionQueue queue) {
        return new End(queue);
    }

    void endpoint(Endpoint opened) { endpoint = opened; }

    /** {@return the endpoint} */
    public Endpoint endpoint() { return endpoint; }

    @Override
    public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
        done.add(new Done(token, flags, length, data, tag, source));
    }

    @Override
    public void onError(CompletionError error) { errors.add(error); }

    /** {@return the tokens of what has completed} */
    public List<Long> tokens() {
        return done.stream().map(Done::token).toList();
    }

    /** {@return the data of the writes of peers that it was told of} */
    public List<Long> remoteData() {
        return done.stream().filter(Done::isRemoteData).map(Done::data).toList();
    }

    /** {@return how many operations have completed, well or not} */
    public int count() {
        return done.size() + errors.size();
    }

    /** Polls the queue once. */
    public void poll() { queue.poll(this, BATCH); }
}
