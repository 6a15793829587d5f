package io.ofi4j.util;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricHints;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The second part of the guide: what {@code io.ofi4j.util} saves you from writing. Read TutorialTest first. Each part
 * runs as a test, and can be copied.
 */
// @start region=guide
@Timeout(300)
class UtilitiesTutorialTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final FabricHints HINTS = FabricHints.rma().provider("tcp;ofi_rxm").source("127.0.0.1", null);

    /** What one read of the next part is for. */
    private record Block(MemoryRegion.Slice local, RemoteRegion remote) {}

    /**
     * 11. Many operations: the pipeline keeps a window of them in flight, and gives you an object back instead of a
     * token.
     */
    @Test
    void pipeline() {
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(HINTS).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion source = domain.allocate(64 << 10, Access.REMOTE_READ);
                MemoryRegion copy = domain.allocate(64 << 10, Access.READ);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            source.segment().fill((byte) 7);

            List<Block> arrived = new ArrayList<>();
            PipelineHandler<Block> handler = new PipelineHandler<>() {
                @Override
                public void onCompletion(Block block, long length, long data) { arrived.add(block); }

                @Override
                public void onError(Block block, CompletionError error) { throw error.toException(); }
            };
            Pipeline<Block> reads = new Pipeline<>(here, queue, 16, handler); // 16 at once, however many there are
            for (int offset = 0; offset < 64 << 10; offset += 1024) {
                Block block = new Block(copy.slice(offset, 1024), source.remote().slice(offset, 1024));
                reads.read(block.local(), peer, block.remote(), block);
            }
            reads.drain(SOON);

            assertThat(arrived).hasSize(64);
            assertThat(copy.segment().mismatch(source.segment())).isEqualTo(-1);
        }
    }

    /** 12. One operation after the other, where a microsecond more does not matter: futures. */
    @Test
    void futures() throws Exception {
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(HINTS).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                CompletionQueue theirs = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(64, Access.READ, Access.WRITE, Access.REMOTE_READ,
                        Access.REMOTE_WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(theirs).bind(peers).enable();
                ProgressThread progress = domain.startProgress(Waiting.BACKOFF); // for the end that only waits
                FutureThread futures = new FutureThread(here, queue)) {
            Peer peer = peers.insert(there.address());
            memory.asByteBuffer().putLong(0, 42);

            futures.write(memory.slice(0, 8), peer, memory.remote().slice(8, 8))
                    .thenCompose(written -> futures.read(memory.slice(16, 8), peer, memory.remote().slice(8, 8)))
                    .get(SOON.toSeconds(), TimeUnit.SECONDS);

            assertThat(memory.asByteBuffer().getLong(16)).isEqualTo(42);
            assertThat(progress.isRunning()).isTrue();
        }
    }

    /** 13. One loop for all: queues of libfabric, channels of the JDK, and one deadline. */
    @Test
    void pollGroup() throws Exception {
        Libfabric libfabric = Libfabric.load();
        Pipe commands = Pipe.open();
        commands.source().configureBlocking(false);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(HINTS).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable();
                PollGroup loop = new PollGroup()) {
            Peer peer = peers.insert(there.address());
            List<String> seen = new ArrayList<>();
            loop.add(queue, (token, flags, length, data) -> seen.add("operation " + token));
            loop.add(commands.source(), SelectionKey.OP_READ, key -> {
                seen.add("a command");
                key.cancel();
            });

            here.rma().write(memory.slice(0, 8), peer, memory.remote().slice(8, 8), 1);
            commands.sink().write(ByteBuffer.wrap(new byte[]{1}));
            long end = System.nanoTime() + SOON.toNanos();
            while (seen.size() < 2 && System.nanoTime() < end) {
                loop.await(SOON);
            }
            assertThat(seen).containsExactlyInAnyOrder("operation 1", "a command");
        } finally {
            commands.sink().close();
            commands.source().close();
        }
    }
}
// @end
