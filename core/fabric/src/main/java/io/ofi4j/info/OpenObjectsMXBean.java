package io.ofi4j.info;

import java.util.List;

/**
 * The open domains of a process, with their queues and endpoints and what these have counted. ofi4j registers it with
 * the JVM's own MBean server when a fabric is opened, until the last one is closed, if that server runs then, as it
 * does beside a monitoring agent. {@code Libfabric.showOpenObjects} and the system property {@code io.ofi4j.jmx=true}
 * start the server; with {@code io.ofi4j.jmx=false} the bean is not registered unless a call asks for it. It needs the
 * module {@code java.management}. The command {@code ofi4j top} shows it; so does every monitoring agent.
 *
 * <p>Reading it enters no lock of the data path and waits for no call. Numbers may therefore be a little older than a
 * call that has just ended, and need not be of the same moment. An object keeps its identifier, and no other object of
 * the bean ever has it.
 */
public interface OpenObjectsMXBean {
    /** The name of the bean. A second copy of ofi4j in the same process adds a key {@code copy} to it. */
    String NAME = "io.ofi4j.info:type=OpenObjects";

    /** {@return the version of libfabric, such as {@code 2.1}} */
    String getLibfabricVersion();

    /** {@return the open domains} */
    List<OpenDomain> getDomains();

    /**
     * An open domain.
     *
     * @param id its identifier
     * @param provider the provider
     * @param fabric the name of the fabric
     * @param name the name of the domain
     * @param threading the name of its {@link ThreadingModel}
     * @param statistics what is registered with it
     * @param queues its completion queues, including those that ofi4j has opened for endpoints with counters only
     * @param endpoints its endpoints and contexts
     */
    record OpenDomain(long id, String provider, String fabric, String name, String threading,
            DomainStatistics statistics, List<OpenQueue> queues, List<OpenEndpoint> endpoints) {}

    /**
     * An open completion queue.
     *
     * @param id its identifier
     * @param size the number of operations that can be in flight on it
     * @param statistics its counts
     */
    record OpenQueue(long id, int size, CompletionQueueStatistics statistics) {}

    /**
     * An open endpoint or context.
     *
     * @param id its identifier
     * @param type what it is, such as {@code Endpoint RDM} or {@code Transmit context RDM}
     * @param queues the identifiers of the queues that are bound to it
     * @param statistics its counts, with those of its open aliases; operations in flight are those of both directions
     */
    record OpenEndpoint(long id, String type, List<Long> queues, EndpointStatistics statistics) {}
}
