package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.support.Forked;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two processes on two addresses: one gives a window, the other uses it until the first is killed. */
@Timeout(600)
class VerbsProcessesTest {
    private static final long VALUE = 0x0102030405060708L;

    @AfterAll
    static void theKernelHasNotFailed() throws IOException { KernelLog.requireNoFailure(); }

    @Test
    void aWindowOfAnotherProcessIsUsedUntilItsOwnerDies() {
        List<String> addresses = VerbsLink.addresses();
        String processor = System.getenv("OFI4J_OTHER_PROCESSOR");
        List<String> prefix = processor == null ? List.of() : List.of("taskset", "-c", processor);
        Forked.Running peer = Forked.startBehind(prefix, VerbsPeer.class, addresses.getFirst());
        try {
            InetSocketAddress there = new InetSocketAddress(addresses.getFirst(),
                    Integer.parseInt(peer.awaitLine("port ")));
            try (VerbsLink.VerbsSide side = new VerbsLink.VerbsSide(
                    Verbs.load().resolve(new InetSocketAddress(addresses.getLast(), 0), there, VerbsLink.DEADLINE),
                    16)) {
                assumeTrue(side.context.attributes().capabilities().contains(DeviceCapability.MEM_WINDOW_TYPE_2B),
                        "the device has no memory windows");
                side.pair.tryReceive(side.region, 0, 64, 1);
                side.connection.connect(new byte[0], VerbsLink.DEADLINE);
                use(side, peer);
            }
        } catch (FabricException e) {
            e.addSuppressed(new AssertionError("the other process printed: " + peer.output()));
            throw e;
        } finally {
            peer.process().destroyForcibly();
        }
    }

    private static void use(VerbsLink.VerbsSide side, Forked.Running peer) {
        assertThat(side.next().length()).isEqualTo(RemoteMemory.ENCODED_LENGTH);
        RemoteMemory window = RemoteMemory
                .decode(side.region.segment().asSlice(0, RemoteMemory.ENCODED_LENGTH).toArray(JAVA_BYTE));
        assertThat(window.length()).isEqualTo(VerbsPeer.WINDOW);
        side.region.segment().set(JAVA_LONG, 64, VALUE);
        side.pair.tryWrite(side.region, 64, 8, window, VerbsPeer.WINDOW - 8, SIGNALED, 2);
        side.pair.tryRead(side.region, 128, 8, window, VerbsPeer.WINDOW - 8, SIGNALED, 3);
        assertThat(side.next().kind()).isEqualTo(WorkKind.WRITE);
        assertThat(side.next().kind()).isEqualTo(WorkKind.READ);
        assertThat(side.region.segment().get(JAVA_LONG, 128)).isEqualTo(VALUE);
        assertThat(peer.awaitLine("given ")).isEqualTo("BOUND");

        peer.process().destroyForcibly();
        assertThat(side.connection.awaitDisconnected(VerbsLink.DEADLINE)).isTrue();
        assertThat(writeUntilItFails(side, window).status()).isIn(WorkStatus.RETRIES_EXCEEDED, WorkStatus.FLUSHED,
                WorkStatus.REMOTE_INVALID_REQUEST, WorkStatus.REMOTE_ACCESS);
        assertThat(side.pair.isConnected()).isFalse();
    }

    /**
     * The kernel says that a killed process is disconnected before it takes its memory back: a write may still come
     * through.
     */
    private static WorkError writeUntilItFails(VerbsLink.VerbsSide side, RemoteMemory window) {
        long end = System.nanoTime() + VerbsLink.DEADLINE.toNanos();
        WorkError error = null;
        while (error == null) {
            assertThat(System.nanoTime()).as("writes into a dead process' window go through").isLessThan(end);
            side.pair.tryWrite(side.region, 64, 8, window, 0, SIGNALED, 4);
            error = side.errorOrNull();
        }
        return error;
    }
}
