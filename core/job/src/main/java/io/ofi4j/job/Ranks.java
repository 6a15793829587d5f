package io.ofi4j.job;

import io.ofi4j.AddressVector;
import io.ofi4j.Endpoint;
import io.ofi4j.InsertResult;
import io.ofi4j.Libfabric;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.Version;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The peers and remote regions of all ranks of a {@link Job} or a {@link JobGroup}, in the order of ranks, including
 * this rank's own.
 *
 * <p>{@link #exchange} fetches those of all ranks at once. {@link #lazy} fetches those of a rank when they are first
 * asked for, for programs in which each rank talks to few others.
 *
 * <p>A region is an entry of 40 bytes in each rank's message. Give one region, and agree on offsets in it, rather than
 * many regions: every operation takes an offset in the remote region.
 *
 * <p><b>Threads.</b> Any thread may use it. The first call for a rank of {@link #lazy} waits for the rank and inserts
 * its address: with a threading model other than SAFE, only the thread of the domain may make it.
 */
public final class Ranks {
    private final JobGroup group;
    private final AddressVector vector;
    private final RankHello own;
    /** The number of the hellos of all ranks, if they are fetched. */
    private final int number;
    private final AtomicReferenceArray<Known> known;

    /** What is known of a rank. */
    private record Known(Peer peer, List<RemoteRegion> regions) {}

    private Ranks(JobGroup group, AddressVector vector, RankHello own, int number) {
        this.group = group;
        this.vector = vector;
        this.own = own;
        this.number = number;
        this.known = new AtomicReferenceArray<>(group.size());
    }

    /** As {@link #exchange(JobGroup, Endpoint, AddressVector, RemoteRegion...)}, with all ranks of a job. */
    public static Ranks exchange(Job job, Endpoint endpoint, AddressVector vector, RemoteRegion... mine) {
        return exchange(job.group(), endpoint, vector, mine);
    }

    /**
     * Exchanges the address of an endpoint, and regions, with all members of a group, and inserts the addresses of all
     * members into a vector; fi_av_insert, fi_av(3). Every member calls it. Ranks are those in the group from then on.
     *
     * @param group the group
     * @param endpoint an enabled endpoint
     * @param vector the vector that is bound to the endpoint
     * @param mine the regions that the other ranks may use, at most 1,000; every rank gives the same number
     * @return the peer and the regions of each rank
     * @throws JobException if not all ranks call it in time, one is gone, a rank has another provider, another version
     *         of libfabric or another number of regions, or an address cannot be inserted; the message names the rank
     * @throws IllegalArgumentException if there are too many regions
     * @throws IllegalStateException if an object is closed, or the endpoint is not enabled
     */
    public static Ranks exchange(JobGroup group, Endpoint endpoint, AddressVector vector, RemoteRegion... mine) {
        return agree(group, endpoint, vector, mine).ranks;
    }

    /**
     * The ranks, and a number that their members have agreed on: at each rank it is higher than that of every earlier
     * exchange.
     */
    record Agreed(Ranks ranks, int number) {}

    /** As {@link #exchange(JobGroup, Endpoint, AddressVector, RemoteRegion...)}. */
    static Agreed agree(JobGroup group, Endpoint endpoint, AddressVector vector, RemoteRegion... mine) {
        Ranks ranks = new Ranks(group, vector, RankHello.of(group.job(), endpoint, mine), -1);
        List<byte[]> hellos = group.gather("Ranks.exchange", ranks.own.encode());
        List<RankHello> all = new ArrayList<>();
        for (int rank = 0; rank < hellos.size(); rank++) {
            all.add(ranks.same(hellos.get(rank), rank));
        }
        int rank = 0;
        for (InsertResult result : vector.insertAll(all.stream().map(RankHello::address).toList())) {
            ranks.known.set(rank, ranks.inserted(result, all.get(rank), rank));
            rank++;
        }
        int highest = all.stream().mapToInt(RankHello::proposal).max().orElseThrow();
        group.job().exchanged(highest);
        return new Agreed(ranks, highest);
    }

    /**
     * Publishes the address of an endpoint, and regions. Those of another rank are fetched, and its address is inserted
     * into the vector (fi_av_insert, fi_av(3)), when they are first asked for with {@link #peer} or {@link #region}.
     * All ranks make these calls in the same order; the call waits for no rank.
     *
     * @param job the job
     * @param endpoint an enabled endpoint
     * @param vector the vector that is bound to the endpoint; it stays open as long as ranks are asked for
     * @param mine the regions that the other ranks may use, at most 1,000; every rank gives the same number
     * @return the ranks, of which none is fetched yet
     * @throws JobException if the job is broken
     * @throws IllegalArgumentException if there are too many regions
     * @throws IllegalStateException if an object is closed, or the endpoint is not enabled
     */
    public static Ranks lazy(Job job, Endpoint endpoint, AddressVector vector, RemoteRegion... mine) {
        Objects.requireNonNull(vector, "vector");
        RankHello own = RankHello.of(job, endpoint, mine);
        return new Ranks(job.group(), vector, own, job.putHello(own.encode()));
    }

    private RankHello same(byte[] hello, int rank) {
        RankHello other = RankHello.decode(hello, group.jobRank(rank));
        own.requireSame(other, group.job().rank(), group.jobRank(rank));
        return other;
    }

    private Known inserted(InsertResult result, RankHello hello, int rank) {
        if (result.failure().isPresent()) {
            throw new JobException("the address of rank " + group.jobRank(rank) + ", " + hello.address
                    + ", cannot be inserted: " + result.failure().get().getMessage(), result.failure().get());
        }
        return new Known(result.peer(), hello.regions);
    }

    private Known known(int rank) {
        Known found = known.get(rank);
        return found != null ? found : fetch(rank);
    }

    /** Waits for a rank's hello outside of the lock, so that no thread waits while another one waits for a rank. */
    private Known fetch(int rank) {
        RankHello hello = same(group.job().hello(rank, number), rank);
        synchronized (known) {
            Known found = known.get(rank);
            if (found == null) {
                found = inserted(vector.insertAll(List.of(hello.address)).getFirst(), hello, rank);
                known.set(rank, found);
            }
            return found;
        }
    }

    /**
     * The message of a rank: a format number, its provider, its version of libfabric, the number that it proposes, its
     * regions, its address.
     */
    private record RankHello(String provider, Version libfabric, int proposal, List<RemoteRegion> regions,
            EndpointAddress address) {
        private static final int FORMAT = 0x4f464a02; // OFJ, 2
        private static final int MAX_REGIONS = 1000;

        RankHello {
            if (regions.size() > MAX_REGIONS) {
                throw new IllegalArgumentException("a rank announces at most " + MAX_REGIONS + " regions, not "
                        + regions.size() + ": pass one region, and agree on offsets in it");
            }
        }

        static RankHello of(Job job, Endpoint endpoint, RemoteRegion... mine) {
            return new RankHello(endpoint.info().provider(), Libfabric.load().version(), job.nextExchange(),
                    List.of(mine), endpoint.address());
        }

        byte[] encode() {
            byte[] name = provider.getBytes(StandardCharsets.UTF_8);
            byte[] where = address.encode();
            ByteBuffer all = ByteBuffer.allocate(
                    5 * Integer.BYTES + name.length + regions.size() * RemoteRegion.ENCODED_LENGTH + where.length);
            all.putInt(FORMAT).putInt(libfabric.packed()).putInt(proposal).putInt(name.length).put(name)
                    .putInt(regions.size());
            regions.forEach(region -> all.put(region.encode()));
            return all.put(where).array();
        }

        static RankHello decode(byte[] bytes, int rank) {
            ByteBuffer all = ByteBuffer.wrap(bytes);
            try {
                if (all.getInt() != FORMAT) {
                    throw new JobException(
                            "rank " + rank + " runs another release of ofi4j: its message has another format");
                }
                Version libfabric = Version.of(all.getInt());
                int proposal = all.getInt();
                String provider = new String(next(all, all.getInt()), StandardCharsets.UTF_8);
                List<RemoteRegion> regions = new ArrayList<>();
                for (int count = all.getInt(); count > 0; count--) {
                    regions.add(RemoteRegion.decode(next(all, RemoteRegion.ENCODED_LENGTH)));
                }
                return new RankHello(provider, libfabric, proposal, regions,
                        EndpointAddress.decode(next(all, all.remaining())));
            } catch (BufferUnderflowException | IllegalArgumentException e) {
                throw new JobException("the message of rank " + rank + " cannot be read: " + e.getMessage(), e);
            }
        }

        private static byte[] next(ByteBuffer buffer, int length) {
            if (length < 0 || length > buffer.remaining()) { throw new BufferUnderflowException(); }
            byte[] bytes = new byte[length];
            buffer.get(bytes);
            return bytes;
        }

        void requireSame(RankHello other, int rank, int itsRank) {
            String remedy = "start all ranks in the same way";
            require(provider, other.provider, "provider", rank, itsRank, remedy);
            require(libfabric, other.libfabric, "libfabric", rank, itsRank, remedy);
            require(regions.size(), other.regions.size(), "number of regions", rank, itsRank,
                    "give the same number of regions at every rank");
        }

        private static void require(Object own, Object other, String what, int rank, int itsRank, String remedy) {
            if (!own.equals(other)) {
                throw new JobException("rank " + itsRank + " has " + what + " " + other + ", and rank " + rank + " has "
                        + own + ": " + remedy);
            }
        }
    }

    /** {@return the rank of this process in the group} */
    public int rank() { return group.rank(); }

    /** {@return the number of ranks in the group} */
    public int size() { return known.length(); }

    /**
     * {@return the peer for the endpoint of a rank} The first call for a rank of {@link #lazy} waits until that rank
     * has called {@link #lazy}, at most until the job's deadline.
     *
     * @param ofRank 0 to {@link #size} - 1
     * @throws IndexOutOfBoundsException if there is no such rank
     * @throws JobException in the first call for a rank of {@link #lazy}, as {@link #exchange} throws it
     * @throws IllegalStateException in the first call for a rank of {@link #lazy}, if the job or the vector is closed
     */
    public Peer peer(int ofRank) {
        Objects.checkIndex(ofRank, size());
        return known(ofRank).peer;
    }

    /**
     * {@return a region of a rank} The first call for a rank waits as {@link #peer} does.
     *
     * @param ofRank 0 to {@link #size} - 1
     * @param index its position among the regions that the rank gave, from 0
     * @throws IndexOutOfBoundsException if there is no such rank or region
     * @throws JobException as {@link #peer} throws it
     * @throws IllegalStateException as {@link #peer} throws it
     */
    public RemoteRegion region(int ofRank, int index) {
        Objects.checkIndex(ofRank, size());
        Objects.checkIndex(index, own.regions.size());
        return known(ofRank).regions.get(index);
    }

    @Override
    public String toString() { return "Ranks, " + size() + " of them, of which this is " + rank(); }
}
