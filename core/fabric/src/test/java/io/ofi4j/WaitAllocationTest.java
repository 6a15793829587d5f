package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.AllocatedBytes;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.PollGroup;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Waits allocate nothing, whether they block, sleep or find something at once, also where they are interpreted. */
@Tag("gate")
@Tag("once")
@Timeout(600)
class WaitAllocationTest {
    /** The JDK makes code for a method handle at its 127th call, and allocates: which wait that is, is chance. */
    private static final String AS_EVER = "-Djava.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD=-1";

    @ForEachProvider
    @MethodSource("io.ofi4j.WaitTest#providersAndWaitObjects")
    void waitsAllocateNothing(String provider, WaitObject object) {
        Forked.Result result = Forked.run(Waits.class, "-Xint", AS_EVER, provider, object.name());

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines()).contains("await of nothing: 0 bytes", "await of a message: 0 bytes",
                "await with a spin: 0 bytes", "poll group: 0 bytes", "poll group with a spin: 0 bytes",
                "counter: 0 bytes", "counter with a spin: 0 bytes", "done");
        if (object == WaitObject.FD) {
            assertThat(result.output().lines()).contains("block: 0 bytes", "blocking: 0 bytes");
        }
    }

    static Stream<Arguments> eventQueues() {
        return TestProviders.connected().flatMap(
                provider -> Stream.of(WaitObject.NONE, WaitObject.FD).map(object -> Arguments.of(provider, object)));
    }

    @ParameterizedTest
    @MethodSource("eventQueues")
    void waitsForEventsAllocateNothing(String provider, WaitObject object) {
        Forked.Result result = Forked.run(EventWaits.class, "-Xint", AS_EVER, provider, object.name());

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines()).contains("await: 0 bytes", "done");
    }

    private static final class EventWaits {
        private EventWaits() {}

        public static void main(String[] arguments) {
            FabricHints hints = TestProviders.connectedHints(arguments[0]);
            EventQueueAttributes attributes = EventQueueAttributes.defaults()
                    .waitObject(WaitObject.valueOf(arguments[1]));
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints));
                    EventQueue events = fabric.openEventQueue(attributes);
                    EventQueue others = fabric.openEventQueue(attributes);
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    PassiveEndpoint listener = fabric.openPassiveEndpoint(fabric.info()).bind(events).listen();
                    Endpoint endpoint = domain.openEndpoint().bind(events).bind(queue).enable()) {
                Waits.round(Waits.COUNTS_BEFORE, () -> events.await(Waits.SHORT)); // each comes to its block
                System.out.println("await: " + Waits.round(Waits.WAITS, () -> events.await(Waits.SHORT)) + " bytes");
                System.out.println(others + " and " + endpoint + " were open, and " + listener);
            }
            System.out.println("done");
        }
    }

    private static final class Waits {
        private static final int WAITS = 20;
        /** Meanwhile classes are loaded, and a queue makes places for operations. */
        private static final int WAITS_BEFORE = 200;
        private static final int COUNTS_BEFORE = 200;
        private static final int LENGTH = 8;
        /** Long enough to come to the sleeps that follow the spins. */
        private static final Duration SHORT = Duration.ofMillis(5);
        private static final Duration VERY_SHORT = Duration.ofNanos(10_000);
        private static final long COUNT_NANOS = 100_000;
        /** A wait for so many takes a fifth of a second or more. */
        private static final int LONG_COUNT = 2000;
        private static final int LONG_WAITS = 3;
        private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

        private final Pair pair;
        private long received;
        private Duration deadline;

        private Waits(Pair pair) { this.pair = pair; }

        public static void main(String[] arguments) throws InterruptedException {
            FabricHints hints = TestProviders.hints(arguments[0]).capabilities(Capability.RMA, Capability.MSG);
            WaitObject object = WaitObject.valueOf(arguments[1]);
            try (Pair pair = new Pair(hints, CompletionQueueAttributes.defaults().waitObject(object));
                    MemoryRegion region = pair.domain.allocate(2 * LENGTH, Access.values())) {
                Waits waits = new Waits(pair);
                waits.measure(region, object == WaitObject.FD);
                waits.measureCounter(object);
            }
            System.out.println("done");
        }

        private void measure(MemoryRegion region, boolean hasDescriptor) {
            measure("await of nothing", () -> pair.queue.await(NOTHING, 16, deadline));
            measure("await with a spin", () -> pair.queue.await(NOTHING, 16, deadline, VERY_SHORT));
            Messages sends = pair.endpoint.messages();
            Messages receives = pair.farEndpoint.messages();
            CompletionHandler receiving = (token, flags, length, data) -> received += token;
            measure("await of a message", () -> {
                received = 0;
                while (!receives.tryReceive(region, 0, LENGTH, 1)) {
                    pair.farQueue.poll(receiving, 16);
                }
                while (!sends.trySend(region, LENGTH, LENGTH, pair.far, 0)) {
                    pair.queue.poll(receiving, 16);
                    pair.farQueue.poll(receiving, 16); // the peer makes progress, too
                }
                while (received == 0) {
                    pair.queue.poll(receiving, 16);
                    pair.farQueue.await(receiving, 16, deadline);
                }
            });
            try (PollGroup group = new PollGroup()) {
                group.add(pair.queue, NOTHING);
                measure("poll group", () -> group.await(deadline));
                measure("poll group with a spin", () -> group.await(deadline, VERY_SHORT));
            }
            if (!hasDescriptor) { return; }
            Waitable[] queues = {pair.queue};
            measure("block", () -> Waiting.block(deadline, queues));
            Waiting blocking = Waiting.blocking(pair.queue);
            measure("blocking", () -> blocking.tryUntil(() -> false, deadline));
        }

        /** Each wait ends when another thread has counted. */
        private void measureCounter(WaitObject object) throws InterruptedException {
            WaitObject its = object == WaitObject.NONE ? object : WaitObject.UNSPECIFIED;
            try (Counter counter = pair.domain.openCounter(CounterAttributes.defaults().waitObject(its))) {
                round(WAITS_BEFORE, () -> counter.await(0, Pair.DEADLINE));
                Thread counting = Thread.ofPlatform().start(() -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        counter.add(1);
                        LockSupport.parkNanos(COUNT_NANOS);
                    }
                });
                // A busy machine may let any of the measured waits last: what only long ones need is loaded before.
                round(LONG_WAITS, () -> counter.await(counter.read() + LONG_COUNT, Pair.DEADLINE));
                round(LONG_WAITS, () -> counter.await(counter.read() + LONG_COUNT, Pair.DEADLINE, VERY_SHORT));
                measure("counter", COUNTS_BEFORE, () -> counter.await(counter.read() + 2, Pair.DEADLINE));
                measure("counter with a spin", COUNTS_BEFORE,
                        () -> counter.await(counter.read() + 2, Pair.DEADLINE, VERY_SHORT));
                counting.interrupt();
                counting.join();
            }
        }

        private void measure(String name, Runnable wait) { measure(name, WAITS_BEFORE, wait); }

        /** Prints what some waits allocate, after many others. */
        private void measure(String name, int waitsBefore, Runnable wait) {
            deadline = VERY_SHORT;
            round(waitsBefore, wait);
            deadline = SHORT;
            round(WAITS, wait);
            System.out.println(name + ": " + round(WAITS, wait) + " bytes");
        }

        private static long round(int waits, Runnable wait) {
            long before = AllocatedBytes.now();
            for (int i = 0; i < waits; i++) {
                wait.run();
            }
            return AllocatedBytes.now() - before;
        }
    }
}
