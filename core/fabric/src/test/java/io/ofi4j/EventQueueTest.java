package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.bindings.fi_ops_eq;
import io.ofi4j.bindings.fid_eq;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Event queues by themselves: what they are opened with, the application's own events, waiting, and misuse. */
@Timeout(600)
class EventQueueTest {
    private static final Duration SHORT = Duration.ofMillis(60);

    private static Fabric fabric(String provider) {
        return Libfabric.load().openFabric(TestProviders.info(TestProviders.connectedHints(provider)));
    }

    static Stream<Arguments> waitObjects() {
        return TestProviders.connected()
                .flatMap(provider -> Stream.of(WaitObject.NONE, WaitObject.UNSPECIFIED, WaitObject.FD, WaitObject.YIELD)
                        .map(object -> Arguments.of(provider, object)));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anEventThatIsPeekedStays(String provider) {
        try (Fabric fabric = fabric(provider);
                EventQueue queue = fabric.openEventQueue(EventQueueAttributes.defaults().size(16).writable())) {
            assertThat(queue.peek()).isEmpty();
            queue.write(1, 2);
            queue.write(3, 4);

            assertThat(queue.peek()).contains(new Event.Notification(1, 2));
            assertThat(queue.peek()).contains(new Event.Notification(1, 2));
            assertThat(queue.read()).contains(new Event.Notification(1, 2));
            assertThat(queue.read()).contains(new Event.Notification(3, 4));
            assertThat(queue.peek()).isEmpty();
        }
    }

    private static long failToRead(long queue, long event, long entry, long length, long flags) { return -Errno.EIO; }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anErrorThatTheCloseOfAnEndpointMeetsIsTheNextReaders(String provider) throws ReflectiveOperationException {
        MethodType type = MethodType.methodType(long.class, Collections.nCopies(5, long.class));
        MemorySegment failing = FunctionSlot.ofJava(
                MethodHandles.lookup().findStatic(EventQueueTest.class, "failToRead", type),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        try (Fabric fabric = fabric(provider);
                EventQueue queue = fabric.openEventQueue();
                Domain domain = fabric.openDomain()) {
            FunctionSlot read = FunctionSlot.in(NativeWords.get(queue.handle().address(), fid_eq.ops$offset()),
                    fi_ops_eq.read$offset());
            MemorySegment original = read.function();
            Endpoint endpoint = domain.openEndpoint().bind(queue);
            read.set(failing);
            endpoint.close();
            read.set(original);

            assertThatThrownBy(queue::read).isInstanceOf(FabricException.class).hasMessageContaining("errno 5");
            assertThat(queue.read()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("waitObjects")
    void theApplicationsOwnEventsComeBackInTheirOrder(String provider, WaitObject object) {
        EventQueueAttributes attributes = EventQueueAttributes.defaults().size(16).waitObject(object).writable();
        try (Fabric fabric = fabric(provider)) {
            if (object == WaitObject.YIELD) { // no software provider has it
                assertThatThrownBy(() -> fabric.openEventQueue(attributes))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("YIELD");
                return;
            }
            try (EventQueue queue = fabric.openEventQueue(attributes)) {
                assertThat(queue.read()).isEmpty();
                queue.write(1, -1);
                queue.write(2, Long.MIN_VALUE);

                assertThat(queue.read()).contains(new Event.Notification(1, -1));
                assertThat(queue.read(SHORT)).isEqualTo(new Event.Notification(2, Long.MIN_VALUE));
                assertThat(queue.read()).isEmpty();
                long start = System.nanoTime();
                assertThatThrownBy(() -> queue.read(SHORT)).isInstanceOf(FabricTimeoutException.class)
                        .hasMessageContaining("60 ms");
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
            }
        }
    }

    static Stream<Arguments> offeredWaitObjects() {
        return waitObjects().filter(arguments -> arguments.get()[1] != WaitObject.YIELD);
    }

    @ParameterizedTest
    @MethodSource("offeredWaitObjects")
    void anEventWakesWhoWaits(String provider, WaitObject object) throws Exception {
        try (Fabric fabric = fabric(provider)) {
            try (EventQueue queue = fabric
                    .openEventQueue(EventQueueAttributes.defaults().waitObject(object).writable())) {
                for (Thread.Builder kind : new Thread.Builder[]{Thread.ofPlatform(), Thread.ofVirtual()}) {
                    CompletableFuture<Event> read = new CompletableFuture<>();
                    kind.start(() -> {
                        try {
                            read.complete(queue.read(Pair.DEADLINE));
                        } catch (RuntimeException e) {
                            read.completeExceptionally(e);
                        }
                    });
                    assertThat(read).isNotDone();
                    queue.write(7, 8);

                    assertThat(read.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                            .isEqualTo(new Event.Notification(7, 8));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("offeredWaitObjects")
    void aSignalEndsAnAwait(String provider, WaitObject object) throws Exception {
        try (Fabric fabric = fabric(provider);
                EventQueue queue = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(object))) {
            for (Thread.Builder kind : new Thread.Builder[]{Thread.ofPlatform(), Thread.ofVirtual()}) {
                CompletableFuture<Optional<Event>> awaited = new CompletableFuture<>();
                Thread thread = kind.start(() -> awaited.complete(queue.await(Pair.DEADLINE)));
                TimeUnit.MILLISECONDS.sleep(20); // it waits, or the signal ends its wait before that
                queue.signal();

                assertThat(awaited.get(Pair.DEADLINE.toSeconds() / 2, TimeUnit.SECONDS)).isEmpty();
                thread.join();
            }
            assertThat(queue.await(SHORT)).as("the signal was taken").isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("offeredWaitObjects")
    void aSignalBeforeAnAwaitEndsItAndNoRead(String provider, WaitObject object) {
        try (Fabric fabric = fabric(provider);
                EventQueue queue = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(object))) {
            queue.signal();
            long start = System.nanoTime();
            assertThatThrownBy(() -> queue.read(SHORT)).isInstanceOf(FabricTimeoutException.class);
            assertThat(System.nanoTime() - start).as("the read waits").isGreaterThanOrEqualTo(SHORT.toNanos());

            assertThat(queue.await(Pair.DEADLINE.multipliedBy(60))).as("the signal is left").isEmpty();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void anAwaitOfADescriptorReadsTenTimesASecond(String provider) throws ReflectiveOperationException {
        MethodType type = MethodType.methodType(long.class, Collections.nCopies(5, long.class));
        MemorySegment counting = FunctionSlot.ofJava(
                MethodHandles.lookup().findStatic(EventQueueTest.class, "countRead", type),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        try (Fabric fabric = fabric(provider);
                EventQueue queue = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD))) {
            FunctionSlot read = FunctionSlot.in(NativeWords.get(queue.handle().address(), fid_eq.ops$offset()),
                    fi_ops_eq.read$offset());
            MemorySegment original = read.function();
            READS.set(0);
            read.set(counting);
            try {
                assertThat(queue.await(Duration.ofMillis(500))).isEmpty();
            } finally {
                read.set(original);
            }
            assertThat(READS.get()).as("three for each of five blocks, and some at the beginning").isLessThan(25);
        }
    }

    private static final AtomicInteger READS = new AtomicInteger();

    private static long countRead(long queue, long event, long entry, long length, long flags) {
        READS.incrementAndGet();
        return -Errno.EAGAIN;
    }

    @ParameterizedTest
    @MethodSource("offeredWaitObjects")
    void anInterruptEndsAWait(String provider, WaitObject object) throws Exception {
        try (Fabric fabric = fabric(provider)) {
            try (EventQueue queue = fabric
                    .openEventQueue(EventQueueAttributes.defaults().waitObject(object).writable())) {
                for (Thread.Builder kind : new Thread.Builder[]{Thread.ofPlatform(), Thread.ofVirtual()}) {
                    CompletableFuture<Boolean> stillInterrupted = new CompletableFuture<>();
                    Thread thread = kind.start(() -> {
                        try {
                            queue.read(Pair.DEADLINE);
                        } catch (FabricException e) {
                            assertThat(e).hasMessageContaining("interrupted");
                            assertThat(e.errno()).isEqualTo(4);
                            stillInterrupted.complete(Thread.currentThread().isInterrupted());
                        } finally {
                            stillInterrupted.complete(false);
                        }
                    });
                    thread.interrupt();

                    assertThat(stillInterrupted.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
                }
                queue.write(1, 2);
                Thread.currentThread().interrupt();
                assertThat(queue.read(SHORT)).as("what is there comes all the same")
                        .isEqualTo(new Event.Notification(1, 2));
                assertThat(Thread.interrupted()).isTrue();
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aQueueWithADescriptorGivesItToTheApplication(String provider) {
        try (Fabric fabric = fabric(provider);
                EventQueue queue = fabric
                        .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable());
                EventQueue without = fabric.openEventQueue()) {
            assertThat(queue.waitDescriptor()).isPositive();
            assertThat(queue.tryWait()).isTrue();
            assertThatIllegalStateException().isThrownBy(without::waitDescriptor).withMessageContaining("FD");
            assertThatIllegalStateException().isThrownBy(without::tryWait).withMessageContaining("FD");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void whatWasNotAskedForIsRefused(String provider) {
        try (Fabric fabric = fabric(provider); EventQueue queue = fabric.openEventQueue()) {
            assertThatThrownBy(() -> queue.write(1, 2)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("writable");
            assertThatIllegalArgumentException().isThrownBy(() -> EventQueueAttributes.defaults().size(0));
            for (WaitObject object : new WaitObject[]{WaitObject.SET, WaitObject.MUTEX_COND, WaitObject.POLLFD}) {
                assertThatThrownBy(() -> EventQueueAttributes.defaults().waitObject(object))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(object.name());
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aClosedQueueIsOfNoUse(String provider) {
        try (Fabric fabric = fabric(provider)) {
            EventQueue queue = fabric
                    .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable());
            assertThatIllegalStateException().isThrownBy(fabric::close).withMessageContaining("EventQueue");
            queue.write(1, 2);
            queue.close();
            queue.close();

            assertThatIllegalStateException().isThrownBy(queue::read).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> queue.read(SHORT)).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> queue.await(SHORT)).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(queue::signal).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> queue.write(1, 1)).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(queue::waitDescriptor).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(queue::tryWait).withMessageContaining("closed");
            PassiveEndpoint passive = fabric.openPassiveEndpoint(fabric.info());
            assertThatIllegalStateException().isThrownBy(() -> passive.bind(queue)).withMessageContaining("closed");
            passive.close();
        }
        Fabric closed = fabric(provider);
        closed.close();
        assertThatIllegalStateException().isThrownBy(closed::openEventQueue).withMessageContaining("closed");
    }

    @ParameterizedTest
    @MethodSource("offeredWaitObjects")
    void closingAQueueEndsTheWaitOfOthers(String provider, WaitObject object) throws Exception {
        try (Fabric fabric = fabric(provider)) {
            for (int round = 0; round < 8; round++) {
                EventQueue queue = fabric.openEventQueue(EventQueueAttributes.defaults().waitObject(object));
                CompletableFuture<Throwable> ended = new CompletableFuture<>();
                Thread.ofPlatform().start(() -> {
                    try {
                        queue.read(Pair.DEADLINE);
                    } catch (RuntimeException e) {
                        ended.complete(e);
                    }
                });
                TimeUnit.MILLISECONDS.sleep(5L * round); // before it waits, and at any moment of its waiting
                queue.close();

                assertThat(ended.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                        .isInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void attributesAreCopies() {
        EventQueueAttributes defaults = EventQueueAttributes.defaults();
        EventQueueAttributes changed = defaults.size(5).waitObject(WaitObject.FD).writable();

        assertThat(defaults.size()).isEmpty();
        assertThat(defaults.waitObject()).isEqualTo(WaitObject.NONE);
        assertThat(defaults.isWritable()).isFalse();
        assertThat(changed.size()).hasValue(5);
        assertThat(changed.waitObject()).isEqualTo(WaitObject.FD);
        assertThat(changed.isWritable()).isTrue();
    }

    @Test
    void eventsAreValuesThatNobodyChanges() {
        byte[] bytes = {1, 2};
        Event.Unknown unknown = new Event.Unknown(99, bytes);
        bytes[0] = 7;
        unknown.bytes()[1] = 7;
        EventError error = new EventError(Optional.empty(), 0, 0, 111, 111, "", bytes, "tcp");
        bytes[0] = 8;

        assertThat(unknown.bytes()).containsExactly(1, 2);
        assertThat(error.errorData()).containsExactly(7, 2);
        assertThat(error.toException()).hasMessageContaining("errno 111").isNotInstanceOf(ConnectionException.class);
    }
}
