package io.ofi4j.examples.monitoring;

import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.DomainStatistics;
import io.ofi4j.info.EndpointStatistics;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Publishes the statistics of an endpoint, its queue and its domain as a JMX bean, for jconsole and monitoring agents:
 *
 * <pre>{@code
 * try (FabricStatistics statistics = FabricStatistics.register("orders", domain, endpoint, queue)) {
 *     serve();
 * }
 * }</pre>
 *
 * <p>The bean is read by threads of the JVM's own, so that the domain needs ThreadingModel SAFE or COMPLETION.
 */
public final class FabricStatistics implements FabricStatisticsMXBean, AutoCloseable {
    private final Domain domain;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final ObjectName name;

    private FabricStatistics(String name, Domain domain, Endpoint endpoint, CompletionQueue queue) throws JMException {
        this.name = new ObjectName("io.ofi4j:type=FabricStatistics,name=" + ObjectName.quote(name));
        this.domain = domain;
        this.endpoint = endpoint;
        this.queue = queue;
    }

    /**
     * {@return the bean, registered until it is closed}
     *
     * @param name told from those of other endpoints
     * @throws IllegalStateException if there is one of this name
     */
    public static FabricStatistics register(String name, Domain domain, Endpoint endpoint, CompletionQueue queue) {
        try {
            FabricStatistics bean = new FabricStatistics(name, domain, endpoint, queue);
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, bean.name);
            return bean;
        } catch (JMException e) {
            throw new IllegalStateException("no bean '" + name + "' can be registered: " + e.getMessage(), e);
        }
    }

    /** {@return the name that it is registered by} */
    public ObjectName name() { return name; }

    @Override
    public CompletionQueueStatistics getQueue() { return queue.statistics(); }

    @Override
    public EndpointStatistics getEndpoint() { return endpoint.statistics(); }

    @Override
    public void recordLatencies(boolean on) { endpoint.recordLatencies(on); }

    @Override
    public DomainStatistics getDomain() { return domain.statistics(); }

    @Override
    public void close() {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        } catch (JMException e) {
            throw new IllegalStateException(name + " is not registered any more: was it closed twice?", e);
        }
    }
}
