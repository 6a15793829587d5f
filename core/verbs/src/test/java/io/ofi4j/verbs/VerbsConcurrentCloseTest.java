package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.SIGNALED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.errors.FabricTimeoutException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What two threads close at once is closed once, nothing is opened or read in what another thread closes, and a thread
 * does not wait for the wait of another.
 */
@Timeout(600)
class VerbsConcurrentCloseTest {
    private static final int ROUNDS = 40;

    @AfterAll
    static void theKernelHasNotFailed() throws IOException { KernelLog.requireNoFailure(); }

    /** Runs all at the same time; each may find its object closed, or in use. */
    private static void atOnce(Runnable... calls) {
        CyclicBarrier start = new CyclicBarrier(calls.length);
        CompletableFuture<?>[] all = Stream.of(calls).map(call -> CompletableFuture.runAsync(() -> {
            try {
                start.await(VerbsLink.DEADLINE.toSeconds(), TimeUnit.SECONDS);
                call.run();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageMatching("(?s).*(is closed|close these before|CLOSED).*");
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }, run -> Thread.ofPlatform().start(run))).toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(all).join();
    }

    private static ConnectionListener listener() {
        return Verbs.load().listen(new InetSocketAddress(VerbsLink.addresses().getLast(), 0), 1);
    }

    private static VerbsConnection resolved(ConnectionListener listener) {
        return Verbs.load().resolve(new InetSocketAddress(VerbsLink.addresses().getLast(), 0), listener.address(),
                VerbsLink.DEADLINE);
    }

    private static void onDevice(Consumer<DeviceContext> test) {
        try (ConnectionListener listener = listener();
                VerbsConnection connection = resolved(listener);
                DeviceContext context = Verbs.load().open(connection.context().name())) {
            for (int i = 0; i < ROUNDS; i++) {
                test.accept(context);
            }
        }
    }

    @Test
    void aListenerIsClosedOnce() {
        for (int i = 0; i < ROUNDS; i++) {
            ConnectionListener listener = listener();
            atOnce(listener::close, listener::close, listener::close);
        }
    }

    @Test
    void aQueuePairIsClosedBesideItsConnection() {
        try (ConnectionListener listener = listener()) {
            for (int i = 0; i < ROUNDS; i++) {
                VerbsConnection connection = resolved(listener);
                try (ProtectionDomain domain = connection.context().openProtectionDomain();
                        VerbsCompletionQueue queue = connection.context().openCompletionQueue(16)) {
                    QueuePair pair = connection.openQueuePair(domain, QueuePairAttributes.of(queue).sizes(8, 8));
                    atOnce(pair::close, connection::close, pair::close);
                }
            }
        }
    }

    @Test
    void aQueueStaysOpenWhileAQueuePairIsOpened() {
        onDevice(context -> {
            assumeFalse(context.isIwarp(), "iWARP connects nothing out of band");
            try (ProtectionDomain domain = context.openProtectionDomain()) {
                VerbsCompletionQueue queue = context.openCompletionQueue(16);
                QueuePairAttributes attributes = QueuePairAttributes.of(queue).sizes(8, 8);
                atOnce(() -> domain.openQueuePair(attributes).close(), queue::close);
                queue.close();
            }
        });
    }

    @Test
    void nothingIsOpenedInADomainThatIsClosed() {
        onDevice(context -> {
            ProtectionDomain domain = context.openProtectionDomain();
            atOnce(() -> domain.allocate(64).close(), () -> domain.allocate(64).close(), domain::close);
            domain.close();
        });
    }

    @Test
    void nothingIsOpenedInADeviceOrWithAChannelThatIsClosed() {
        onDevice(context -> {
            DeviceContext other = Verbs.load().open(context.name());
            atOnce(() -> other.openProtectionDomain().close(), () -> other.openCompletionQueue(1).close(),
                    other::close);
            other.close();
            CompletionChannel channel = context.openCompletionChannel();
            atOnce(() -> context.openCompletionQueue(1, channel).close(), channel::close);
            channel.close();
        });
    }

    @Test
    void noPortIsReadOfADeviceThatIsClosed() {
        onDevice(context -> {
            DeviceContext other = Verbs.load().open(context.name());
            atOnce(other::ports, other::ports, other::close);
            other.close();
        });
    }

    @Test
    void aCloseEndsAConnect() {
        try (ConnectionListener listener = listener()) {
            VerbsConnection connection = resolved(listener);
            try (ProtectionDomain domain = connection.context().openProtectionDomain();
                    VerbsCompletionQueue queue = connection.context().openCompletionQueue(16)) {
                connection.openQueuePair(domain, QueuePairAttributes.of(queue).sizes(8, 8));
                CompletableFuture<Void> connecting = CompletableFuture
                        .runAsync(() -> connection.connect(new byte[0], VerbsLink.DEADLINE.multipliedBy(10)));
                connection.close();
                assertThatThrownBy(connecting::join).hasCauseInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("in state CLOSED");
            }
        }
    }

    @Test
    void aShortWaitForAConnectionEndsBeforeALongOne() {
        ConnectionListener listener = listener();
        CompletableFuture<VerbsConnection> waiting = CompletableFuture
                .supplyAsync(() -> listener.next(VerbsLink.DEADLINE.multipliedBy(10)));
        assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> listener.next(Duration.ofMillis(1)));
        assertThat(waiting).isNotDone();
        listener.close();
        assertThatThrownBy(waiting::join).hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void whoClosesNeedNotWaitForThePeer() {
        try (VerbsLink link = new VerbsLink(8)) {
            CompletableFuture<Boolean> waiting = CompletableFuture
                    .supplyAsync(() -> link.near.connection.awaitDisconnected(VerbsLink.DEADLINE.multipliedBy(10)));
            long begin = System.nanoTime();
            link.near.pair.close();
            link.near.connection.close();
            assertThat(System.nanoTime() - begin).isLessThan(VerbsLink.DEADLINE.toNanos());
            assertThatIllegalStateException().isThrownBy(() -> {
                try {
                    waiting.join();
                } catch (java.util.concurrent.CompletionException e) {
                    throw (RuntimeException) e.getCause();
                }
            }).withMessageContaining("CLOSED");
        }
    }

    @Test
    void aConnectionGetsAnotherQueuePairForAClosedOne() {
        try (ConnectionListener listener = listener()) {
            CompletableFuture<VerbsLink.VerbsSide> accepted = CompletableFuture.supplyAsync(() -> {
                VerbsLink.VerbsSide side = new VerbsLink.VerbsSide(listener.next(VerbsLink.DEADLINE), 8);
                side.connection.accept(new byte[0], VerbsLink.DEADLINE);
                return side;
            });
            VerbsLink.VerbsSide near = new VerbsLink.VerbsSide(resolved(listener), 8);
            near.pair.close();
            QueuePair pair = near.connection.openQueuePair(near.domain, QueuePairAttributes.of(near.queue).sizes(8, 8));
            near.connection.connect(new byte[0], VerbsLink.DEADLINE);
            VerbsLink.VerbsSide far = accepted.join();
            assertThat(pair.tryWrite(near.region, 0, 8, far.region.remote(), 0, SIGNALED, 1)).isTrue();
            assertThat(near.next().kind()).isEqualTo(WorkKind.WRITE);
            near.close();
            far.close();
        }
    }
}
