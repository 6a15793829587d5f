package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.EndpointStatistics;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** What an application reads of operations and regions agrees with what it did. */
@Timeout(600)
class StatisticsTest {
    /** More than sockets buffer, so that a write stays in flight while the far side does not poll. */
    private static final int LARGE = 32 << 20;

    /** Large, or as much as the provider takes at once. */
    private static int large(Pair pair) {
        return (int) Math.min(LARGE, pair.rma().maximumMessageSize());
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void completionsAreCountedWhetherPolledOrKept(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            assertThat(pair.queue.statistics()).isEqualTo(new CompletionQueueStatistics(0, 0, 0, 0, 0, 0));
            for (int token = 1; token <= 10; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                pair.awaitToken(token);
            }
            assertThat(pair.queue.statistics()).isEqualTo(new CompletionQueueStatistics(10, 0, 0, 0, 0, 0));
            for (int token = 11; token <= 15; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
            }
            assertThat(pair.queue.statistics().inFlight() + pair.queue.statistics().buffered()).isEqualTo(5);
            assertThat(pair.endpoint.statistics().inFlight()).isEqualTo(pair.queue.statistics().inFlight());
            Waiting.YIELD.until(() -> {
                pair.domain.queues.progress();
                return pair.queue.statistics().buffered() == 5;
            }, Pair.DEADLINE);

            assertThat(pair.queue.statistics()).isEqualTo(new CompletionQueueStatistics(15, 0, 0, 0, 5, 0));
            assertThat(pair.endpoint.statistics().inFlight()).isZero();
            pair.completed.clear();
            pair.awaitCompletions(5);
            assertThat(pair.queue.statistics()).isEqualTo(new CompletionQueueStatistics(15, 0, 0, 0, 0, 0));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void whatFoundNoRoomAndWhatClosingCanceledIsCounted(String provider) {
        int size = Math.max(4, DataReceiveCount.of(TestProviders.info(provider)));
        try (Pair pair = new Pair(TestProviders.hints(provider), CompletionQueueAttributes.defaults().size(size));
                MemoryRegion source = pair.domain.allocate(4 * large(pair) / size, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(source.length(), Access.REMOTE_WRITE)) {
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 0); // connects
            pair.awaitToken(0);
            CompletionQueueStatistics before = pair.queue.statistics();
            long timesFull = pair.endpoint.statistics().timesFull();
            long slowPosts = pair.endpoint.statistics().slowPosts();
            int accepted = 0;
            int refused = 0;
            for (int token = 0; token < 2 * size; token++) {
                if (pair.rma().tryWrite(source, 0, source.length(), pair.far, target.remote(), 0, token)) {
                    accepted++;
                } else {
                    refused++;
                }
            }
            assertThat(accepted).isPositive();
            assertThat(refused).isGreaterThanOrEqualTo(size);
            CompletionQueueStatistics full = pair.queue.statistics();
            long ofQueue = full.timesFull() - before.timesFull();
            long ofProvider = pair.endpoint.statistics().timesFull() - timesFull;
            assertThat(ofQueue + ofProvider).isEqualTo(refused);
            assertThat(full.inFlight()).isEqualTo(accepted);
            assertThat(pair.endpoint.statistics().inFlight()).isEqualTo(accepted);

            pair.endpoint.close();
            pair.completed.clear();
            pair.awaitCompletions(accepted);

            long ours = pair.errors.stream().filter(error -> error.providerText().equals("the endpoint was closed"))
                    .count();
            CompletionQueueStatistics after = pair.queue.statistics();
            assertThat(after.completed() - before.completed()).isEqualTo(pair.completed.size());
            assertThat(after.canceled() + after.failed()).isEqualTo(pair.errors.size());
            assertThat(after.canceled()).as("what the provider does not report").isEqualTo(ours);
            assertThat(pair.endpoint.statistics()).isEqualTo(new EndpointStatistics(0, (int) after.canceled(),
                    timesFull + ofProvider, slowPosts, EndpointStatistics.Latencies.NONE));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void regionsAreCountedFromRegistrationToDeregistration(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion target = pair.domain.allocate(large(pair), Access.REMOTE_WRITE)) {
            int length = large(pair);
            MemoryRegion source = pair.domain.allocate(length, Access.WRITE);
            MemoryRegion idle = pair.domain.allocate(100, Access.READ);
            assertThat(pair.domain.statistics()).isEqualTo(new DomainStatistics(3, 2L * length + 100, 0));
            idle.close();
            idle.close();
            assertThat(pair.domain.statistics()).isEqualTo(new DomainStatistics(2, 2L * length, 0));

            pair.rma().write(source.slice(0, length), pair.far, target.remote(), 1);
            source.close();
            assertThat(pair.domain.statistics()).isEqualTo(new DomainStatistics(2, 2L * length, 1));
            pair.awaitToken(1);
            assertThat(pair.domain.statistics()).isEqualTo(new DomainStatistics(1, length, 0));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void latenciesAreRecordedBetweenSwitchingOnAndOff(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE, Access.READ);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            write(pair, source, target, 3);
            assertThat(pair.endpoint.statistics().latencies()).isEqualTo(EndpointStatistics.Latencies.NONE);
            pair.endpoint.recordLatencies(true);
            long start = System.nanoTime();
            write(pair, source, target, 10);
            pair.rma().read(source.slice(0, 8), pair.far, target.remote(), 1);
            pair.awaitToken(1);
            long longest = System.nanoTime() - start;
            pair.endpoint.recordLatencies(false);
            write(pair, source, target, 3);

            EndpointStatistics.Latencies latencies = pair.endpoint.statistics().latencies();
            assertThat(latencies.count()).isEqualTo(11);
            assertThat(latencies.minimum()).isPositive().isLessThanOrEqualTo(latencies.p50());
            assertThat(latencies.p50()).isLessThanOrEqualTo(latencies.p90());
            assertThat(latencies.p90()).isLessThanOrEqualTo(latencies.p99());
            assertThat(latencies.p99()).isLessThanOrEqualTo(latencies.p999());
            assertThat(latencies.p999()).isLessThanOrEqualTo(latencies.maximum());
            assertThat(latencies.mean()).isBetween((double) latencies.minimum(), (double) latencies.maximum());
            assertThat(latencies.mean() * latencies.count()).isLessThan(longest);
            pair.endpoint.recordLatencies(true);
            assertThat(pair.endpoint.statistics().latencies()).isEqualTo(EndpointStatistics.Latencies.NONE);
        }
    }

    private static void write(Pair pair, MemoryRegion source, MemoryRegion target, int count) {
        for (int at = 0; at < count; at++) {
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), at);
            pair.awaitToken(at);
        }
    }

    @Test
    void failuresAndReceivesHaveNoLatency() {
        try (Pair pair = new Pair(TestProviders.hints("sockets").capabilities(Capability.RMA, Capability.MSG));
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE, Access.SEND, Access.RECEIVE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE, Access.RECEIVE)) {
            pair.endpoint.recordLatencies(true);
            RemoteRegion there = target.remote();
            pair.rma().write(source.slice(0, 8), pair.far,
                    new RemoteRegion(there.base(), there.length(), there.key() + 1, there.accessBits()), 1);
            pair.awaitCompletions(1);
            pair.endpoint.messages().receive(source.slice(0, 8), 2);
            assertThat(pair.errors).hasSize(1);
            pair.endpoint.messages().cancel(2);
            pair.awaitCompletions(2);
            assertThat(pair.endpoint.statistics().latencies().count()).isZero();
        }
    }

    @Test
    void aClosedEndpointRecordsNothing() {
        try (Pair pair = new Pair("shm")) {
            pair.endpoint.recordLatencies(true);
            pair.endpoint.close();
            assertThatIllegalStateException().isThrownBy(() -> pair.endpoint.recordLatencies(true))
                    .withMessageContaining("is closed");
            assertThat(pair.endpoint.statistics().latencies()).isEqualTo(EndpointStatistics.Latencies.NONE);
        }
    }

    @Test
    void failuresAreCounted() {
        try (Pair pair = new Pair("sockets");
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            RemoteRegion there = target.remote();
            RemoteRegion wrong = new RemoteRegion(there.base(), there.length(), there.key() + 1, there.accessBits());
            pair.rma().write(source.slice(0, 8), pair.far, wrong, 1);
            pair.awaitCompletions(1);

            assertThat(pair.errors).hasSize(1);
            assertThat(pair.queue.statistics()).isEqualTo(new CompletionQueueStatistics(0, 1, 0, 0, 0, 0));
        }
    }

    @Test
    void anEndpointWithoutAQueueHasNone() {
        try (Pair pair = new Pair("shm"); Endpoint endpoint = pair.domain.openEndpoint()) {
            assertThatIllegalStateException().isThrownBy(endpoint::statistics)
                    .withMessageContaining("bind a completion queue");
            assertThatIllegalStateException().isThrownBy(() -> endpoint.recordLatencies(true))
                    .withMessageContaining("bind a completion queue");
        }
    }

    @Test
    void aMonitoringThreadMayAsk() throws InterruptedException {
        for (ThreadingModel model : new ThreadingModel[]{ThreadingModel.SAFE, ThreadingModel.COMPLETION}) {
            try (Pair pair = new Pair(TestProviders.hints("tcp;ofi_rxm").threading(model))) {
                Object[] seen = new Object[3];
                Thread monitor = Thread.ofPlatform().start(() -> {
                    seen[0] = pair.queue.statistics();
                    seen[1] = pair.endpoint.statistics();
                    seen[2] = pair.domain.statistics();
                });
                assertThat(monitor.join(Pair.DEADLINE)).isTrue();

                assertThat(seen).containsExactly(new CompletionQueueStatistics(0, 0, 0, 0, 0, 0),
                        new EndpointStatistics(0, 0, 0, 0, EndpointStatistics.Latencies.NONE),
                        new DomainStatistics(0, 0, 0));
            }
        }
    }
}
