package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Epoll;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A program that has an epoll loop of its own puts wait descriptors beside its others, and asks tryWait before it
 * sleeps.
 */
@Timeout(600)
class EpollTest {
    private static final Duration DEADLINE = Patience.seconds(60);
    /** Much longer than anything takes: a loop that only this wakes does not end in time. */
    private static final int LONG_MILLIS = 5000;
    private static final long NEAR = 0x1_0000_0001L;
    private static final long FAR = 0x2_0000_0002L;
    private static final long OWN = 0x3_0000_0003L;
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};
    private static final CompletionQueueAttributes WITH_DESCRIPTOR = CompletionQueueAttributes.defaults()
            .waitObject(WaitObject.FD);

    /** What the application's loop has seen. */
    private static final class Loop {
        final List<Long> woken = new ArrayList<>();
        final long start = System.nanoTime();
        int turns;

        /** One turn: sleeps if it may. */
        void turn(Epoll epoll, boolean maySleep) {
            turns++;
            if (maySleep) { woken.addAll(epoll.await(LONG_MILLIS)); }
        }

        /** All that one loop waits for has one deadline. */
        void until(Supplier<Boolean> ended) {
            do {
                assertThat(System.nanoTime() - start).as("nanoseconds").isLessThan(DEADLINE.toNanos());
            } while (!ended.get());
        }
    }

    /** Reads, for both ends of one have something to wait for; a write may be over once it is posted. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void completionsWakeIt(String provider) {
        if (provider.matches("shm|udp;ofi_rxd")) {
            assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> pair(provider).close())
                    .isInstanceOfAny(UnsupportedOperationException.class, FabricException.class)
                    .withMessageContaining(provider);
            return;
        }
        int count = 100;
        try (Pair pair = pair(provider);
                Epoll epoll = new Epoll();
                MemoryRegion here = pair.domain.allocate(8, Access.READ);
                MemoryRegion there = pair.domain.allocate(8, Access.REMOTE_READ)) {
            epoll.add(pair.queue.waitDescriptor(), NEAR);
            epoll.add(pair.farQueue.waitDescriptor(), FAR);
            List<Long> tokens = new ArrayList<>();
            Loop loop = new Loop();
            for (long token = 0; token < count; token++) {
                long one = token;
                pair.rma().read(here.slice(0, 8), pair.far, there.remote(), token);
                loop.until(() -> {
                    loop.turn(epoll, pair.fabric.tryWait(pair.queue, pair.farQueue));
                    pair.queue.poll((t, f, l, d) -> tokens.add(t), 16);
                    pair.farQueue.poll(NOTHING, 16);
                    return tokens.size() > one;
                });
            }
            assertThat(tokens).containsExactlyElementsOf(LongStream.range(0, count).boxed().toList());
            assertThat(loop.turns).as("a loop that spins turns a million times").isLessThan(count * 100);
            assertThat(loop.woken).isSubsetOf(NEAR, FAR);
            aSignalAndTheApplicationsOwnDescriptorWakeIt(pair, epoll);
        }
    }

    private static Pair pair(String provider) { return new Pair(TestProviders.hints(provider), WITH_DESCRIPTOR); }

    private static void aSignalAndTheApplicationsOwnDescriptorWakeIt(Pair pair, Epoll epoll) {
        quiet(pair, epoll);
        pair.farQueue.signal();
        assertThat(epoll.await(LONG_MILLIS)).contains(FAR);
        quiet(pair, epoll);
        epoll.addReadable(OWN);
        assertThat(epoll.await(LONG_MILLIS)).contains(OWN);
    }

    /** Where nothing is there any more, the queues let it sleep. */
    private static void quiet(Pair pair, Epoll epoll) {
        new Loop().until(() -> {
            pair.queue.poll(NOTHING, 16);
            pair.farQueue.poll(NOTHING, 16);
            return pair.fabric.tryWait(pair.queue, pair.farQueue) && epoll.await(0).isEmpty();
        });
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void eventsWakeIt(String provider) {
        FabricInfo info = TestProviders.info(TestProviders.connectedHints(provider));
        EventQueueAttributes attributes = EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable();
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                EventQueue events = fabric.openEventQueue(attributes);
                EventQueue callers = fabric.openEventQueue(attributes);
                PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen();
                CompletionQueue queue = domain.openCompletionQueue();
                Endpoint caller = domain.openEndpoint(info.withDestination(passive.address())).bind(callers).bind(queue)
                        .enable();
                Epoll epoll = new Epoll()) {
            epoll.add(events.waitDescriptor(), NEAR);
            epoll.add(callers.waitDescriptor(), FAR);
            caller.connection().connect(passive.address());
            List<Event> seen = new ArrayList<>();
            Loop loop = new Loop();
            loop.until(() -> {
                loop.turn(epoll, fabric.tryWait(events, callers));
                events.read().ifPresent(seen::add);
                callers.read();
                return !seen.isEmpty();
            });
            assertThat(seen.getFirst()).isInstanceOfSatisfying(Event.ConnectionRequested.class,
                    asked -> asked.request().reject());
            events.write(7, 8);
            loop.until(() -> {
                loop.turn(epoll, fabric.tryWait(events, callers));
                events.read().ifPresent(seen::add);
                callers.read();
                return seen.contains(new Event.Notification(7, 8));
            });
            assertThat(loop.turns).as("a loop that spins turns a million times").isLessThan(10_000);
        }
    }
}
