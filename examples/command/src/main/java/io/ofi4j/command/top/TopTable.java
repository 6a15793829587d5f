package io.ofi4j.command.top;

import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.EndpointStatistics;
import io.ofi4j.info.OpenObjectsMXBean.OpenDomain;
import io.ofi4j.info.OpenObjectsMXBean.OpenEndpoint;
import io.ofi4j.info.OpenObjectsMXBean.OpenQueue;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A table of each domain's queues, and one of its endpoints. */
final class TopTable {
    private static final double NANOS_PER_MICRO = 1e3;

    private final PrintWriter out;

    TopTable(PrintWriter out) { this.out = out; }

    void print(String title, Sample sample, Sample.Rates rates) {
        out.printf(Locale.ROOT, "%s, libfabric %s, %.1f s%n", title, sample.libfabric(), rates.seconds());
        if (sample.domains().isEmpty()) { out.println("no domain is open"); }
        sample.domains().forEach(domain -> print(domain, rates));
        out.flush();
    }

    private void print(OpenDomain domain, Sample.Rates rates) {
        out.printf("%ndomain %d: provider %s, fabric %s, domain %s, threading %s; %d %s with %d bytes%n", domain.id(),
                domain.provider(), domain.fabric(), domain.name(), domain.threading(), domain.statistics().regions(),
                domain.statistics().regions() == 1 ? "region" : "regions", domain.statistics().registeredBytes());
        if (!domain.queues().isEmpty()) { printQueues(domain, rates); }
        if (!domain.endpoints().isEmpty()) { printEndpoints(domain, rates); }
    }

    private void printQueues(OpenDomain domain, Sample.Rates rates) {
        out.printf("%10s %14s %10s %8s %10s %10s %10s %10s%n", "queue", "completed/s", "in flight", "of", "full/s",
                "buffered", "failed", "canceled");
        domain.queues().forEach(queue -> print(queue, rates));
    }

    private void printEndpoints(OpenDomain domain, Sample.Rates rates) {
        out.printf("%10s %14s %10s %8s %10s %10s %10s %10s  %s%n", "endpoint", "retries/s", "in flight", "queues",
                "slow posts", "canceled", "p50 us", "p99 us", "type");
        domain.endpoints().forEach(endpoint -> print(endpoint, rates));
    }

    private void print(OpenQueue queue, Sample.Rates rates) {
        CompletionQueueStatistics counts = queue.statistics();
        out.printf(Locale.ROOT, "%10d %14.0f %10d %8d %10.0f %10d %10d %10d%n", queue.id(),
                rates.of(queue, one -> one.statistics().completed()), counts.inFlight(), queue.size(),
                rates.of(queue, one -> one.statistics().timesFull()), counts.buffered(), counts.failed(),
                counts.canceled());
    }

    private void print(OpenEndpoint endpoint, Sample.Rates rates) {
        EndpointStatistics counts = endpoint.statistics();
        out.printf(Locale.ROOT, "%10d %14.0f %10d %8s %10d %10d %10s %10s  %s%n", endpoint.id(),
                rates.of(endpoint, one -> one.statistics().timesFull()), counts.inFlight(), numbers(endpoint.queues()),
                counts.slowPosts(), counts.canceled(), micros(counts.latencies(), counts.latencies().p50()),
                micros(counts.latencies(), counts.latencies().p99()), endpoint.type());
    }

    private static String numbers(List<Long> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Nothing where latencies are not recorded. */
    private static String micros(EndpointStatistics.Latencies latencies, long nanos) {
        return latencies.count() == 0 ? "-" : String.format(Locale.ROOT, "%.3f", nanos / NANOS_PER_MICRO);
    }
}
