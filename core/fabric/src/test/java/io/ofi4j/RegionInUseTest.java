package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Pair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A region is closed while a channel writes its memory, which nobody can free then: that goes well, and it is freed
 * later.
 */
@Timeout(300)
class RegionInUseTest {
    private static final int LENGTH = 1 << 20;

    /** Writes memory to a pipe, which has not room for all of it. */
    private static final class Writing {
        private final Pipe pipe;
        private final ByteBuffer memory;
        private final Thread writer;

        Writing(MemorySegment segment) throws IOException {
            pipe = Pipe.open();
            memory = segment.asByteBuffer();
            writer = Thread.ofPlatform().daemon().start(this::write);
            pipe.source().read(ByteBuffer.allocate(1)); // so it has begun
        }

        private void write() {
            try {
                while (memory.hasRemaining()) {
                    pipe.sink().write(memory);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        /** Reads all of it; whether every byte is this one. */
        boolean ends(int value) throws IOException, InterruptedException {
            ByteBuffer rest = ByteBuffer.allocate(LENGTH - 1);
            while (rest.hasRemaining()) {
                pipe.source().read(rest);
            }
            writer.join();
            pipe.sink().close();
            pipe.source().close();
            return MemorySegment.ofArray(rest.array()).elements(JAVA_BYTE)
                    .allMatch(one -> one.get(JAVA_BYTE, 0) == value);
        }
    }

    private static boolean isAlive(MemorySegment memory) { return memory.scope().isAlive(); }

    @ParameterizedTest
    @EnumSource(names = {"WRITE", "REMOTE_WRITE"})
    void isFreedWithTheNextProgress(Access access) throws IOException, InterruptedException {
        try (Pair pair = new Pair("shm")) {
            MemoryRegion region = pair.domain.allocate(LENGTH, access);
            MemorySegment memory = region.segment().fill((byte) 5);
            Writing writing = new Writing(memory);

            region.close();
            pair.queue.progress();

            assertThat(region.isOpen()).isFalse();
            assertThat(isAlive(memory)).isTrue();
            assertThat(writing.ends(5)).isTrue();
            pair.queue.progress();
            assertThat(isAlive(memory)).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "MSG tcp"})
    void doesNotDisturbTheCloseOfTheEndpointThatItsOperationsAreOf(String provider)
            throws IOException, InterruptedException {
        Pair pair = new Pair(provider);
        MemoryRegion region = pair.domain.allocate(LENGTH, Access.WRITE);
        MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE);
        MemorySegment memory = region.segment().fill((byte) 6);
        Writing writing = new Writing(memory);
        pair.rma().write(region.slice(0, LENGTH), pair.far, target.remote(), 1);
        region.close();
        assertThat(region.operationsInFlight()).isEqualTo(1);

        pair.endpoint.close();
        pair.pollNear();
        target.close();
        pair.close();

        assertThat(isAlive(memory)).isTrue();
        assertThat(writing.ends(6)).isTrue();
        try (Pair other = new Pair("shm")) {
            other.domain.allocate(1, Access.WRITE).close();
        }
        assertThat(isAlive(memory)).isFalse();
    }
}
