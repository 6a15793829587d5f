package io.ofi4j.job;

import io.ofi4j.support.Pair;
import java.net.InetSocketAddress;
import java.util.Map;

/** A rank of a job of two, of which one process has both. */
public final class RankOfTwo {
    private RankOfTwo() {}

    public static Job join(int rank, InetSocketAddress at, String secret) {
        return Job.join(Map.of("OFI4J_RANK", "" + rank, "OFI4J_SIZE", "2", "OFI4J_RENDEZVOUS",
                at.getAddress().getHostAddress() + ":" + at.getPort(), "OFI4J_SECRET", secret), Pair.DEADLINE);
    }
}
