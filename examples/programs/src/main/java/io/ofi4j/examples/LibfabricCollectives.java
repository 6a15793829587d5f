package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Collective;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.job.Job;
import io.ofi4j.job.Ranks;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * All ranks of a job as one group of libfabric's own collective operations, each of which is waited for. What
 * {@link JobTimes} and {@link GradientAllReduce} compare with; it has a fabric of its own, for an endpoint with
 * collectives has no tags.
 */
final class LibfabricCollectives implements AutoCloseable {
    /** The most bytes that an all-reduce takes of every provider that has one. */
    static final int LONGEST = 16 << 10;

    private final Job job;
    private final Fabric fabric;
    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector peers;
    private final Endpoint endpoint;
    private final MemoryRegion numbers;
    private final MemoryRegion sums;
    private final CollectiveGroup group;
    private boolean done;
    private final CompletionHandler completions = (token, flags, length, data) -> done = true;

    private LibfabricCollectives(Job job, FabricInfo info) {
        this.job = job;
        this.fabric = Libfabric.load().openFabric(info);
        this.domain = fabric.openDomain();
        this.queue = domain.openCompletionQueue();
        this.peers = domain.openAddressVector();
        this.endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
        this.numbers = domain.allocate(LONGEST, Access.SEND);
        this.sums = domain.allocate(LONGEST, Access.RECEIVE);
        Ranks ranks = Ranks.exchange(job, endpoint, peers);
        this.group = endpoint.collectives().join(IntStream.range(0, job.size()).mapToObj(ranks::peer).toList())
                .awaitJoined(job.deadline());
    }

    /** Has all ranks join, or is empty where the provider has no collective operations. */
    static Optional<LibfabricCollectives> join(Job job, String provider) {
        try {
            FabricInfo info = Libfabric.load().info(FabricHints.collectives().provider(provider)).getFirst();
            return Optional.of(new LibfabricCollectives(job, info));
        } catch (NoProviderException e) {
            return Optional.empty();
        }
    }

    /** Whether it sums up elements of this type. */
    boolean sums(Datatype datatype) {
        return endpoint.collectives().valid(Collective.ALLREDUCE, AtomicOperation.SUM, datatype) >= job.size();
    }

    /** What this rank gives. */
    MemorySegment numbers() { return numbers.segment(); }

    /** What it gets. */
    MemorySegment result() { return sums.segment(); }

    void barrier() {
        done = false;
        group.barrier(0);
        await();
    }

    void allReduce(Datatype datatype, long count) {
        done = false;
        long bytes = count * datatype.size();
        group.allReduce(AtomicOperation.SUM, datatype, numbers.slice(0, bytes), sums.slice(0, bytes), 0);
        await();
    }

    private void await() {
        Waiting.YIELD.until(() -> {
            job.check(); // a rank that has died is named
            queue.poll(completions, 1);
            return done;
        }, job.deadline());
    }

    @Override
    public void close() {
        job.barrier(); // nobody closes what another still needs
        numbers.close();
        sums.close();
        endpoint.close();
        peers.close();
        queue.close();
        domain.close();
        fabric.close();
    }
}
