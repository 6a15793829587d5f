package io.ofi4j.internal.quirks.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Version;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ShmFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A process that is killed while it posts may leave a place in its target's queue that it has claimed and not filled.
 * What is posted later stays behind that place, whoever posts it. Opening another endpoint is the remedy.
 */
@Tag("gate")
class KilledPeerTest {
    private static final Version LAYOUT = new Version(2, 1);
    /** Where the queue of that version counts the places that were claimed. */
    private static final long CLAIMED_AT = 192;
    private static final Duration A_WHILE = Duration.ofSeconds(1);

    @Test
    void anEndpointThatAKilledPeerHasBlockedIsReplacedByAnother() throws IOException {
        assumeTrue(Libfabric.load().version().equals(LAYOUT),
                "this test knows how the queue of libfabric 2.1 is laid out, and of no other version");
        try (Pair pair = new Pair("shm");
                MemoryRegion source = pair.domain.allocate(Long.BYTES, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(Long.BYTES, Access.REMOTE_WRITE)) {
            assertThat(arrives(pair, pair.far, source, target, 1, Pair.DEADLINE)).isTrue();
            claimAPlace(pair.farEndpoint);
            assertThat(arrives(pair, pair.far, source, target, 2, A_WHILE)).isFalse();

            pair.farEndpoint.close();

            try (Endpoint another = pair.domain.openEndpoint().bind(pair.vector).bind(pair.farQueue).enable()) {
                Peer peer = pair.vector.insert(another.address());
                assertThat(arrives(pair, peer, source, target, 3, Pair.DEADLINE)).isTrue();
            }
        }
    }

    private static boolean arrives(Pair pair, Peer peer, MemoryRegion source, MemoryRegion target, long value,
            Duration deadline) {
        source.segment().set(JAVA_LONG, 0, value);
        pair.rma().injectWrite(source.slice(0, Long.BYTES), peer, target.remote());
        return Waiting.YIELD.tryUntil(() -> {
            pair.poll();
            pair.farQueue.progress();
            return target.segment().get(JAVA_LONG, 0) == value;
        }, deadline);
    }

    /** As a process does that is killed before it goes on. */
    private static void claimAPlace(Endpoint endpoint) throws IOException {
        try (FileChannel channel = FileChannel.open(ShmFile.of(endpoint), StandardOpenOption.READ,
                StandardOpenOption.WRITE); Arena arena = Arena.ofConfined()) {
            MemorySegment memory = channel.map(MapMode.READ_WRITE, 0, CLAIMED_AT + Long.BYTES, arena);
            memory.set(JAVA_LONG, CLAIMED_AT, memory.get(JAVA_LONG, CLAIMED_AT) + 1);
        }
    }
}
