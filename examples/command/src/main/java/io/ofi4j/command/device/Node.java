package io.ofi4j.command.device;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.durable.Saver;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An endpoint with a domain and a queue of its own. */
final class Node implements AutoCloseable {
    /** How long a completion may take. */
    static Duration deadline = Duration.ofSeconds(15);

    static final int POLLS_PER_YIELD = 1024;

    final Fabric fabric;
    final Domain domain;
    final CompletionQueue queue;
    final AddressVector vector;
    final Endpoint endpoint;
    final List<Long> completed = new ArrayList<>();
    final List<CompletionError> errors = new ArrayList<>();

    private final CompletionHandler recorder = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

        @Override
        public void onError(CompletionError error) { errors.add(error); }
    };

    Node(String provider, Capability... capabilities) {
        FabricInfo info = Libfabric.load().info(hints(provider, capabilities)).getFirst();
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        endpoint.postTimeout(deadline);
    }

    static FabricHints hints(String provider, Capability... capabilities) {
        FabricHints hints = FabricHints.rma().provider(provider).capabilities(capabilities);
        return provider.equals("shm") ? hints : hints.source("127.0.0.1", null);
    }

    void poll() { queue.poll(recorder, 64); }

    /** Waits for the completion with that token. An error becomes an exception. */
    void await(long token) {
        await(token, this::poll);
    }

    /** As {@link #await(long)}, while saves go on. */
    void await(long token, Saver saver) {
        await(token, () -> saver.poll(recorder, 64));
    }

    private void await(long token, Runnable poll) {
        Waiting.YIELD.until(() -> {
            poll.run();
            return completed.contains(token) || !errors.isEmpty();
        }, deadline);
        completed.remove(token);
        requireNoError();
    }

    /** As {@link #await}, of the only operation in flight, without an allocation. */
    void awaitOnly() {
        long start = System.nanoTime();
        for (int polls = 1; completed.isEmpty(); polls++) {
            poll();
            if (polls % POLLS_PER_YIELD == 0) { Thread.yield(); } // for machines with few processors
            if (!errors.isEmpty() || System.nanoTime() - start > deadline.toNanos()) {
                requireNoError();
                throw new IllegalStateException("no completion came in " + deadline.toSeconds() + " s");
            }
        }
        completed.clear();
    }

    private void requireNoError() {
        if (errors.isEmpty()) { return; }
        CompletionError error = errors.removeFirst();
        errors.clear();
        throw error.toException();
    }

    @Override
    public void close() {
        endpoint.close();
        vector.close();
        queue.close();
        domain.close();
        fabric.close();
    }
}
