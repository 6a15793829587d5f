package io.ofi4j.command.top;

import io.ofi4j.info.OpenObjectsMXBean.OpenDomain;
import io.ofi4j.info.OpenObjectsMXBean.OpenEndpoint;
import io.ofi4j.info.OpenObjectsMXBean.OpenQueue;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What a JVM has shown.
 *
 * @param nanos when, as System.nanoTime() has it
 * @param libfabric its version of libfabric
 * @param domains its open domains
 */
record Sample(long nanos, String libfabric, List<OpenDomain> domains) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** What has happened since another sample; an object that is new counts from zero. */
    static final class Rates {
        private final Map<Long, OpenQueue> queues = new HashMap<>();
        private final Map<Long, OpenEndpoint> endpoints = new HashMap<>();
        private final double seconds;

        private Rates(Sample before, Sample now) {
            seconds = (now.nanos - before.nanos) / NANOS_PER_SECOND;
            for (OpenDomain domain : before.domains) {
                domain.queues().forEach(queue -> queues.put(queue.id(), queue));
                domain.endpoints().forEach(endpoint -> endpoints.put(endpoint.id(), endpoint));
            }
        }

        double seconds() { return seconds; }

        double of(OpenQueue queue, ToLongFunction<OpenQueue> count) {
            return rate(queues.get(queue.id()), queue, count);
        }

        double of(OpenEndpoint endpoint, ToLongFunction<OpenEndpoint> count) {
            return rate(endpoints.get(endpoint.id()), endpoint, count);
        }

        /** An alias that was closed takes its count along: that is no negative rate. */
        private <T> double rate(T before, T now, ToLongFunction<T> count) {
            long difference = count.applyAsLong(now) - (before == null ? 0 : count.applyAsLong(before));
            return Math.max(0, difference) / seconds;
        }
    }

    Rates since(Sample before) { return new Rates(before, this); }
}
