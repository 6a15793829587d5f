package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Collective operations in flight: how many there may be, and what becomes of them when an endpoint closes. */
@Timeout(600)
class CollectivesInFlightTest {
    private static final String PROVIDER = "tcp;ofi_rxm";
    private static final int POLLS = 1000;

    /** Both ends of a pair in a group. */
    private static final class Both implements AutoCloseable {
        final Pair pair;
        final CollectiveGroup near;
        final CollectiveGroup far;

        Both(CompletionQueueAttributes attributes) {
            FabricHints hints = FabricHints.collectives().provider(PROVIDER).source(TestProviders.address(PROVIDER),
                    null);
            pair = new Pair(hints, attributes);
            List<Peer> members = List.of(pair.vector.insert(pair.endpoint.address()), pair.far);
            List<CollectiveGroup> groups = Stream.of(pair.endpoint, pair.farEndpoint)
                    .map(endpoint -> endpoint.collectives().join(members)).toList();
            groups.forEach(group -> group.awaitJoined(Pair.DEADLINE));
            near = groups.getFirst();
            far = groups.getLast();
        }

        /** The tokens that come back, well or not. */
        static CompletionHandler into(List<Long> tokens) {
            return new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) { tokens.add(token); }

                @Override
                public void onError(CompletionError error) {
                    if (error.token() != NO_TOKEN) { tokens.add(error.token()); } // of a message between the members
                }
            };
        }

        /** All that comes back within some polls. */
        static List<Long> returned(CompletionQueue queue) {
            List<Long> tokens = new ArrayList<>();
            for (int poll = 0; poll < POLLS; poll++) {
                queue.poll(into(tokens), 16);
            }
            return tokens;
        }

        @Override
        public void close() { pair.close(); }
    }

    /** Each needs the vector and the queues of its endpoints. */
    @Test
    void peersComeAndGoWhileEndpointsJoinGroups() throws InterruptedException {
        try (Both both = new Both(CompletionQueueAttributes.defaults())) {
            List<Peer> members = List.of(both.pair.vector.insert(both.pair.endpoint.address()), both.pair.far);
            EndpointAddress stranger = EndpointAddress.of(new InetSocketAddress("127.0.0.1", 9));
            AtomicBoolean ends = new AtomicBoolean();
            List<Throwable> thrown = new CopyOnWriteArrayList<>();
            Thread other = Thread.ofPlatform().uncaughtExceptionHandler((_, e) -> thrown.add(e)).start(() -> {
                while (!ends.get()) {
                    both.pair.vector.remove(both.pair.vector.insert(stranger));
                }
            });
            for (int group = 0; group < 50; group++) {
                List<CollectiveGroup> groups = Stream.of(both.pair.endpoint, both.pair.farEndpoint)
                        .map(endpoint -> endpoint.collectives().join(members)).toList();
                groups.forEach(one -> one.awaitJoined(Pair.DEADLINE));
            }
            ends.set(true);
            other.join();

            assertThat(thrown).isEmpty();
        }
    }

    /** One more would find no receive: the provider forgets it, without an error. */
    @Test
    void asManyAsTheProviderHasReceivesForAreAcceptedAndAllComplete() {
        try (Both both = new Both(CompletionQueueAttributes.defaults().size(5000))) {
            long most = both.pair.endpoint.info().receive().size() - 1;
            List<Long> near = new ArrayList<>();
            List<Long> far = new ArrayList<>();
            long posted = 0;
            while (posted < 5000 && both.near.tryBarrier(posted)) {
                posted++;
            }
            assertThat(posted).isLessThanOrEqualTo(most).isGreaterThan(1000);
            for (int poll = 0; poll < POLLS; poll++) { // they look for receives
                both.pair.queue.poll(Both.into(near), 16);
            }
            long count = posted;
            long[] answered = {0};
            Waiting.YIELD.until(() -> {
                if (answered[0] < count && both.far.tryBarrier(answered[0])) { answered[0]++; }
                both.pair.farQueue.poll(Both.into(far), 64);
                both.pair.queue.poll(Both.into(near), 64);
                return near.size() == count && far.size() == count;
            }, Pair.DEADLINE);
            assertThat(near).containsExactlyInAnyOrderElementsOf(LongStream.range(0, posted).boxed().toList());
        }
    }

    /** The far end's last one may find what the near end has sent before, and complete. */
    @Test
    void whatACloseBreaksOffComesBackOnce() {
        try (Both both = new Both(CompletionQueueAttributes.defaults())) {
            LongStream.rangeClosed(1, 3).forEach(both.near::barrier);
            LongStream.rangeClosed(1, 2).forEach(both.far::barrier);
            both.pair.endpoint.close();
            assertThat(Both.returned(both.pair.queue)).containsExactlyInAnyOrder(1L, 2L, 3L);
            assertThatThrownBy(() -> both.near.tryBarrier(4)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");

            both.far.barrier(3);
            List<Long> all = Both.returned(both.pair.farQueue);
            both.pair.farEndpoint.close();
            all.addAll(Both.returned(both.pair.farQueue));
            assertThat(all).containsExactlyInAnyOrder(1L, 2L, 3L);
        }
    }
}
