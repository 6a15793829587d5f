package io.ofi4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every misuse of a transfer is a named exception before native code is reached. */
@Timeout(300)
class MisuseTest {
    private static final int LENGTH = 4096;

    private static Pair pair;
    private static MemoryRegion source;
    private static MemoryRegion sink;
    private static MemoryRegion target;

    @BeforeAll
    static void open() {
        pair = new Pair("shm");
        source = pair.domain.allocate(LENGTH, Access.WRITE);
        sink = pair.domain.allocate(LENGTH, Access.READ);
        target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE);
    }

    @AfterAll
    static void close() {
        assertThat(pair.queue.operationsInFlight()).as("what was refused holds no slot").isZero();
        source.close();
        sink.close();
        target.close();
        pair.close();
    }

    private static ThrowingCallable write(long offset, long length, long remoteOffset) {
        return () -> pair.rma().tryWrite(source, offset, length, pair.far, target.remote(), remoteOffset, 1);
    }

    @ParameterizedTest
    @CsvSource({"-1,8,0", "0,-1,0", "0,8,-1", "4089,8,0", "0,4097,0", "0,8,4089", "4097,0,0", "0,0,4097",
            "9223372036854775807,8,0", "0,9223372036854775807,0", "0,8,9223372036854775807",
            "9223372036854775807,9223372036854775807,9223372036854775807", "-9223372036854775808,8,0",
            "0,-9223372036854775808,0"})
    void bytesOutsideARegionAreRefused(long offset, long length, long remoteOffset) {
        assertThatThrownBy(write(offset, length, remoteOffset)).isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("not inside a region of 4096 bytes");
        assertThatThrownBy(() -> pair.rma().tryInjectWrite(source, offset, Math.min(length, 8), pair.far,
                target.remote(), length > 8 ? -1 : remoteOffset)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void theWrongRightIsNamed() {
        RemoteRegion readable = new RemoteRegion(0, LENGTH, 1, Access.REMOTE_READ.bit());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.rma().tryWrite(sink, 0, 8, pair.far, target.remote(), 0, 1))
                .withMessage("the local region is registered for [READ], which lacks [WRITE]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.rma().tryWrite(source, 0, 8, pair.far, readable, 0, 1))
                .withMessage("the remote region is registered for [REMOTE_READ], which lacks [REMOTE_WRITE]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.rma().tryRead(source, 0, 8, pair.far, readable, 0, 1))
                .withMessage("the local region is registered for [WRITE], which lacks [READ]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.rma().tryRead(sink, 0, 8, pair.far, target.remote(), 0, 1))
                .withMessage("the remote region is registered for [REMOTE_WRITE], which lacks [REMOTE_READ]");
    }

    @Test
    void aTooLargeInjectIsRefusedWithTheLimit() {
        long limit = pair.rma().injectSize();
        try (MemoryRegion large = pair.domain.allocate(limit + 1, Access.WRITE, Access.REMOTE_WRITE)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.rma().tryInjectWrite(large, 0, limit + 1, pair.far, large.remote(), 0))
                    .withMessageContaining("at most " + limit + " bytes, not " + (limit + 1));
        }
    }

    @Test
    void anotherDomainsRegionIsRefused() {
        try (Pair other = new Pair("shm"); MemoryRegion theirs = other.domain.allocate(8, Access.WRITE)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.rma().tryWrite(theirs, 0, 8, pair.far, target.remote(), 0, 1))
                    .withMessageContaining("another domain");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.rma().tryWrite(source, 0, 8, other.far, target.remote(), 0, 1))
                    .withMessageContaining("address vector");
            try (Endpoint endpoint = pair.domain.openEndpoint()) {
                assertThatIllegalArgumentException().isThrownBy(() -> endpoint.bind(other.vector))
                        .withMessageContaining("same domain");
                assertThatIllegalArgumentException().isThrownBy(() -> endpoint.bind(other.queue))
                        .withMessageContaining("same domain");
            }
        }
    }

    @Test
    void aRemovedPeerIsRefused() {
        Peer peer = pair.vector.insert(pair.farEndpoint.address());
        pair.vector.remove(peer);

        assertThatIllegalStateException()
                .isThrownBy(() -> pair.rma().tryWrite(source, 0, 8, peer, target.remote(), 0, 1))
                .withMessageContaining("removed");
        assertThatIllegalArgumentException().isThrownBy(() -> pair.vector.remove(peer));
    }

    @Test
    void memoryThatCannotBeRegisteredIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.domain.register(MemorySegment.ofArray(new byte[8]), Access.WRITE))
                .withMessageContaining("heap");
        assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(MemorySegment.NULL, Access.WRITE));
        assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.allocate(0, Access.WRITE));
        assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.allocate(-1, Access.WRITE));
        assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.allocate(8))
                .withMessageContaining("at least one access right");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment readOnly = arena.allocate(8).asReadOnly();
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.register(readOnly, Access.REMOTE_WRITE))
                    .withMessageContaining("read-only");
            pair.domain.register(readOnly, Access.WRITE).close();
        }
        Arena closed = Arena.ofShared();
        MemorySegment gone = closed.allocate(8);
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> pair.domain.register(gone, Access.WRITE))
                .withMessageContaining("arena");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void aPollWithoutALimitIsRefused(int limit) {
        assertThatIllegalArgumentException().isThrownBy(() -> pair.queue.poll((t, f, l, d) -> {}, limit))
                .withMessageContaining("at least 1, not " + limit);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, (1 << 20) + 1})
    void aQueueWithoutASensibleSizeIsRefused(int size) {
        assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.openCompletionQueue(size))
                .withMessageContaining("1 to 1048576 entries, not " + size);
    }

    @Test
    void anAddressOfAnotherKindIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> EndpointAddress.of(new byte[0]));
        assertThatIllegalArgumentException().isThrownBy(() -> EndpointAddress.of(new byte[65_536]));
        try (Pair net = new Pair("tcp;ofi_rxm")) {
            EndpointAddress shm = pair.endpoint.address();
            assertThatIllegalArgumentException().isThrownBy(() -> net.vector.insert(shm))
                    .withMessageContaining("same provider");
        }
    }

    @Test
    void anAbsentShmPeerIsNamedNotWaitedForForEver() {
        EndpointAddress nowhere = EndpointAddress.of("fi_shm://1:0:0\0".getBytes());
        if (Libfabric.load().version().major() < 2) {
            assertThatThrownBy(() -> pair.vector.insert(nowhere))
                    .isInstanceOfSatisfying(FabricException.class, e -> assertThat(e.errno()).isEqualTo(2))
                    .hasMessageContaining("not there");
            return;
        }
        Peer absent = pair.vector.insert(nowhere);
        pair.endpoint.postTimeout(Duration.ofMillis(100));
        try {
            assertThatThrownBy(() -> pair.rma().write(source.slice(0, 8), absent, target.remote(), 1))
                    .isInstanceOf(FabricTimeoutException.class).hasMessageContaining("within 100 ms");
        } finally {
            pair.endpoint.postTimeout(Pair.DEADLINE);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"DOMAIN", "COMPLETION"})
    void anotherThreadThanTheOwnerIsRefused(ThreadingModel model) throws InterruptedException {
        try (Pair owned = new Pair(TestProviders.hints("shm").threading(model));
                MemoryRegion here = owned.domain.allocate(8, Access.WRITE);
                MemoryRegion there = owned.domain.allocate(8, Access.REMOTE_WRITE);
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            Rma rma = owned.rma();
            for (Runnable call : new Runnable[]{() -> rma.tryWrite(here, 0, 8, owned.far, there.remote(), 0, 1),
                    () -> rma.tryInjectWrite(here, 0, 8, owned.far, there.remote(), 0),
                    () -> owned.queue.poll((t, f, l, d) -> {}, 1), () -> owned.queue.close(),
                    () -> owned.endpoint.close()}) {
                assertThatThrownBy(() -> other.submit(call).get()).isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(WrongThreadException.class)
                        .hasMessageContaining("threading model " + model);
            }
        }
    }
}
