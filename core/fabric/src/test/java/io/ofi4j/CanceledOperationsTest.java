package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Operations that the close of their endpoint has canceled, and that the provider carries out later nevertheless, as
 * {@code shm} may: the memory of their regions is not freed before.
 */
@Tag("gate")
class CanceledOperationsTest {
    private static final int LENGTH = 1 << 20;
    private static final byte SENT = 42;
    private static final byte OTHER = 85;
    private static final CompletionHandler ANYTHING = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Counted by the poll.
        }

        @Override
        public void onError(CompletionError error) {
            // As the close has reported it.
        }
    };

    /** The sender closes before the receiver has posted its receive. */
    @Test
    void noBytesOfOtherRegionsAreSent() {
        try (Pair pair = new Pair(TestProviders.hints("shm").capabilities(Capability.MSG))) {
            MemoryRegion outbox = pair.domain.allocate(LENGTH, Access.SEND);
            MemoryRegion inbox = pair.domain.allocate(LENGTH, Access.RECEIVE);
            outbox.segment().fill(SENT);
            pair.endpoint.messages().send(outbox.slice(0, LENGTH), pair.far, 1);
            pair.endpoint.close();
            outbox.close();
            MemoryRegion[] others = new MemoryRegion[4];
            for (int i = 0; i < others.length; i++) {
                others[i] = pair.domain.allocate(LENGTH, Access.SEND);
                others[i].segment().fill(OTHER);
            }

            pair.farEndpoint.messages().receive(inbox.slice(0, LENGTH), 2);
            for (int poll = 0; poll < 10_000 && pair.farQueue.poll(ANYTHING, 1) == 0; poll++) {
                Thread.onSpinWait();
            }

            assertThat(inbox.segment().get(ValueLayout.JAVA_BYTE, 0)).isIn((byte) 0, SENT);
            assertThat(inbox.segment().get(ValueLayout.JAVA_BYTE, LENGTH - 1L)).isIn((byte) 0, SENT);
            for (MemoryRegion other : others) {
                other.close();
            }
            inbox.close();
        } // the domain closes, though the region may not have been deregistered before
    }

    @Test
    void theResultOfACanceledFetchIsWrittenIntoNoFreedMemory() {
        Forked.Result result = Forked.run(ClosesBehindAFetch.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("closed all");
    }

    /** The peer is another thread's, and answers when the endpoint and the region are closed. */
    static final class ClosesBehindAFetch {
        private static final FabricHints HINTS = TestProviders.hints("shm")
                .capabilities(Capability.RMA, Capability.ATOMIC).threading(ThreadingModel.DOMAIN);
        private static final int CELLS = 4 << 20;

        private ClosesBehindAFetch() {}

        /** What a thread has opened. */
        private record Side(Domain domain, CompletionQueue queue, AddressVector peers, Endpoint endpoint,
                MemoryRegion memory) {
            static Side open(Fabric fabric, Access... access) {
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                return new Side(domain, queue, peers, domain.openEndpoint().bind(queue).bind(peers).enable(),
                        domain.allocate(CELLS, access));
            }

            void close() {
                endpoint.close();
                memory.close();
                peers.close();
                queue.close();
                domain.close();
            }
        }

        public static void main(String[] arguments) throws Exception {
            Fabric fabric = Libfabric.load().openFabric(TestProviders.info(HINTS));
            CompletableFuture<EndpointAddress> nearAddress = new CompletableFuture<>();
            CompletableFuture<Side> opened = new CompletableFuture<>();
            CountDownLatch warm = new CountDownLatch(1);
            CountDownLatch resting = new CountDownLatch(1);
            CountDownLatch canceled = new CountDownLatch(1);
            CountDownLatch nearClosed = new CountDownLatch(1);
            CompletableFuture<Void> peer = CompletableFuture.runAsync(() -> {
                Side far = Side.open(fabric, Access.REMOTE_READ, Access.REMOTE_WRITE);
                opened.complete(far);
                far.peers.insert(nearAddress.join());
                while (warm.getCount() > 0) {
                    far.queue.poll(ANYTHING, 1);
                }
                resting.countDown();
                await(canceled);
                for (int poll = 0; poll < 10_000; poll++) {
                    far.queue.poll(ANYTHING, 1);
                }
                nearClosed.countDown();
                far.close();
            }, task -> Thread.ofPlatform().daemon().start(task));
            Side near = Side.open(fabric, Access.READ, Access.WRITE);
            nearAddress.complete(near.endpoint.address());
            Side far = opened.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            Peer target = near.peers.insert(far.endpoint.address());
            fetch(near, target, far);
            Waiting.YIELD.until(() -> near.queue.poll(ANYTHING, 1) > 0, Pair.DEADLINE);
            warm.countDown();
            await(resting);
            fetch(near, target, far);

            near.endpoint.close();
            near.memory.close();
            canceled.countDown();
            await(nearClosed);
            for (int poll = 0; poll < 1_000; poll++) {
                near.queue.poll(ANYTHING, 1);
            }
            near.close();
            peer.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            System.out.println("closed all");
        }

        private static void fetch(Side near, Peer target, Side far) {
            Waiting.YIELD.until(() -> near.endpoint.atomics().tryFetch(AtomicOperation.SUM, Datatype.INT64, 1L,
                    near.memory, 0, target, far.memory.remote(), 0, 1), Pair.DEADLINE);
        }

        private static void await(CountDownLatch latch) {
            try {
                if (!latch.await(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)) { throw new AssertionError("late"); }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
