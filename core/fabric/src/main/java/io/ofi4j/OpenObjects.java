package io.ofi4j;

import io.ofi4j.info.EndpointStatistics;
import io.ofi4j.info.OpenObjectsMXBean;
import io.ofi4j.internal.engine.LatencyHistogram;
import io.ofi4j.internal.observe.ManagementBean;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The open fabrics of this process, and the bean that shows what was opened in them. It reads plain fields without the
 * guards that protect them. A count may therefore be a little old. All of them are on the Java heap, where those of a
 * closed object can be read too.
 */
final class OpenObjects implements OpenObjectsMXBean {
    /** Those that nobody refers to any more are no longer shown. */
    private static final Set<Fabric> FABRICS = Collections
            .synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    /** What shows them while there are any. Used under the monitor of the class. */
    private static ManagementBean shown;

    /** Objects here have identity equality. Used under the monitor. */
    private final Map<Object, Long> identifiers = new WeakHashMap<>();
    private final String version;
    private long lastIdentifier;

    private OpenObjects(String version) { this.version = version; }

    static synchronized void opened(Fabric fabric, Libfabric libfabric) {
        FABRICS.add(fabric);
        bean(libfabric).show();
    }

    /** As {@link Libfabric#showOpenObjects}. */
    static synchronized boolean showAlways(Libfabric libfabric) {
        return bean(libfabric).showAlways();
    }

    private static ManagementBean bean(Libfabric libfabric) {
        if (shown == null) { shown = new ManagementBean(new OpenObjects(libfabric.version().toString()), NAME); }
        return shown;
    }

    static synchronized void closed(Fabric fabric) {
        FABRICS.remove(fabric);
        if (FABRICS.isEmpty()) { shown.hide(); }
    }

    @Override
    public String getLibfabricVersion() { return version; }

    @Override
    public synchronized List<OpenDomain> getDomains() {
        return List.copyOf(FABRICS).stream().flatMap(Fabric::domains).map(this::domain).toList();
    }

    /** {@return the open domains of a provider, in all fabrics of this process} */
    static List<Domain> domains(String provider) {
        return List.copyOf(FABRICS).stream().flatMap(Fabric::domains)
                .filter(domain -> domain.info().provider().equals(provider)).toList();
    }

    /**
     * What to say of the peer of a post that has found no room: that it is an endpoint of this process which only
     * another thread can serve. Empty if it is no such endpoint. Takes no lock of an endpoint: a thread may hang in it.
     */
    static String servedElsewhere(Endpoint poster, Peer peer) {
        for (Domain other : domains(poster.info().provider())) {
            boolean isPeers = other != poster.domain
                    && other.children.all(Endpoint.class).anyMatch(one -> one.lifeCycle.lastAddress() != null
                            && one.lifeCycle.lastAddress().equals(peer.entry.address));
            if (isPeers && !other.queues.isForThisThread()) {
                return peer + " is an endpoint of this process, in another " + other + " that belongs to another"
                        + " thread: that thread must poll its queue.";
            }
        }
        return "";
    }

    /**
     * What to say where a thread has waited in vain and domains of this process may have waited for each other; empty
     * where they have not.
     */
    static String unservedDomains() {
        Map<String, Long> unserved = List.copyOf(FABRICS).stream().flatMap(Fabric::domains)
                .filter(domain -> !domain.queues.isServed()
                        && domain.children.find(Endpoint.class, endpoint -> endpoint.lifeCycle.wasEnabled()) != null)
                .collect(
                        Collectors.groupingBy(domain -> domain.info().provider(), TreeMap::new, Collectors.counting()));
        return unserved.entrySet().stream().filter(one -> one.getValue() > 1).findFirst()
                .map(one -> " In this process " + one.getValue() + " domains of " + one.getKey()
                        + " are open, and a call on one makes no progress in the others: poll a queue of each, or have"
                        + " Domain.startProgress() serve those that nobody polls.")
                .orElse("");
    }

    private OpenDomain domain(Domain domain) {
        List<Endpoint> endpoints = domain.children.all(Endpoint.class).toList();
        Stream<CompletionQueue> queues = Stream.concat(domain.children.all(CompletionQueue.class),
                endpoints.stream().flatMap(endpoint -> endpoint.bindings.queues().stream())).distinct();
        return new OpenDomain(identifier(domain), domain.info().provider(), domain.info().fabric().name(),
                domain.info().domain().name(), domain.info().domain().threading().name(), domain.regions.statistics(),
                queues.map(this::queue).toList(), endpoints.stream().map(this::endpoint).toList());
    }

    private OpenQueue queue(CompletionQueue queue) {
        return new OpenQueue(identifier(queue), queue.size(), queue.unguardedStatistics());
    }

    private OpenEndpoint endpoint(Endpoint endpoint) {
        List<CompletionQueue> queues = endpoint.bindings.queues();
        int inFlight = queues.stream().mapToInt(queue -> queue.contexts.inFlightOfEndpoint(endpoint.number)).sum();
        List<Endpoint> handles = Stream.concat(Stream.of(endpoint), endpoint.children.all(Endpoint.class)).toList();
        return new OpenEndpoint(identifier(endpoint), endpoint.bindings.role + " " + endpoint.info().endpoint().type(),
                queues.stream().map(this::identifier).toList(),
                new EndpointStatistics(inFlight, endpoint.canceled,
                        handles.stream().mapToLong(handle -> handle.timesFull).sum(),
                        handles.stream().mapToLong(handle -> handle.slowPosts.get()).sum(),
                        LatencyHistogram.latencies(endpoint.bindings.latencies)));
    }

    private long identifier(Object object) { return identifiers.computeIfAbsent(object, _ -> ++lastIdentifier); }
}
