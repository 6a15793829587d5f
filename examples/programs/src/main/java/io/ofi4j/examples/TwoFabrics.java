package io.ofi4j.examples;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Scope;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.JobGroup;
import io.ofi4j.job.Ranks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.OptionalInt;

/**
 * A job over two fabrics. Each rank writes its number to every other rank: over shared memory to those on its host, and
 * over the network to the rest. Then each adds up what has come.
 */
public final class TwoFabrics {
    private TwoFabrics() {}

    /** One of the fabrics: what this rank has there, and the ranks that it reaches there. */
    private record Side(Domain domain, CompletionQueue queue, MemoryRegion outbox, Endpoint endpoint, JobGroup group,
            Ranks ranks) {
        /** Both fabrics register the same memory. */
        static Side open(Scope scope, Job job, JobGroup group, String provider, MemorySegment outbox,
                MemorySegment inbox) {
            FabricHints hints = FabricHints.rma().addCapabilities(Capability.TAGGED).provider(provider)
                    .operationFlags(OperationFlag.DELIVERY_COMPLETE);
            Domain domain = scope.openFabric(Libfabric.load().info(hints).getFirst()).openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector peers = domain.openAddressVector();
            MemoryRegion from = domain.register(outbox, Access.WRITE);
            MemoryRegion to = domain.register(inbox, Access.REMOTE_WRITE);
            Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable();
            job.progressWhileWaiting(queue);
            return new Side(domain, queue, from, endpoint, group, Ranks.exchange(group, endpoint, peers, to.remote()));
        }

        void write(int rank, long offset) {
            endpoint.rma().write(outbox.slice(0, Long.BYTES), ranks.peer(rank),
                    ranks.region(rank, 0).slice(offset, Long.BYTES), 0);
        }
    }

    /**
     * Runs one rank.
     *
     * @param arguments the provider of the network, such as {@code tcp;ofi_rxm}
     */
    public static void main(String[] arguments) {
        if (arguments.length != 1) {
            System.err.println("usage: TwoFabrics PROVIDER");
            System.exit(2);
        }
        // the scope closes the objects of both fabrics, before the memory that they have registered
        try (Job job = Job.join(); Arena arena = Arena.ofShared(); Scope scope = Libfabric.load().openScope()) {
            MemorySegment outbox = arena.allocate(Long.BYTES);
            MemorySegment inbox = arena.allocate((long) job.size() * Long.BYTES);
            outbox.set(ValueLayout.JAVA_LONG, 0, job.rank() + 1);
            Side near = Side.open(scope, job, job.hostGroup(), "shm", outbox, inbox);
            Side far = Side.open(scope, job, job.group(), arguments[0], outbox, inbox);
            JobCollectives host = new JobCollectives(near.group(), near.domain());
            int[] written = new int[2];
            for (int rank = 0; rank < job.size(); rank++) {
                OptionalInt here = near.group().rankOf(rank);
                Side side = here.isPresent() ? near : far;
                side.write(here.orElse(rank), (long) job.rank() * Long.BYTES);
                written[here.isPresent() ? 0 : 1]++;
            }
            await(job, near, written[0]);
            await(job, far, written[1]);
            host.barrier(); // over shared memory, of the ranks of this host
            job.barrier(); // everybody's number has come
            long sum = 0;
            for (int rank = 0; rank < job.size(); rank++) {
                sum += inbox.getAtIndex(ValueLayout.JAVA_LONG, rank);
            }
            System.out.println("rank " + job.rank() + " wrote to " + written[0] + " ranks over shm and to " + written[1]
                    + " over " + arguments[0] + ", and the numbers add up to " + sum);
        }
    }

    private static void await(Job job, Side side, int writes) {
        int[] left = {writes};
        Waiting.YIELD.until(() -> {
            job.check(); // a rank that has died is named
            side.queue().poll((token, flags, length, data) -> left[0]--, 8);
            return left[0] == 0;
        }, job.deadline());
    }
}
