package io.ofi4j.hostile;

import io.ofi4j.support.Patience;
import io.ofi4j.verbs.CompletionChannel;
import io.ofi4j.verbs.ConnectionListener;
import io.ofi4j.verbs.DeviceAttributes;
import io.ofi4j.verbs.DeviceContext;
import io.ofi4j.verbs.MemoryWindow;
import io.ofi4j.verbs.ProtectionDomain;
import io.ofi4j.verbs.QueuePair;
import io.ofi4j.verbs.QueuePairAttributes;
import io.ofi4j.verbs.RemoteMemory;
import io.ofi4j.verbs.Verbs;
import io.ofi4j.verbs.VerbsAccess;
import io.ofi4j.verbs.VerbsCompletionQueue;
import io.ofi4j.verbs.VerbsConnection;
import io.ofi4j.verbs.VerbsMemoryRegion;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * The objects that the threads of {@link HostileCalls} begin with over the path of verbs: two connected queue pairs,
 * and theirs.
 */
final class HostileVerbs {
    static final List<Class<?>> STATIC = List.of(Verbs.class, RemoteMemory.class, QueuePairAttributes.class);

    /** Of the devices that the tests are given. */
    private static final String ADDRESSES = "OFI4J_VERBS_ADDRESSES";
    private static final Duration DEADLINE = Patience.seconds(20);
    private static final VerbsAccess[] IWARP_RIGHTS = {VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE,
            VerbsAccess.REMOTE_READ};
    private static final VerbsAccess[] ALL_RIGHTS = {VerbsAccess.LOCAL_WRITE, VerbsAccess.REMOTE_WRITE,
            VerbsAccess.REMOTE_READ, VerbsAccess.REMOTE_ATOMIC, VerbsAccess.WINDOW_BIND};
    private static final int LENGTH = 4096;
    private static final int ENTRIES = 1024;

    private HostileVerbs() {}

    /** {@return one name for all of them; nothing where there are none} */
    static Stream<String> devices() {
        return System.getenv().getOrDefault(ADDRESSES, "").isBlank() ? Stream.empty() : Stream.of("libibverbs");
    }

    static void set(HostileRun run, Random random, HostilePool pool) {
        String[] addresses = System.getenv(ADDRESSES).strip().split(" ");
        Verbs verbs = Verbs.load();
        pool.add(random, verbs);
        verbs.devices().forEach(device -> pool.add(random, device));
        try (ConnectionListener listener = verbs.listen(new InetSocketAddress(addresses[0], 0), 4)) {
            CompletableFuture<VerbsConnection> far = CompletableFuture.supplyAsync(() -> {
                VerbsConnection accepting = listener.next(DEADLINE);
                addEnd(new Random(1), pool, accepting);
                accepting.accept(new byte[0], DEADLINE);
                return accepting;
            });
            VerbsConnection near = verbs.resolve(new InetSocketAddress(addresses[addresses.length - 1], 0),
                    listener.address(), DEADLINE);
            addEnd(random, pool, near);
            near.connect(new byte[0], DEADLINE);
            far.join();
        }
        run.tried("rounds of queue pairs");
    }

    private static void addEnd(Random random, HostilePool pool, VerbsConnection connection) {
        DeviceContext context = connection.context();
        ProtectionDomain domain = context.openProtectionDomain();
        CompletionChannel channel = context.openCompletionChannel();
        VerbsCompletionQueue queue = context.openCompletionQueue(ENTRIES, channel);
        QueuePairAttributes attributes = QueuePairAttributes.of(queue);
        QueuePair pair = connection.openQueuePair(domain, attributes);
        boolean hasAtomics = context.attributes().atomics() != DeviceAttributes.AtomicSupport.NONE;
        VerbsMemoryRegion region = domain.allocate(LENGTH, hasAtomics ? ALL_RIGHTS : IWARP_RIGHTS);
        pool.lend(random, context); // the connection closes it
        Stream.of(connection, domain, channel, queue, attributes, pair, region, region.remote())
                .forEach(object -> pool.add(random, object));
        if (hasAtomics) { pool.add(random, domain.openWindow(MemoryWindow.Type.TWO)); }
    }
}
