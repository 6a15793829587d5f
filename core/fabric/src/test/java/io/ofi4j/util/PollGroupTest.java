package io.ofi4j.util;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Queues, channels and descriptors in one loop. */
@Timeout(300)
class PollGroupTest {
    private static final Duration SHORT = Duration.ofMillis(30);
    /** Whoever waits so long ends with the test. */
    private static final Duration ENDLESS = Duration.ofDays(1);

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void twoQueuesAreServedInOneLoop(String provider) {
        List<Long> near = new ArrayList<>();
        List<Long> far = new ArrayList<>();
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                PollGroup group = new PollGroup()) {
            group.add(pair.queue, (token, f, l, d) -> near.add(token)).add(pair.farQueue,
                    (token, f, l, d) -> far.add(token));
            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 7);
            assertThat(group.await(Pair.DEADLINE)).isEqualTo(1);
            assertThat(near).containsExactly(7L);
            assertThat(group.await(SHORT)).isZero();
            assertThat(far).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "sockets"})
    void aGroupWaitsForEverythingAtOnce(String provider) throws IOException {
        List<String> seen = new ArrayList<>();
        WaitObject object = provider.equals("shm") ? WaitObject.NONE : WaitObject.FD;
        Pipe pipe = Pipe.open();
        int event = Descriptors.event();
        try (Pair pair = new Pair(TestProviders.hints(provider),
                CompletionQueueAttributes.defaults().waitObject(object));
                EventQueue events = pair.fabric
                        .openEventQueue(EventQueueAttributes.defaults().writable().waitObject(WaitObject.FD));
                PollGroup group = new PollGroup()) {
            pipe.source().configureBlocking(false);
            group.add(pair.queue, (t, f, l, d) -> seen.add("completion")).add(events, e -> seen.add(text(e)))
                    .add(pipe.source(), SelectionKey.OP_READ, key -> seen.add("channel" + take(pipe)))
                    .add(event, () -> {
                        Descriptors.reset(event);
                        seen.add("descriptor");
                    });
            assertThat(group.await(SHORT)).isZero();
            events.write(1, 2);
            assertThat(group.await(Pair.DEADLINE)).isEqualTo(1);
            pipe.sink().write(ByteBuffer.wrap(new byte[]{9}));
            assertThat(group.await(Pair.DEADLINE)).isEqualTo(1);
            Descriptors.signal(event);
            assertThat(group.await(Pair.DEADLINE)).isEqualTo(1);
            assertThat(seen).containsExactly("event 2", "channel1", "descriptor");
        } finally {
            Descriptors.close(event);
            pipe.source().close();
            pipe.sink().close();
        }
    }

    private static String text(Event event) {
        return event instanceof Event.Notification notification ? "event " + notification.data() : event.toString();
    }

    private static int take(Pipe pipe) {
        try {
            return pipe.source().read(ByteBuffer.allocate(8));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aChannelThatBlocksOrHasNoSuchOperationIsRefusedWithWhatToDo() throws IOException {
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel _ = pipe.sink();
                PollGroup group = new PollGroup()) {
            assertThatIllegalStateException().isThrownBy(() -> group.add(source, SelectionKey.OP_READ, key -> {}))
                    .withMessageContaining("configureBlocking(false)");
            source.configureBlocking(false);
            assertThatIllegalArgumentException().isThrownBy(() -> group.add(source, SelectionKey.OP_WRITE, key -> {}))
                    .withMessageContaining("has the operations 1 of SelectionKey, not 4");
        }
    }

    @Test
    void aWaitIsEndedByAnotherThread() {
        try (Pair pair = new Pair("sockets"); PollGroup group = new PollGroup()) {
            group.add(pair.queue, (t, f, l, d) -> {});
            CompletableFuture.delayedExecutor(50, java.util.concurrent.TimeUnit.MILLISECONDS).execute(group::wake);
            assertThat(group.await(ENDLESS)).isZero();
            group.wake();
            assertThat(group.await(ENDLESS)).as("a wake before the wait").isZero();
        }
    }

    @Test
    void aWaitIsEndedByAnInterrupt() {
        try (PollGroup group = new PollGroup()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> group.await(Pair.DEADLINE)).isInstanceOf(FabricException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aHandlerMayRemoveMembers() {
        int event = Descriptors.event();
        List<String> seen = new ArrayList<>();
        try (Pair pair = new Pair("shm"); PollGroup group = new PollGroup()) {
            group.add(event, () -> {
                seen.add("once");
                group.remove(event);
                group.remove(pair.queue);
            }).add(pair.queue, (t, f, l, d) -> seen.add("never"));
            Descriptors.signal(event);
            assertThat(group.poll()).isEqualTo(1);
            assertThat(group.poll()).isZero();
            assertThat(seen).containsExactly("once");
        } finally {
            Descriptors.close(event);
        }
    }

    @Test
    void whatIsInTheGroupAlreadyIsRefused() {
        try (Pair pair = new Pair("shm"); PollGroup group = new PollGroup()) {
            group.add(pair.queue, (t, f, l, d) -> {});
            assertThatIllegalArgumentException().isThrownBy(() -> group.add(pair.queue, (t, f, l, d) -> {}))
                    .withMessageContaining("remove it first");
            assertThatIllegalArgumentException().isThrownBy(() -> group.add(-1, () -> {}));
        }
    }

    @Test
    void aHandlerOfAChannelMayPollTheGroup() throws IOException {
        Pipe pipe = Pipe.open();
        List<Integer> inside = new ArrayList<>();
        try (PollGroup group = new PollGroup()) {
            pipe.source().configureBlocking(false);
            group.add(pipe.source(), SelectionKey.OP_READ, key -> inside.add(group.poll()));
            pipe.sink().write(ByteBuffer.allocate(1));

            assertThat(group.await(Pair.DEADLINE)).isEqualTo(1);
            assertThat(inside).containsExactly(0);
        } finally {
            pipe.source().close();
            pipe.sink().close();
        }
    }

    @Test
    void aDescriptorThatIsNotOpenIsNamed() {
        try (PollGroup group = new PollGroup()) {
            group.add(Integer.MAX_VALUE, () -> {});

            assertThatIllegalStateException().isThrownBy(group::poll)
                    .withMessageContaining("descriptor " + Integer.MAX_VALUE + " is not open");
        }
    }

    @Test
    void aClosedQueueIsNamed() {
        try (PollGroup group = new PollGroup()) {
            try (Pair pair = new Pair("shm")) {
                group.add(pair.queue, (t, f, l, d) -> {});
            }
            assertThatIllegalStateException().isThrownBy(group::poll)
                    .withMessageContaining("CompletionQueue of shm is closed");
        }
    }

    @Test
    void aSecondThreadIsRefusedWhileOneIsInside() {
        int event = Descriptors.event();
        Descriptors.signal(event);
        List<Throwable> thrown = new ArrayList<>();
        try (PollGroup group = new PollGroup()) {
            group.add(event, () -> {
                for (Runnable call : List.<Runnable>of(group::poll, () -> group.remove(event), group::close)) {
                    thrown.add(CompletableFuture.runAsync(call).handle((nothing, why) -> why).join().getCause());
                }
            });

            assertThat(group.poll()).isOne();
            assertThat(thrown).hasSize(3).allSatisfy(each -> assertThat(each).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("one thread at a time"));
        }
        Descriptors.close(event);
    }

    @Test
    void aHandlerOfAChannelMayCloseTheGroup() throws IOException {
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source(); Pipe.SinkChannel sink = pipe.sink()) {
            source.configureBlocking(false);
            sink.write(ByteBuffer.wrap(new byte[1]));
            PollGroup group = new PollGroup();
            group.add(source, SelectionKey.OP_READ, key -> group.close());
            assertThat(group.await(Pair.DEADLINE)).isEqualTo(1);
            assertThatIllegalStateException().isThrownBy(group::poll).withMessageContaining("closed");
        }
    }

    @Test
    void aClosedGroupIsNamed() {
        PollGroup group = new PollGroup();
        group.close();
        group.close();
        assertThatIllegalStateException().isThrownBy(group::poll).withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(group::wake).withMessageContaining("closed");
    }
}
