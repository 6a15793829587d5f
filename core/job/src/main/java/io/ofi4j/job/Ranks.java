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

/**
 * The peers and remote regions of all ranks of a {@link Job}, in the order of ranks, including this rank's own.
 * Immutable; any thread may use it.
 */
public final class Ranks {
    private final int rank;
    private final List<Peer> peers;
    private final List<List<RemoteRegion>> regions;

    private Ranks(int rank, List<Peer> peers, List<List<RemoteRegion>> regions) {
        this.rank = rank;
        this.peers = peers;
        this.regions = regions;
    }

    /**
     * Exchanges the address of an endpoint, and regions, with all ranks, and inserts the addresses of all ranks into a
     * vector; fi_av_insert, fi_av(3). Every rank calls it.
     *
     * @param job the job
     * @param endpoint an enabled endpoint
     * @param vector the vector that is bound to the endpoint
     * @param mine the regions that the other ranks may use, at most 1,000; every rank gives the same number
     * @return the peer and the regions of each rank
     * @throws JobException if not all ranks call it in time, one is gone, a rank has another provider, another version
     *         of libfabric or another number of regions, or an address cannot be inserted; the message names the rank
     * @throws IllegalArgumentException if there are too many regions
     * @throws IllegalStateException if an object is closed, or the endpoint is not enabled
     */
    public static Ranks exchange(Job job, Endpoint endpoint, AddressVector vector, RemoteRegion... mine) {
        RankHello own = new RankHello(endpoint.info().provider(), Libfabric.load().version(), List.of(mine),
                endpoint.address());
        List<byte[]> hellos = job.gather(own.encode());
        List<EndpointAddress> addresses = new ArrayList<>();
        List<List<RemoteRegion>> regions = new ArrayList<>();
        for (int rank = 0; rank < hellos.size(); rank++) {
            RankHello hello = RankHello.decode(hellos.get(rank), rank);
            own.requireSame(hello, job.rank(), rank);
            addresses.add(hello.address);
            regions.add(hello.regions);
        }
        List<Peer> peers = new ArrayList<>();
        for (InsertResult result : vector.insertAll(addresses)) {
            int rank = peers.size();
            if (result.failure().isPresent()) {
                throw new JobException("the address of rank " + rank + ", " + addresses.get(rank)
                        + ", cannot be inserted: " + result.failure().get().getMessage(), result.failure().get());
            }
            peers.add(result.peer());
        }
        return new Ranks(job.rank(), List.copyOf(peers), List.copyOf(regions));
    }

    /** The message of a rank: a format number, its provider, its version of libfabric, its regions, its address. */
    private record RankHello(String provider, Version libfabric, List<RemoteRegion> regions, EndpointAddress address) {
        private static final int FORMAT = 0x4f464a01; // OFJ, 1
        private static final int MAX_REGIONS = 1000;

        RankHello {
            if (regions.size() > MAX_REGIONS) {
                throw new IllegalArgumentException("a rank announces at most " + MAX_REGIONS + " regions, not "
                        + regions.size() + ": pass one region, and agree on offsets in it");
            }
        }

        byte[] encode() {
            byte[] name = provider.getBytes(StandardCharsets.UTF_8);
            byte[] where = address.encode();
            ByteBuffer all = ByteBuffer.allocate(
                    4 * Integer.BYTES + name.length + regions.size() * RemoteRegion.ENCODED_LENGTH + where.length);
            all.putInt(FORMAT).putInt(libfabric.packed()).putInt(name.length).put(name).putInt(regions.size());
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
                String provider = new String(next(all, all.getInt()), StandardCharsets.UTF_8);
                List<RemoteRegion> regions = new ArrayList<>();
                for (int count = all.getInt(); count > 0; count--) {
                    regions.add(RemoteRegion.decode(next(all, RemoteRegion.ENCODED_LENGTH)));
                }
                return new RankHello(provider, libfabric, regions, EndpointAddress.decode(next(all, all.remaining())));
            } catch (BufferUnderflowException | IllegalArgumentException e) {
                throw new JobException("the message of rank " + rank + " cannot be read: " + e.getMessage(), e);
            }
        }

        private static byte[] next(ByteBuffer buffer, int length) {
            byte[] bytes = new byte[length];
            buffer.get(bytes);
            return bytes;
        }

        void requireSame(RankHello other, int rank, int itsRank) {
            require(provider, other.provider, "provider", rank, itsRank);
            require(libfabric, other.libfabric, "libfabric", rank, itsRank);
            require(regions.size(), other.regions.size(), "number of regions", rank, itsRank);
        }

        private static void require(Object own, Object other, String what, int rank, int itsRank) {
            if (!own.equals(other)) {
                throw new JobException("rank " + itsRank + " has " + what + " " + other + ", and rank " + rank + " has "
                        + own + ": start all ranks in the same way");
            }
        }
    }

    /** {@return the rank of this process} */
    public int rank() { return rank; }

    /** {@return the number of ranks} */
    public int size() { return peers.size(); }

    /**
     * {@return the peer for the endpoint of a rank}
     *
     * @param ofRank 0 to {@link #size} - 1
     * @throws IndexOutOfBoundsException if there is no such rank
     */
    public Peer peer(int ofRank) { return peers.get(ofRank); }

    /**
     * {@return a region of a rank}
     *
     * @param ofRank 0 to {@link #size} - 1
     * @param index its position among the regions that the rank gave, from 0
     * @throws IndexOutOfBoundsException if there is no such rank or region
     */
    public RemoteRegion region(int ofRank, int index) {
        Objects.checkIndex(ofRank, size());
        return regions.get(ofRank).get(index);
    }

    @Override
    public String toString() { return "Ranks, " + size() + " of them, of which this is " + rank; }
}
