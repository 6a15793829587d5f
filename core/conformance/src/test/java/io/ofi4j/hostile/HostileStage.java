package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.Peer;
import io.ofi4j.RawKey;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.FutureThread;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import io.ofi4j.util.PollGroup;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.Rendezvous;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

/** The objects that the threads of {@link HostileCalls} begin with: a pair, one family of operations, and tools. */
final class HostileStage {
    static final List<Class<?>> STATIC = List.of(Libfabric.class, MemoryRegion.class, RemoteRegion.class, RawKey.class,
            EndpointAddress.class, FabricHints.class, MemoryRegionAttributes.class, Rendezvous.class, PeerServer.class,
            PeerLink.class);

    /** A message that is longer than its receive ends the process, or never lets a poll return: MESSAGES.md. */
    private static final String LONG_MESSAGES_KILL = "shm";
    private static final String COLLECTIVES = "tcp;ofi_rxm";
    /** Short: nobody waits for long. */
    private static final Duration SHORT = Duration.ofMillis(5);
    private static final int WINDOW = 4;

    private final HostileRun run;
    private final Random random;
    private final HostilePool pool;
    private final Capability family;
    private final Pair pair;

    private HostileStage(HostileRun run, Random random, HostilePool pool) {
        this.run = run;
        this.random = random;
        this.pool = pool;
        this.family = family();
        this.pair = new Pair(family == Capability.ATOMIC
                ? TestProviders.atomicHints(run.provider)
                : HostileFamilies.hints(run.provider, family));
    }

    static void set(HostileRun run, Random random, HostilePool pool) {
        HostileStage stage = new HostileStage(run, random, pool);
        stage.addFamily();
        stage.addPair();
        stage.addTools();
    }

    private Capability family() {
        List<Capability> families = new ArrayList<>(List.of(Capability.RMA));
        if (TestProviders.atomics().anyMatch(run.provider::equals)) { families.add(Capability.ATOMIC); }
        if (run.provider.equals(COLLECTIVES)) { families.add(Capability.COLLECTIVE); }
        if (!run.provider.equals(LONG_MESSAGES_KILL)) {
            families.add(Capability.MSG);
            if (TestProviders.rma().anyMatch(run.provider::equals)) { families.add(Capability.TAGGED); }
        }
        return families.get(random.nextInt(families.size()));
    }

    private void addFamily() {
        if (family == Capability.COLLECTIVE) { addGroups(); }
        for (Endpoint endpoint : List.of(pair.endpoint, pair.farEndpoint)) {
            endpoint.postTimeout(SHORT);
            switch (family) {
                case ATOMIC -> add(endpoint.atomics(), endpoint.atomics().prepare(Datatype.INT64));
                case MSG -> add(endpoint.messages(), endpoint.messages().prepare());
                case TAGGED -> add(endpoint.tagged(), endpoint.tagged().prepare());
                case COLLECTIVE -> add(endpoint.collectives());
                default -> add(endpoint.rma(), endpoint.rma().prepare());
            }
        }
        run.tried("rounds of " + family);
    }

    /** A group of both ends, as each knows it. */
    private void addGroups() {
        List<Peer> members = List.of(pair.vector.insert(pair.endpoint.address()), pair.far);
        List<CollectiveGroup> groups = Stream.of(pair.endpoint, pair.farEndpoint)
                .map(endpoint -> endpoint.collectives().join(members)).toList();
        groups.forEach(group -> add(group.awaitJoined(Pair.DEADLINE)));
    }

    private void addPair() {
        MemoryRegion region = pair.domain.allocate(4096, Access.values());
        add(pair.fabric, pair.domain, pair.queue, pair.farQueue, pair.vector, pair.events, pair.passive, pair.endpoint,
                pair.farEndpoint, pair.far, region, region.slice(0, 64), region.remote(), pair.rma(),
                pair.rma().prepare(), pair.fabric.info(), TestProviders.hints(run.provider), pair.domain.openCounter(),
                CompletionQueueAttributes.defaults(), CounterAttributes.defaults(), EventQueueAttributes.defaults(),
                AddressVectorAttributes.defaults(), Libfabric.load(), Libfabric.load().version());
    }

    private void addTools() {
        PipelineHandler<Object> ignore = new PipelineHandler<>() {
            @Override
            public void onCompletion(Object context, long length, long data) {
                // Nothing is expected.
            }

            @Override
            public void onError(Object context, io.ofi4j.CompletionError error) { pool.add(new Random(), error); }
        };
        add(new PollGroup(), new Pipeline<>(pair.endpoint, pair.queue, WINDOW, ignore),
                new FutureThread(pair.endpoint, pair.queue));
        InetSocketAddress any = new InetSocketAddress("127.0.0.1", 0);
        add(Rendezvous.serve(any, Rendezvous.newSecret()), PeerServer.listen(any, Rendezvous.newSecret()),
                PeerHello.of(pair.endpoint));
        if (random.nextInt(4) > 0) { return; }
        Job job = Job.join(Duration.ofSeconds(1)); // long: what nobody brings is awaited as long
        add(job);
        if (family == Capability.TAGGED) { add(new JobCollectives(job, pair.domain)); }
    }

    private void add(Object... objects) {
        Stream.of(objects).filter(Objects::nonNull).forEach(object -> pool.add(random, object));
    }
}
