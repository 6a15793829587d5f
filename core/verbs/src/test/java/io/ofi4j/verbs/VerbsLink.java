package io.ofi4j.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.Pair;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * Two queue pairs that rdma_cm has connected, on the two addresses that {@code OFI4J_VERBS_ADDRESSES} names, or on its
 * only one.
 */
final class VerbsLink implements AutoCloseable {
    static final Duration DEADLINE = Pair.DEADLINE;
    static final VerbsAccess[] ALL_RIGHTS = {VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE, VerbsAccess.REMOTE_READ,
            VerbsAccess.REMOTE_ATOMIC, VerbsAccess.WINDOW_BIND};
    static final int LENGTH = 8192;
    private static final int ENTRIES = 256;

    final VerbsSide near;
    final VerbsSide far;

    /** One end, its objects, and what its queue has reported. */
    static final class VerbsSide implements AutoCloseable {
        final VerbsConnection connection;
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionChannel channel;
        final VerbsCompletionQueue queue;
        final QueuePair pair;
        final VerbsMemoryRegion region;
        final Reported reported = new Reported();

        VerbsSide(VerbsConnection connection, int sends) {
            this.connection = connection;
            this.context = connection.context();
            this.domain = context.openProtectionDomain();
            this.channel = context.openCompletionChannel();
            this.queue = context.openCompletionQueue(ENTRIES, channel);
            this.pair = connection.openQueuePair(domain, QueuePairAttributes.of(queue).sizes(sends, 16));
            VerbsAccess[] rights = context.attributes().atomics() == DeviceAttributes.AtomicSupport.NONE
                    ? new VerbsAccess[]{VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE, VerbsAccess.REMOTE_READ}
                    : ALL_RIGHTS;
            this.region = domain.allocate(LENGTH, rights);
        }

        Reported.Completion next() { return reported.next(queue); }

        WorkError nextError() { return reported.nextError(queue); }

        WorkError errorOrNull() { return reported.errorOrNull(queue); }

        @Override
        public void close() {
            domain.windows.forEach(MemoryWindow::close);
            connection.close();
            queue.close();
            channel.close();
            region.close();
            domain.close();
        }
    }

    VerbsLink() { this(64); }

    VerbsLink(int sends) { this(sends, addresses()); }

    VerbsLink(int sends, List<String> addresses) {
        Verbs verbs = Verbs.load();
        try (ConnectionListener listener = verbs.listen(new InetSocketAddress(addresses.getFirst(), 0), 4)) {
            CompletableFuture<VerbsSide> accepted = CompletableFuture.supplyAsync(() -> {
                VerbsSide side = new VerbsSide(listener.next(DEADLINE), sends);
                side.connection.accept(side.region.remote().encode(), DEADLINE);
                return side;
            });
            near = new VerbsSide(
                    verbs.resolve(new InetSocketAddress(addresses.getLast(), 0), listener.address(), DEADLINE), sends);
            near.connection.connect(new byte[]{1, 2, 3}, DEADLINE);
            far = accepted.join();
        }
    }

    /** The addresses of RDMA devices that the tests are given; skips where there are none. */
    static List<String> addresses() {
        List<String> found = Stream.of(System.getenv().getOrDefault("OFI4J_VERBS_ADDRESSES", "").split(" "))
                .filter(address -> !address.isBlank()).toList();
        assumeTrue(!found.isEmpty(),
                "no RDMA device was named with OFI4J_VERBS_ADDRESSES; scripts/test --verbs makes two");
        return found;
    }

    @Override
    public void close() {
        near.close();
        far.close();
    }
}
