package io.ofi4j.internal.quirks.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An shm endpoint is closed while another of its process has something under way to it: what that one looks into stays
 * mapped as long as it may look. In a JVM of its own, which would end at unmapped memory.
 */
@Tag("gate")
class ShmNeighboursTest {
    private static final int READS = 8;
    private static final int POLLS = 1000;
    private static final int LENGTH = 64;

    private record Target(EndpointAddress address, RemoteRegion region) {}

    @ParameterizedTest
    @EnumSource(names = {"SAFE", "DOMAIN", "COMPLETION"})
    void anEndpointIsClosedWhoseNeighbourReadsOfAClosedRegion(ThreadingModel model) {
        survives(ReadsOfAClosedRegion.class, model.name());
    }

    @Test
    void aThreadClosesAnEndpointThatReadsOfAnotherThreadWereAnsweredBy() { survives(ReadsOfAnotherThread.class); }

    @ParameterizedTest
    @EnumSource(names = {"SAFE", "DOMAIN", "COMPLETION"})
    void anEndpointIsOpenedWithAVectorWhoseOnlyEndpointWasReadFromByOneThatIsClosed(ThreadingModel model) {
        survives(OpensAfterBothAreClosed.class, model.name());
    }

    @Test
    void anEndpointIsOpenedByAThreadWhoseVectorKnowsOneThatAnotherThreadHasClosed() {
        survives(OpensAfterAnotherThreadHasClosed.class);
    }

    private static void survives(Class<?> main, String... arguments) {
        Forked.Result result = Forked.run(main, arguments);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Each read has come back, and of no closed endpoint anything is mapped any more. */
    private static void check(Pair pair, int posted) {
        if (posted == 0 || pair.completed.size() + pair.errors.size() != posted) {
            throw new AssertionError(posted + " posted, " + pair.completed + " completed, failed: " + pair.errors);
        }
        try {
            List<String> mapped = Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1).stream()
                    .filter(line -> line.contains(" /dev/shm/")).toList();
            if (!mapped.isEmpty()) { throw new AssertionError("still mapped: " + mapped); }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Afterwards the two ends know each other. */
    private static void readOnce(Pair pair, MemoryRegion region, Peer peer, RemoteRegion remote) {
        readOnce(pair, pair.rma(), region, peer, remote);
    }

    private static void readOnce(Pair pair, Rma rma, MemoryRegion region, Peer peer, RemoteRegion remote) {
        boolean[] posted = new boolean[1];
        Waiting.YIELD.until(() -> {
            posted[0] = posted[0] || rma.tryRead(region, 0, LENGTH, peer, remote, 0, 0);
            pair.poll();
            return !pair.completed.isEmpty();
        }, Pair.DEADLINE);
        pair.completed.clear();
    }

    /** {@return how many there was room for} */
    private static int read(Pair pair, MemoryRegion region, Peer peer, RemoteRegion remote) {
        int posted = 0;
        while (posted < READS && pair.rma().tryRead(region, 0, LENGTH, peer, remote, 0, posted + 1)) {
            posted++;
        }
        return posted;
    }

    private static void pollOften(Pair pair) {
        for (int poll = 0; poll < POLLS; poll++) {
            pair.pollNear();
        }
    }

    static final class ReadsOfAClosedRegion {
        private ReadsOfAClosedRegion() {}

        public static void main(String[] arguments) {
            int posted;
            Pair pair = new Pair(TestProviders.hints("shm").threading(ThreadingModel.valueOf(arguments[0])));
            try (pair; MemoryRegion region = pair.domain.allocate(LENGTH, Access.READ)) {
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_READ);
                RemoteRegion remote = target.remote();
                readOnce(pair, region, pair.far, remote);
                target.close();
                posted = read(pair, region, pair.far, remote); // with libfabric 2.x these never complete
                pair.farEndpoint.close();
                pollOften(pair);
                pair.endpoint.close();
                pair.pollNear();
            }
            check(pair, posted);
        }
    }

    /** The vector knows the reader though nobody inserted it, and outlives the endpoint that was read from. */
    static final class OpensAfterBothAreClosed {
        private OpensAfterBothAreClosed() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(TestProviders.hints("shm").threading(ThreadingModel.valueOf(arguments[0])));
                    MemoryRegion region = pair.domain.allocate(LENGTH, Access.READ, Access.REMOTE_READ);
                    AddressVector vector = pair.domain.openAddressVector()) {
                Endpoint target = pair.domain.openEndpoint().bind(vector).bind(pair.farQueue).enable();
                Peer peer = pair.vector.insert(target.address());
                Endpoint reader = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).enable();
                readOnce(pair, reader.rma(), region, peer, region.remote());
                target.close();
                reader.close();
                // its memory comes where the first one's was, and not where the second one's was
                pair.domain.openEndpoint().bind(vector).bind(pair.farQueue).enable().close();
            }
        }
    }

    /** The thread that closes may not touch the other's vector, which has no endpoint then. */
    static final class OpensAfterAnotherThreadHasClosed {
        private static final SynchronousQueue<Target> TARGET = new SynchronousQueue<>();
        private static final CountDownLatch READ = new CountDownLatch(1);
        private static final CountDownLatch TARGET_CLOSED = new CountDownLatch(1);
        private static final CountDownLatch READER_CLOSED = new CountDownLatch(1);

        private OpensAfterAnotherThreadHasClosed() {}

        public static void main(String[] arguments) throws InterruptedException {
            Thread other = Thread.ofPlatform().start(OpensAfterAnotherThreadHasClosed::openAgain);
            try (Pair pair = new Pair(ReadsOfAnotherThread.hints());
                    MemoryRegion region = pair.domain.allocate(LENGTH, Access.READ)) {
                Target target = TARGET.take();
                Peer peer = pair.vector.insert(target.address);
                Endpoint reader = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).enable();
                readOnce(pair, reader.rma(), region, peer, target.region);
                READ.countDown();
                TARGET_CLOSED.await();
                reader.close();
            }
            READER_CLOSED.countDown(); // what is opened next is mapped where the pair was, and not where the reader was
            other.join();
        }

        private static void openAgain() {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(ReadsOfAnotherThread.hints()));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    MemoryRegion region = domain.allocate(LENGTH, Access.REMOTE_READ);
                    AddressVector vector = domain.openAddressVector()) {
                Endpoint first = domain.openEndpoint().bind(vector).bind(queue).enable();
                TARGET.put(new Target(first.address(), region.remote()));
                Waiting.YIELD.until(() -> {
                    queue.progress();
                    return READ.getCount() == 0;
                }, Pair.DEADLINE);
                first.close();
                TARGET_CLOSED.countDown();
                READER_CLOSED.await();
                domain.openEndpoint().bind(vector).bind(queue).enable().close();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static final class ReadsOfAnotherThread {
        private static final SynchronousQueue<Target> TARGET = new SynchronousQueue<>();
        private static final CountDownLatch CONNECTED = new CountDownLatch(1);
        private static final CountDownLatch POSTED = new CountDownLatch(1);

        private ReadsOfAnotherThread() {}

        public static void main(String[] arguments) throws InterruptedException {
            int posted;
            Pair pair = new Pair(hints());
            Thread other = Thread.ofPlatform().start(ReadsOfAnotherThread::answer);
            try (pair; MemoryRegion region = pair.domain.allocate(LENGTH, Access.READ)) {
                Target target = TARGET.take();
                Peer peer = pair.vector.insert(target.address);
                readOnce(pair, region, peer, target.region);
                CONNECTED.countDown();
                posted = read(pair, region, peer, target.region);
                POSTED.countDown();
                other.join();
                pollOften(pair);
                pair.endpoint.close();
                pair.pollNear();
            }
            check(pair, posted);
        }

        private static FabricHints hints() { return TestProviders.hints("shm").threading(ThreadingModel.DOMAIN); }

        /** Works off what the other thread has posted, which is not polling. */
        private static void answer() {
            try (Pair pair = new Pair(hints());
                    MemoryRegion region = pair.domain.allocate(LENGTH, Access.REMOTE_READ)) {
                TARGET.put(new Target(pair.endpoint.address(), region.remote()));
                Waiting.YIELD.until(() -> {
                    pair.poll();
                    return CONNECTED.getCount() == 0;
                }, Pair.DEADLINE);
                POSTED.await();
                pollOften(pair);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
