package io.ofi4j.examples.guide;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.Ranks;
import java.time.Duration;

/** Each rank writes its number into the memory of the next one. Then all add up what they were given. */
public final class RingOfRanks {
    private static final Duration SOON = Duration.ofSeconds(30);

    private RingOfRanks() {}

    public static void main(String[] arguments) {
        Libfabric libfabric = Libfabric.load();
        String provider = arguments.length == 0 ? "shm" : arguments[0];
        FabricHints hints = FabricHints.rma().capabilities(Capability.RMA, Capability.TAGGED).provider(provider);
        try (Job job = Job.join();
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion source = domain.allocate(8, Access.WRITE);
                MemoryRegion inbox = domain.allocate(8, Access.REMOTE_WRITE);
                MemoryRegion sum = domain.allocate(8, Access.SEND, Access.RECEIVE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
                JobCollectives collectives = new JobCollectives(job, domain)) {
            job.progressWhileWaiting(queue); // a rank that waits for others goes on with its transfers
            Ranks ranks = Ranks.exchange(job, endpoint, peers, inbox.remote()); // addresses and regions of all
            int next = (job.rank() + 1) % job.size();
            source.segment().set(JAVA_INT, 0, job.rank());
            endpoint.rma().writeData(source.slice(0, 4), job.rank(), ranks.peer(next), ranks.region(next, 0), 1);
            int[] left = {2}; // our write, and the write of the rank before us
            Waiting.YIELD.until(() -> {
                left[0] -= queue.poll((token, flags, length, data) -> {
                    if (token == CompletionHandler.NO_TOKEN) {
                        System.out.println("rank " + job.rank() + " heard from rank " + data);
                    }
                }, 2);
                return left[0] == 0;
            }, SOON);

            sum.segment().set(JAVA_LONG, 0, inbox.segment().get(JAVA_INT, 0));
            collectives.allReduce(sum.slice(0, 8), AtomicOperation.SUM, Datatype.INT64);
            if (job.rank() == 0) { System.out.println("the ranks add up to " + sum.segment().get(JAVA_LONG, 0)); }
            job.barrier(); // an endpoint that closes drops what is under way: nobody leaves before all are done
        }
    }
}
