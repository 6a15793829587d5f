package io.ofi4j.durable;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** Two endpoints of which one saves, and the service of the other. */
final class Saving implements AutoCloseable {
    final Pair pair;
    final Domain domain;
    final Endpoint endpoint;
    final Endpoint farEndpoint;
    final Peer far;
    final SaveService service;
    final Saver saver;
    final List<Long> completed = new ArrayList<>();
    final List<CompletionError> errors = new ArrayList<>();
    final List<CompletionError> farErrors = new ArrayList<>();
    private final CompletionHandler recorder = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

        @Override
        public void onError(CompletionError error) { errors.add(error); }
    };
    private final CompletionHandler farRecorder = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Nothing that the tests of this end look at.
        }

        @Override
        public void onError(CompletionError error) { farErrors.add(error); }
    };

    /** No writer is ever late: the clock of the service stands. */
    Saving(FabricHints hints) { this(hints, () -> 0); }

    Saving(FabricHints hints, LongSupplier clock) {
        pair = new Pair(hints);
        domain = pair.domain;
        endpoint = pair.endpoint;
        farEndpoint = pair.farEndpoint;
        far = pair.far;
        service = new SaveService(domain, clock);
        saver = new Saver(domain, endpoint, pair.queue);
    }

    static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG);
    }

    Rma rma() { return endpoint.rma(); }

    /** Polls both ends; what the near one completed goes to {@link #completed} and {@link #errors}. */
    void poll() {
        pollFar();
        pollNear();
    }

    void pollFar() {
        service.progress();
        pair.farQueue.poll(farRecorder, 64);
    }

    void pollNear() { saver.poll(recorder, 64); }

    /** Polls both ends until a save has come back; what the writes of before have completed with is not looked at. */
    void await(long token) {
        Waiting.YIELD.until(() -> {
            poll();
            return completed.contains(token) || !errors.isEmpty();
        }, Pair.DEADLINE);
        if (!errors.isEmpty()) { throw new AssertionError("failed: " + errors); }
        completed.clear();
    }

    CompletionError awaitError() {
        Waiting.YIELD.until(() -> {
            poll();
            return !errors.isEmpty();
        }, Pair.DEADLINE);
        return errors.removeFirst();
    }

    /** The level that the next completion says. */
    Durability awaitLevel() {
        long[] level = {-1};
        Waiting.YIELD.until(() -> {
            pollFar();
            return saver.poll((token, flags, length, data) -> level[0] = data, 1) > 0;
        }, Pair.DEADLINE);
        return Durability.values()[(int) level[0]];
    }

    @Override
    public void close() {
        saver.close();
        service.close();
        pair.close();
    }
}
