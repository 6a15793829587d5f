package io.ofi4j.examples.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.command.Patience;
import io.ofi4j.info.FabricHints;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What can be seen of a program's transfers from outside: counts by JMX, latencies by a histogram, and what is
 * allocated.
 */
class FabricStatisticsTest {
    private static final int OPERATIONS = 20_000;
    private static final Duration SOON = Patience.seconds(60);

    private final PipelineHandler<Object> handler = new PipelineHandler<>() {
        @Override
        public void onCompletion(Object context, long length, long data) {
            // counted by the queue
        }

        @Override
        public void onError(Object context, CompletionError error) { throw error.toException(); }
    };

    private interface Work {
        void run(Domain domain, Endpoint endpoint, CompletionQueue queue, Peer itself, MemoryRegion region)
                throws Exception;
    }

    private static void with(Work work) throws Exception {
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(FabricHints.rma().provider("shm")).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion region = domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            work.run(domain, endpoint, queue, peers.insert(endpoint.address()), region);
        }
    }

    @Test
    void countsAreReadByName() throws Exception {
        with((domain, endpoint, queue, itself, region) -> {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            try (FabricStatistics bean = FabricStatistics.register("orders", domain, endpoint, queue)) {
                Pipeline<Object> pipeline = new Pipeline<>(endpoint, queue, 4, handler);
                server.invoke(bean.name(), "recordLatencies", new Object[]{true}, new String[]{"boolean"});
                for (int i = 0; i < 10; i++) {
                    pipeline.write(region.slice(0, 8), itself, region.remote(), this);
                }
                pipeline.drain(SOON);
                CompositeData counts = (CompositeData) server.getAttribute(bean.name(), "Queue");
                assertThat(counts.get("completed")).isEqualTo(10L);
                assertThat(((CompositeData) server.getAttribute(bean.name(), "Domain")).get("registeredBytes"))
                        .isEqualTo(64L);
                CompositeData ofEndpoint = (CompositeData) server.getAttribute(bean.name(), "Endpoint");
                assertThat(ofEndpoint.get("inFlight")).isEqualTo(0);
                assertThat(((CompositeData) ofEndpoint.get("latencies")).get("count")).isEqualTo(10L);
                assertThatIllegalStateException()
                        .isThrownBy(() -> FabricStatistics.register("orders", domain, endpoint, queue))
                        .withMessageContaining("orders");
            }
            assertThat(server.queryNames(null, null)).noneMatch(name -> name.getDomain().equals("io.ofi4j"));
        });
    }

    /** What this thread has allocated so far. */
    private static long allocated() throws Exception {
        return (long) ManagementFactory.getPlatformMBeanServer()
                .getAttribute(new ObjectName("java.lang:type=Threading"), "CurrentThreadAllocatedBytes");
    }

    @Test
    @Tag("once") // the first compiler allocates here; the second gate has no other
    void aPipelineAllocatesNothingWithAHistogramOfItsLatencies() throws Exception {
        with((domain, endpoint, queue, itself, region) -> {
            Histogram histogram = new Histogram(SOON.toNanos(), 3);
            Pipeline<Object> pipeline = new Pipeline<>(endpoint, queue, 16, handler);
            pipeline.recordLatencies(histogram::recordValue);
            endpoint.recordLatencies(true);
            MemoryRegion.Slice local = region.slice(0, 8);
            RemoteRegion remote = region.remote();
            long bytes = Long.MAX_VALUE;
            // what the interpreter and C1 do not take apart is allocated before
            for (long start = System.nanoTime(); bytes >= OPERATIONS && System.nanoTime() - start < SOON.toNanos();) {
                long before = allocated();
                for (int i = 0; i < OPERATIONS; i++) {
                    pipeline.write(local, itself, remote, this);
                }
                pipeline.drain(SOON);
                bytes = allocated() - before;
            }
            assertThat(bytes).as("bytes of " + OPERATIONS + " operations").isLessThan(OPERATIONS);
            assertThat(histogram.getTotalCount()).isGreaterThanOrEqualTo(OPERATIONS);
            assertThat(histogram.getMinValue()).isPositive();
        });
    }
}
