package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Peers come and go, and may be addressed wrongly; no provider may end the JVM over it. Each test has a JVM of its own.
 */
@Tag("gate")
class PeerSurvivalTest {
    private static final int TIMES = 50;

    private static void survives(Class<?> main, String provider) {
        Forked.Result result = Forked.run(main, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void injectingToAPeerThatHasGone(String provider) { survives(InjectsToAPeerThatHasGone.class, provider); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void closingAnEndpointThatSomebodyConnectsTo(String provider) { survives(ClosesWhileConnecting.class, provider); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void closingAnEndpointThatAnotherDomainOfTheProcessConnectsTo(String provider) {
        survives(ClosesBetweenDomains.class, provider);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void closingAnEndpointWhileAnotherThreadPollsItsQueue(String provider) {
        survives(ClosesWhilePolled.class, provider);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void closingTheTargetOfAWriteWithDataThatIsHalfReceived(String provider) {
        survives(ClosesTheTargetOfAHalfReceivedWrite.class, provider);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void losingTheWriterOfAWriteWithDataThatIsHalfReceived(String provider) {
        survives(ClosesTheWriterOfAHalfReceivedWrite.class, provider);
    }

    @Test
    void closingShmEndpointsThatAreKnownWithoutBeingInserted() { survives(ClosesStrangers.class, "shm"); }

    @Test
    void anAddressOfAnotherFamilyIsRefused() {
        for (String provider : TestProviders.rma().filter(name -> !name.equals("shm")).toList()) {
            try (Pair pair = new Pair(provider)) {
                byte[] bytes = pair.farEndpoint.address().toBytes();
                Arrays.fill(bytes, 0, 2, (byte) 77);
                EndpointAddress forged = EndpointAddress.of(bytes);

                assertThatIllegalArgumentException().isThrownBy(() -> pair.vector.insert(forged))
                        .withMessageContaining("family");
                assertThatIllegalArgumentException().isThrownBy(() -> pair.vector.toText(forged));
            }
        }
    }

    static final class InjectsToAPeerThatHasGone {
        private InjectsToAPeerThatHasGone() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
                pair.awaitCompletions(1);
                inject(pair, source, target);
                pair.farEndpoint.close();
                inject(pair, source, target);
            }
        }

        private static void inject(Pair pair, MemoryRegion source, MemoryRegion target) {
            for (int injected = 0; injected < TIMES; injected++) {
                try {
                    pair.rma().tryInjectWrite(source, 0, 8, pair.far, target.remote(), 0);
                } catch (IllegalStateException | FabricException e) {
                    // refused: as good as lost
                }
                if (injected % 8 == 0) { pair.queue.poll(new NothingCompletes(), 8); }
            }
        }
    }

    /** An inject completes nothing; its failure may be told. */
    private static final class NothingCompletes implements CompletionHandler {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            throw new AssertionError("an inject has completed");
        }

        @Override
        public void onError(CompletionError error) {
            if (error.token() != NO_TOKEN) { throw new AssertionError(error); }
        }
    }

    /** At the first write a connection is begun. */
    static final class ClosesWhileConnecting {
        private ClosesWhileConnecting() {}

        public static void main(String[] arguments) {
            for (int polls = 0; polls < 8; polls++) {
                ThreadingModel threading = polls % 2 == 0 ? ThreadingModel.SAFE : ThreadingModel.COMPLETION;
                try (Pair pair = new Pair(TestProviders.hints(arguments[0]).threading(threading));
                        MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                        MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                    pair.rma().tryWrite(source, 0, 8, pair.far, target.remote(), 0, 1);
                    for (int poll = 0; poll < polls; poll++) {
                        pair.poll();
                    }
                    pair.farEndpoint.close();
                    for (int poll = 0; poll < TIMES; poll++) {
                        pair.poll();
                    }
                }
            }
        }
    }

    /** The connection of a write with data ends when part of its bytes are at the target, and part are not. */
    private static final class HalfReceived {
        private static final long LENGTH = 32 << 20;
        private static final int TIMES = 5;
        private static final int POLLS = 1000;

        private HalfReceived() {}

        static void end(String provider, Function<Pair, Endpoint> closed) {
            for (int times = 0; times < TIMES; times++) {
                try (Pair pair = new Pair(provider);
                        MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                        MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                    long length = Math.min(LENGTH, pair.endpoint.info().endpoint().maximumMessageSize());
                    source.segment().fill((byte) 1);
                    pair.rma().writeData(source.slice(0, length), 7, pair.far, target.remote(), 1);
                    Waiting.YIELD.until(() -> {
                        pair.poll();
                        return target.segment().get(ValueLayout.JAVA_BYTE, 0) == 1;
                    }, Pair.DEADLINE);
                    closed.apply(pair).close();
                    for (int poll = 0; poll < POLLS; poll++) {
                        pair.poll();
                    }
                }
            }
        }
    }

    static final class ClosesTheTargetOfAHalfReceivedWrite {
        private ClosesTheTargetOfAHalfReceivedWrite() {}

        public static void main(String[] arguments) { HalfReceived.end(arguments[0], pair -> pair.farEndpoint); }
    }

    static final class ClosesTheWriterOfAHalfReceivedWrite {
        private ClosesTheWriterOfAHalfReceivedWrite() {}

        public static void main(String[] arguments) { HalfReceived.end(arguments[0], pair -> pair.endpoint); }
    }

    /** One thread opens and closes endpoints, the other polls the queue that they share. */
    static final class ClosesWhilePolled {
        private ClosesWhilePolled() {}

        public static void main(String[] arguments) throws InterruptedException {
            AtomicBoolean done = new AtomicBoolean();
            try (Pair pair = new Pair(arguments[0])) {
                Thread poller = Thread.ofPlatform().start(() -> {
                    while (!done.get()) {
                        pair.queue.progress();
                    }
                });
                for (int times = 0; times < TIMES; times++) {
                    pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).enable().close();
                }
                done.set(true);
                poller.join();
            }
        }
    }

    /** The other domain makes no progress by itself: its connection stays under way, in one stage or another. */
    static final class ClosesBetweenDomains {
        private ClosesBetweenDomains() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion there = pair.domain.allocate(8, Access.REMOTE_WRITE);
                    Domain other = pair.fabric.openDomain();
                    CompletionQueue queue = other.openCompletionQueue();
                    AddressVector vector = other.openAddressVector();
                    MemoryRegion source = other.allocate(8, Access.WRITE)) {
                for (int times = 0; times < TIMES; times++) {
                    Endpoint writer = other.openEndpoint().bind(vector).bind(queue).enable();
                    Endpoint target = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).enable();
                    writer.rma().tryWrite(source, 0, 8, vector.insert(target.address()), there.remote(), 0, times);
                    for (int polls = 0; polls < times % 8; polls++) {
                        pair.queue.progress();
                    }
                    target.close();
                    pair.queue.progress();
                    queue.progress();
                    pair.queue.progress();
                    writer.close();
                }
            }
        }
    }

    /**
     * Two endpoints write to one whose vector knows neither, and are closed. Yet shm knows who wrote, and introduces
     * the next endpoint to them; that one takes the place of one of both in memory, so that it takes two.
     */
    static final class ClosesStrangers {
        private ClosesStrangers() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(arguments[0]);
                    AddressVector empty = pair.domain.openAddressVector();
                    Endpoint target = pair.domain.openEndpoint().bind(empty).bind(pair.farQueue).enable();
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion there = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                Peer peer = pair.vector.insert(target.address());
                pair.rma().write(source.slice(0, 8), peer, there.remote(), 1);
                Endpoint other = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).enable();
                other.rma().write(source.slice(0, 8), peer, there.remote(), 2);
                pair.awaitCompletions(2);
                pair.endpoint.close();
                other.close();
                pair.domain.openEndpoint().bind(empty).bind(pair.farQueue).enable().close();
            }
        }
    }
}
