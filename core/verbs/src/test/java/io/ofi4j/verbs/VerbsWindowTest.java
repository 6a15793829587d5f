package io.ofi4j.verbs;

import static io.ofi4j.verbs.MemoryWindow.Type.ONE;
import static io.ofi4j.verbs.MemoryWindow.Type.TWO;
import static io.ofi4j.verbs.VerbsAccess.REMOTE_READ;
import static io.ofi4j.verbs.VerbsAccess.REMOTE_WRITE;
import static io.ofi4j.verbs.WorkFlags.SIGNALED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Windows: bound, used, taken back by their owner or the peer; and what the state machine refuses. */
@Timeout(600)
class VerbsWindowTest {
    private static final long VALUE = 0x1122334455667788L;

    private VerbsLink link;
    private VerbsLink.VerbsSide near;
    private VerbsLink.VerbsSide far;

    @BeforeEach
    void connect() {
        link = new VerbsLink(16);
        near = link.near;
        far = link.far;
        assumeTrue(far.context.attributes().capabilities().contains(DeviceCapability.MEM_WINDOW_TYPE_2B),
                "the device has no memory windows");
    }

    @AfterEach
    void close() { if (link != null) { link.close(); } }

    @AfterAll
    static void theKernelHasNotFailed() throws IOException { KernelLog.requireNoFailure(); }

    private MemoryWindow bound(MemoryWindow.Type type, VerbsAccess... rights) {
        MemoryWindow window = far.domain.openWindow(type);
        bind(window, rights);
        return window;
    }

    private void bind(MemoryWindow window, VerbsAccess... rights) {
        assertThat(far.pair.tryBind(window, far.region, 4096, 1024, 0, 1, rights)).isTrue();
        assertThat(far.next().kind()).isEqualTo(WorkKind.BIND);
        assertThat(window.state()).isEqualTo(MemoryWindow.State.BOUND);
    }

    private void write(RemoteMemory to, long offset) {
        near.region.segment().set(JAVA_LONG, 0, VALUE);
        assertThat(near.pair.tryWrite(near.region, 0, 8, to, offset, SIGNALED, 2)).isTrue();
    }

    private void assertRefusedAtThePeer() { assertThat(near.nextError().status()).isEqualTo(WorkStatus.REMOTE_ACCESS); }

    @ParameterizedTest
    @EnumSource(MemoryWindow.Type.class)
    void aPeerWritesThroughAWindowUntilItIsTakenBack(MemoryWindow.Type type) {
        MemoryWindow window = bound(type, REMOTE_WRITE, REMOTE_READ);
        RemoteMemory remote = RemoteMemory.decode(window.remote().encode());
        write(remote, 1016);
        assertThat(near.next().kind()).isEqualTo(WorkKind.WRITE);
        assertThat(far.region.segment().get(JAVA_LONG, 4096 + 1016)).isEqualTo(VALUE);

        assertThat(far.pair.tryInvalidate(window, 0, 3)).isTrue();
        assertThat(window.state()).isEqualTo(MemoryWindow.State.INVALIDATING);
        assertThat(far.next().kind()).isEqualTo(WorkKind.INVALIDATE);
        assertThat(window.state()).isEqualTo(MemoryWindow.State.FREE);
        write(remote, 0);
        assertRefusedAtThePeer();
    }

    @Test
    void aPeerWithoutTheRightIsRefusedHereAndThere() {
        MemoryWindow window = bound(TWO, REMOTE_READ);
        RemoteMemory remote = window.remote();
        assertThatIllegalArgumentException().isThrownBy(() -> write(remote, 0)).withMessageContaining("REMOTE_WRITE");
        write(new RemoteMemory(remote.address(), remote.length(), remote.key(), VerbsAccess.REMOTE, true), 0);
        assertRefusedAtThePeer();
    }

    @Test
    void oneByteBeyondAWindowIsRefusedHere() {
        RemoteMemory remote = bound(TWO, REMOTE_WRITE).remote();
        assertThatThrownBy(() -> write(remote, 1017)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> write(remote, -1)).isInstanceOf(IndexOutOfBoundsException.class);
        write(remote, 0);
        assertThat(near.next().kind()).isEqualTo(WorkKind.WRITE);
    }

    @Test
    void thePeerTakesAWindowBackAndTheOwnerLearnsWhich() {
        MemoryWindow window = bound(TWO, REMOTE_WRITE);
        RemoteMemory remote = RemoteMemory.decode(window.remote().encode());
        RemoteMemory again = RemoteMemory.decode(window.remote().encode());
        int key = remote.key();
        assertThat(far.pair.tryReceive(far.region, 0, 64, 5)).isTrue();
        assertThat(near.pair.trySendInvalidate(near.region, 0, 16, remote, SIGNALED, 6)).isTrue();
        assertThat(far.next())
                .isEqualTo(new Reported.Completion(5, WorkKind.RECEIVE, 16, WorkHandler.INVALIDATED, key));
        assertThat(near.next().token()).isEqualTo(6);
        assertThat(window.state()).isEqualTo(MemoryWindow.State.FREE);
        assertThatIllegalStateException().isThrownBy(() -> write(remote, 0)).withMessageContaining("invalidated");
        assertThatIllegalStateException()
                .isThrownBy(() -> near.pair.trySendInvalidate(near.region, 0, 16, remote, SIGNALED, 6));
        assertThatIllegalStateException().isThrownBy(() -> far.pair.tryInvalidate(window, 0, 7))
                .withMessageContaining("FREE");
        bind(window, REMOTE_WRITE);
        write(window.remote(), 8);
        assertThat(near.next().kind()).isEqualTo(WorkKind.WRITE);
        write(again, 0);
        assertRefusedAtThePeer();
    }

    /** Where sends and receives have queues of their own, a bind may be reported after the peer's invalidation. */
    @Test
    void theCompletionOfAnEarlierBindDoesNotEndALaterOne() {
        try (VerbsCompletionQueue sends = far.context.openCompletionQueue(16, far.channel);
                VerbsCompletionQueue receives = far.context.openCompletionQueue(16);
                VerbsCompletionQueue peers = near.context.openCompletionQueue(16);
                QueuePair owner = far.domain
                        .openQueuePair(QueuePairAttributes.of(sends).receiveQueue(receives).sizes(8, 8));
                QueuePair peer = near.domain.openQueuePair(QueuePairAttributes.of(peers).sizes(8, 8));
                MemoryWindow window = far.domain.openWindow(TWO)) {
            owner.connect(peer.address());
            peer.connect(owner.address());
            assertThat(owner.tryReceive(far.region, 0, 64, 1)).isTrue();
            sends.requestNotification(false);
            assertThat(owner.tryBind(window, far.region, 4096, 1024, 0, 2, REMOTE_WRITE)).isTrue();
            assertThat(far.channel.await(VerbsLink.DEADLINE)).contains(sends); // it is bound, which nobody has polled
            assertThat(peer.trySendInvalidate(near.region, 0, 16, window.remote(), SIGNALED, 3)).isTrue();
            assertThat(new Reported().next(receives).flags()).isEqualTo(WorkHandler.INVALIDATED);
            assertThat(window.state()).isEqualTo(MemoryWindow.State.FREE);

            assertThat(owner.tryBind(window, far.region, 4096, 1024, 0, 4, REMOTE_WRITE)).isTrue();
            Reported reported = new Reported();
            assertThat(sends.poll(reported, 1)).isOne();
            assertThat(window.state()).isEqualTo(MemoryWindow.State.BINDING);
            assertThat(reported.next(sends).token()).isEqualTo(2);
            assertThat(reported.next(sends).token()).isEqualTo(4);
            assertThat(window.state()).isEqualTo(MemoryWindow.State.BOUND);
        }
    }

    @Test
    void theWindowOfAnotherQueuePairIsRefusedByThePeer() {
        RemoteMemory remote = bound(TWO, REMOTE_WRITE).remote();
        try (VerbsLink other = new VerbsLink(16)) {
            other.near.region.segment().set(JAVA_LONG, 0, VALUE);
            other.near.pair.tryWrite(other.near.region, 0, 8, remote, 0, SIGNALED, 1);
            assertThat(other.near.nextError().status()).isEqualTo(WorkStatus.REMOTE_ACCESS);
        }
    }

    @Test
    void aWindowIsRetiredBeforeAKeyRepeats() {
        MemoryWindow window = far.domain.openWindow(TWO);
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 255; i++) {
            assertThat(far.pair.tryBind(window, far.region, 0, 64, 0, i, REMOTE_WRITE)).isTrue();
            assertThat(keys.add(window.remote().key())).as("bind " + i).isTrue();
            assertThat(far.pair.tryInvalidate(window, 0, i)).isTrue(); // behind the bind, on the same queue
            assertThat(far.next().kind()).isEqualTo(WorkKind.BIND);
            assertThat(far.next().kind()).isEqualTo(WorkKind.INVALIDATE);
        }
        assertThat(window.state()).isEqualTo(MemoryWindow.State.RETIRED);
        assertThatIllegalStateException()
                .isThrownBy(() -> far.pair.tryBind(window, far.region, 0, 64, 0, 1, REMOTE_WRITE))
                .withMessageContaining("Open another");
    }

    @Test
    void theStateMachineLetsNothingElseThrough() {
        MemoryWindow window = far.domain.openWindow(TWO);
        assertThatIllegalStateException().isThrownBy(window::remote).withMessageContaining("FREE");
        assertThatIllegalStateException().isThrownBy(() -> far.pair.tryInvalidate(window, 0, 1))
                .withMessageContaining("must be bound");
        bind(window, REMOTE_READ);
        assertThatIllegalStateException()
                .isThrownBy(() -> far.pair.tryBind(window, far.region, 0, 64, 0, 1, REMOTE_READ))
                .withMessageContaining("must be free");
        assertThatIllegalStateException().isThrownBy(far.region::close).withMessageContaining("MemoryWindow");
        assertThatIllegalStateException().isThrownBy(far.pair::close).withMessageContaining("MemoryWindow");
        assertThatIllegalArgumentException().isThrownBy(() -> near.pair.tryInvalidate(window, 0, 1))
                .withMessageContaining("protection domain");
        assertThat(far.pair.tryInvalidate(window, 0, 2)).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> far.pair.tryInvalidate(window, 0, 3))
                .withMessageContaining("INVALIDATING");
        assertThatIllegalStateException().isThrownBy(window::close).withMessageContaining("INVALIDATING");
        far.next();
        window.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> far.pair.tryBind(window, far.region, 0, 64, 0, 1, REMOTE_READ))
                .withMessageContaining("CLOSED");
    }

    @Test
    void aBindAsksForWhatTheRegionGives() {
        MemoryWindow window = far.domain.openWindow(ONE);
        try (VerbsMemoryRegion without = far.domain.allocate(64, VerbsAccess.LOCAL_WRITE);
                VerbsMemoryRegion readable = far.domain.allocate(64, VerbsAccess.WINDOW_BIND)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> far.pair.tryBind(window, without, 0, 64, 0, 1, REMOTE_READ))
                    .withMessageContaining("WINDOW_BIND");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> far.pair.tryBind(window, readable, 0, 64, 0, 1, REMOTE_WRITE))
                    .withMessageContaining("LOCAL_WRITE");
            assertThatThrownBy(() -> far.pair.tryBind(window, readable, 1, 64, 0, 1, REMOTE_READ))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatIllegalArgumentException().isThrownBy(() -> far.pair.tryBind(window, readable, 0, 64, 0, 1))
                    .withMessageContaining("at least one");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> far.pair.tryBind(window, readable, 0, 0, 0, 1, REMOTE_READ))
                    .withMessageContaining("1 byte");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> far.pair.tryBind(window, readable, 0, 64, 0, 1, VerbsAccess.LOCAL_WRITE))
                    .withMessageContaining("remote rights");
        }
    }

    @Test
    void onlyAWindowOfTypeTwoIsTakenBackByASend() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> near.pair.trySendInvalidate(near.region, 0, 8, far.region.remote(), SIGNALED, 1))
                .withMessageContaining("type 2");
        RemoteMemory one = bound(ONE, REMOTE_WRITE).remote();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> near.pair.trySendInvalidate(near.region, 0, 8, one, SIGNALED, 1))
                .withMessageContaining("type 2");
    }
}
