package io.ofi4j.examples.monitoring;

import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.EndpointStatistics;

/** What a program shows of one endpoint: the library's own counts, as JMX composite data. */
public interface FabricStatisticsMXBean {
    /** {@return the counts of its completion queue} */
    CompletionQueueStatistics getQueue();

    /** {@return the counts of the endpoint, and the latencies that were recorded last} */
    EndpointStatistics getEndpoint();

    /** Begins to record latencies, or ends it; {@link io.ofi4j.Endpoint#recordLatencies}. */
    void recordLatencies(boolean on);

    /** {@return what is registered with the domain} */
    DomainStatistics getDomain();
}
