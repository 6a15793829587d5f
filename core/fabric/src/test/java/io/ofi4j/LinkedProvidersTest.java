package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.Refusal;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The provider lnx, which links others, of libfabric 2.2 and newer. Its addresses are longer than the format in its
 * info says, it registers memory with fi_mr_regattr alone, and early versions report SIZE_MAX contexts. It reads its
 * links once, so each test has a JVM of its own.
 */
class LinkedProvidersTest {
    private static final String NAME = "lnx";
    private static final String NONE = "there is no such provider";

    private static Forked.Result run(String links) { return run(Sends.class, links); }

    private static Forked.Result run(Class<?> program, String links) {
        Forked.Result result = Forked.run(program, links);
        assumeFalse(result.output().contains(NONE), "this libfabric does not link providers");
        return result;
    }

    @Test
    void taggedMessagesArriveWholeOverSharedMemoryAndSockets() {
        Forked.Result result = run("shm+tcp:lo");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("arrived 8", "arrived 4096", "arrived 65536", "closed");
    }

    @Test
    void taggedMessagesArriveWholeOverSharedMemoryAlone() {
        Forked.Result result = run("shm");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("arrived 8", "arrived 4096", "arrived 65536", "closed");
    }

    /** Each ends a C program, or has it wait for ever. */
    @Test
    void whatUsesAnEndpointThatThereIsNotIsRefused() {
        Forked.Result result = run(Refusals.class, "shm+tcp:lo");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("before: ofi4j refuses insertions", "second: ofi4j refuses more than one",
                "two segments: ofi4j refuses messages of several", "behind: ofi4j refuses insertions",
                "several: ofi4j refuses insertions", "one after the other: ofi4j refuses more than one", "removed",
                "closed");
    }

    /** It has no fi_trywait, and its descriptor stays readable behind the first event. */
    @Test
    void aLoopThatWaitsForEventsDoesNotSpin() {
        Forked.Result result = run(Events.class, "shm+tcp:lo");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("an event ends a wait", "turns at most once a millisecond: true");
    }

    static final class Events {
        private static final long NANOS = 200_000_000;

        private Events() {}

        public static void main(String[] arguments) {
            List<FabricInfo> found = find(arguments[0]);
            if (found.isEmpty()) { return; }
            try (Fabric fabric = Libfabric.load().openFabric(found.getFirst());
                    EventQueue queue = fabric
                            .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable())) {
                queue.write(1, 2);
                Waiting.block(Pair.DEADLINE, queue);
                queue.read().orElseThrow();
                Thread.ofPlatform().start(() -> queue.write(3, 4));
                queue.read(Pair.DEADLINE);
                System.out.println("an event ends a wait");
                int turns = 0;
                long start = System.nanoTime();
                for (long left = NANOS; left > 0; left = NANOS - (System.nanoTime() - start)) {
                    Waiting.block(Duration.ofNanos(left), queue);
                    queue.read();
                    turns++;
                }
                System.out.println("turns at most once a millisecond: " + (turns <= 2 * NANOS / 1_000_000));
            }
        }
    }

    /** {@return its infos; none, which it says, where there is no such provider} */
    private static List<FabricInfo> find(String links) {
        try {
            return Libfabric.load(Map.of("FI_LNX_PROV_LINKS", links)).info(FabricHints.tagged().provider(NAME));
        } catch (NoProviderException e) {
            System.out.println(NONE);
            return List.of();
        }
    }

    static final class Refusals {
        private Refusals() {}

        public static void main(String[] arguments) {
            List<FabricInfo> found = find(arguments[0]);
            if (found.isEmpty()) { return; }
            try (End far = new End(found.getFirst());
                    Domain domain = far.fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector()) {
                EndpointAddress address = far.endpoint.address();
                EndpointAddress other;
                Peer peer;
                System.out.println("before: " + Refusal.of(() -> vector.insert(address)));
                try (Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                    System.out.println("second: " + Refusal.of(domain::openEndpoint));
                    PreparedMessage two = far.endpoint.tagged().prepare().local(far.region, 0, 8).local(far.region, 8,
                            8);
                    System.out.println("two segments: " + Refusal.of(() -> two.tryReceive(1)));
                    other = endpoint.address();
                    peer = vector.insert(address);
                }
                System.out.println("behind: " + Refusal.of(() -> vector.insert(other)));
                System.out.println(
                        "several: " + vector.insertAll(List.of(other)).getFirst().failure().orElseThrow().getMessage());
                System.out.println("one after the other: " + Refusal.of(domain::openEndpoint));
                vector.remove(peer);
                System.out.println("removed");
            }
            System.out.println("closed");
        }
    }

    /** Two domains, because one has one endpoint. */
    static final class Sends {
        private static final Duration DEADLINE = Patience.seconds(60);
        private static final int LENGTH = 65_536;

        private Sends() {}

        public static void main(String[] arguments) {
            List<FabricInfo> found = find(arguments[0]);
            if (found.isEmpty()) { return; }
            requireRefused(FabricHints.rma());
            requireRefused(FabricHints.messages());
            requireRefused(FabricHints.any().endpointType(EndpointType.MSG));
            FabricInfo info = found.getFirst();
            require(info.endpoint().receiveContexts() != EndpointAttributes.SHARED_CONTEXT, "a context that it shares");
            try (End near = new End(info); End far = new End(info)) {
                int length = far.endpoint.address().toBytes().length;
                // a host name and two addresses
                require(length > 150 && length < 300, "addresses of " + length + " bytes");
                Peer peer = near.vector.insert(far.endpoint.address());
                require(near.vector.address(peer).equals(far.endpoint.address()), "another address");
                for (int size : new int[]{8, 4096, LENGTH}) {
                    exchange(near, far, peer, size);
                    System.out.println("arrived " + size);
                }
            }
            System.out.println("closed");
        }

        private static void exchange(End near, End far, Peer peer, int size) {
            for (int i = 0; i < size; i++) {
                near.region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + size));
            }
            int[] done = new int[2];
            far.endpoint.tagged().receive(far.region.slice(0, size), size, 0, 1);
            Waiting.YIELD.until(() -> {
                far.poll(done, 1);
                near.poll(done, 0);
                return near.endpoint.tagged().trySend(near.region, 0, size, peer, size, 2);
            }, DEADLINE);
            Waiting.YIELD.until(() -> {
                near.poll(done, 0);
                far.poll(done, 1);
                return done[0] == 1 && done[1] == 1;
            }, DEADLINE);
            require(far.region.segment().asSlice(0, size).mismatch(near.region.segment().asSlice(0, size)) < 0,
                    "other bytes");
        }

        /** It answers every call as the first. */
        private static void requireRefused(FabricHints hints) {
            try {
                require(false, Libfabric.load().info(hints.provider(NAME)) + " for " + hints);
            } catch (NoProviderException e) {
                require(e.getMessage().contains("not offered by"), e.getMessage());
            }
        }

        private static void require(boolean holds, String what) { if (!holds) { throw new AssertionError(what); } }
    }

    private static final class End implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final AddressVector vector;
        final Endpoint endpoint;
        final MemoryRegion region;

        End(FabricInfo info) {
            fabric = Libfabric.load().openFabric(info);
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue(CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED));
            vector = domain.openAddressVector();
            endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            region = domain.allocate(Sends.LENGTH, Access.SEND, Access.RECEIVE);
        }

        void poll(int[] done, int index) { queue.poll((token, flags, length, data) -> done[index]++, 8); }

        @Override
        public void close() {
            region.close();
            endpoint.close();
            vector.close();
            queue.close();
            domain.close();
            fabric.close();
        }
    }
}
