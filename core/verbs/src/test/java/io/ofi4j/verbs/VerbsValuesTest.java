package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What of the verbs path needs no device: values, and what is refused without one. */
class VerbsValuesTest {
    private static final RemoteMemory MEMORY = new RemoteMemory(4096, 100, 0x8001, VerbsAccess.REMOTE_READ.bit(), true);

    @Test
    void remoteMemoryIsTheSameAfterItWasEncoded() {
        RemoteMemory decoded = RemoteMemory.decode(MEMORY.encode());
        assertThat(decoded).usingRecursiveComparison().isEqualTo(MEMORY);
        assertThat(decoded.access()).isEqualTo(Set.of(VerbsAccess.REMOTE_READ));
        assertThat(decoded.toString()).doesNotContain("8001").doesNotContain("32769");
    }

    @Test
    void damagedMemoryIsRefused() {
        byte[] encoded = MEMORY.encode();
        for (int i = 0; i < encoded.length; i++) {
            byte[] damaged = encoded.clone();
            damaged[i] ^= 16;
            assertThatIllegalArgumentException().as("byte " + i).isThrownBy(() -> RemoteMemory.decode(damaged));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> RemoteMemory.decode(new byte[31]))
                .withMessageContaining("32 bytes");
    }

    @Test
    void rangesAndRightsAreCheckedHere() {
        assertThat(MEMORY.require(60, 40, VerbsAccess.REMOTE_READ.bit())).isEqualTo(4156);
        assertThatThrownBy(() -> MEMORY.require(61, 40, VerbsAccess.REMOTE_READ.bit()))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> MEMORY.require(0, 8, VerbsAccess.REMOTE_WRITE.bit()))
                .withMessageContaining("REMOTE_WRITE");
        RemoteMemory taken = RemoteMemory.decode(MEMORY.encode());
        taken.invalidated();
        assertThatIllegalStateException().isThrownBy(() -> taken.require(0, 8, VerbsAccess.REMOTE_READ.bit()))
                .withMessageContaining("invalidated");
    }

    @Test
    void aQueuePairsAddressIsTheSameAfterItWasEncoded() {
        QueuePairAddress address = new QueuePairAddress(17, 123456, 3, 1024, "00000000000000000000ffffc6120001");
        assertThat(QueuePairAddress.decode(address.encode())).isEqualTo(address);
        assertThatIllegalArgumentException().isThrownBy(() -> QueuePairAddress.decode(new byte[36]));
        assertThatIllegalArgumentException().isThrownBy(() -> new QueuePairAddress(1, 1, 0, 1024, "00"));
        assertThat(new Gid(0, address.gid(), "").address().getHostAddress()).isEqualTo("198.18.0.1");
    }

    @Test
    void aRingKeepsTokensInOrderAndACompletionEndsThoseBefore() {
        WorkRing ring = new WorkRing(5);
        for (int round = 0; round < 1000; round++) {
            int first = ring.next();
            Object subject = new Object();
            for (int i = 0; i < 5; i++) {
                ring.add(round * 10L + i, i, i == 3 ? subject : null);
            }
            assertThat(ring.isFull()).isTrue();
            assertThat(ring.token(first + 4)).isEqualTo(round * 10L + 4);
            assertThat(ring.usesSubject(subject)).isTrue();
            ring.complete(first + 3);
            assertThat(ring.usesSubject(subject)).isFalse();
            assertThat(ring.holds(first + 3)).isFalse();
            assertThat(ring.holds(first + 4)).isTrue();
            assertThat(ring.inFlight()).isEqualTo(1);
            ring.complete(first + 4);
            assertThat(ring.inFlight()).isZero();
        }
    }

    @Test
    void aDeviceThatIsNotThereIsNamed() {
        Verbs verbs = Verbs.load();
        assertThat(verbs.devices()).extracting(Device::name).doesNotContain("mlx5_9");
        assertThatIllegalArgumentException().isThrownBy(() -> verbs.open("mlx5_9")).withMessageContaining("mlx5_9");
    }

    @Test
    void badAddressesAreRefused() {
        Verbs verbs = Verbs.load();
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nowhere", 1);
        assertThatIllegalArgumentException().isThrownBy(() -> verbs.listen(unresolved, 1))
                .withMessageContaining("nowhere");
        assertThatIllegalArgumentException().isThrownBy(() -> verbs.listen(new InetSocketAddress("127.0.0.1", 1), 0))
                .withMessageContaining("backlog");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> verbs.resolve(null, new InetSocketAddress("127.0.0.1", 1), Duration.ZERO));
    }

    @Test
    void anErrorSaysWhatItWasAndWhatToTry() {
        FabricException thrown = new WorkError(7, WorkKind.WRITE, WorkStatus.of(10), 0, 17).toException();
        assertThat(thrown).hasMessageContaining("WRITE with token 7").hasMessageContaining("REMOTE_ACCESS")
                .hasMessageContaining("key invalidated");
        assertThat(thrown.errno()).isEqualTo(5);
        assertThat(WorkStatus.of(5)).isEqualTo(WorkStatus.FLUSHED);
        assertThat(WorkStatus.of(12)).isEqualTo(WorkStatus.RETRIES_EXCEEDED);
        assertThat(WorkStatus.of(99)).isEqualTo(WorkStatus.GENERAL);
    }
}
