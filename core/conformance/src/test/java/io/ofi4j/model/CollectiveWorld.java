package io.ofi4j.model;

import static io.ofi4j.model.CollectiveProgram.require;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.info.FabricHints;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * The members of a {@link CollectiveProgram}: endpoints of one domain, each with a queue, and memory for some
 * operations at once.
 */
final class CollectiveWorld {
    /** Operations that may be under way. */
    static final int PLACES = 12;
    /** The longest part of one. */
    static final int ELEMENTS = 512;

    private static final String PROVIDER = "tcp;ofi_rxm";
    private static final long UNTOUCHED = 0x5a5a5a5a5a5a5a5aL;
    /** Elements of a place: before and behind those of an operation is one that nothing may touch. */
    private static final int STRIDE = ELEMENTS + 2;

    final List<MemoryRegion> sources = new ArrayList<>();
    final List<MemoryRegion> results = new ArrayList<>();
    private final Fabric fabric;
    private final Domain domain;
    private final AddressVector vector;
    private final List<CompletionQueue> queues = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final List<Peer> peers = new ArrayList<>();
    /** What each member has not posted yet. */
    private final List<Queue<Part>> parts = new ArrayList<>();
    private final Map<Long, Part> inFlight = new HashMap<>();
    private long next = 1;
    private boolean isClosing;

    /** One member's part of an operation. */
    private record Part(LongPredicate post, Runnable completed) {}

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) { take(token).completed.run(); }

        @Override
        public void onError(CompletionError error) {
            if (isClosing && error.token() == NO_TOKEN) { return; } // a message inside an operation, to who has closed
            take(error.token());
            require(error.errno() == Errno.ECANCELED, error.toString());
        }
    };

    CollectiveWorld(int members) {
        FabricHints hints = FabricHints.collectives().provider(PROVIDER).source(TestProviders.address(PROVIDER), null);
        fabric = Libfabric.load().openFabric(TestProviders.info(hints));
        domain = fabric.openDomain();
        vector = domain.openAddressVector();
        for (int i = 0; i < members; i++) {
            queues.add(domain.openCompletionQueue());
            endpoints.add(domain.openEndpoint().bind(vector).bind(queues.get(i)).enable());
            peers.add(vector.insert(endpoints.get(i).address()));
            sources.add(domain.allocate((long) PLACES * STRIDE * Long.BYTES, Access.SEND));
            results.add(domain.allocate((long) PLACES * STRIDE * Long.BYTES, Access.SEND, Access.RECEIVE));
            parts.add(new ArrayDeque<>());
        }
    }

    int size() { return endpoints.size(); }

    IntStream members() { return IntStream.range(0, size()); }

    List<CollectiveGroup> join(List<Integer> ranks) {
        List<Peer> members = ranks.stream().map(peers::get).toList();
        List<CollectiveGroup> joined = ranks.stream().map(member -> endpoints.get(member).collectives().join(members))
                .toList();
        joined.forEach(group -> group.awaitJoined(Pair.DEADLINE));
        return joined;
    }

    /** In bytes. */
    static long offset(int place) { return (long) (place * STRIDE + 1) * Long.BYTES; }

    /** Fills a place of a member, and makes the other one untouched, unless it has the root's elements. */
    void fill(int member, int place, LongUnaryOperator value, boolean inPlace) {
        MemorySegment source = at(sources, member, place);
        MemorySegment result = at(results, member, place);
        for (int i = 0; i < STRIDE; i++) {
            boolean isGuard = i == 0 || i == STRIDE - 1;
            source.setAtIndex(JAVA_LONG, i, isGuard ? UNTOUCHED : value.applyAsLong(i - 1));
            result.setAtIndex(JAVA_LONG, i, isGuard || !inPlace ? UNTOUCHED : value.applyAsLong(i - 1));
        }
    }

    private static MemorySegment at(List<MemoryRegion> regions, int member, int place) {
        return regions.get(member).segment().asSlice(offset(place) - Long.BYTES, (long) STRIDE * Long.BYTES);
    }

    long got(int member, int place, int index) { return at(results, member, place).getAtIndex(JAVA_LONG, index + 1); }

    /** Whether nothing was written before a result, or behind so many elements; the root's own elements are there. */
    boolean isUntouched(int member, int place, int length, boolean inPlace) {
        MemorySegment result = at(results, member, place);
        int last = inPlace ? ELEMENTS : length;
        return result.getAtIndex(JAVA_LONG, 0) == UNTOUCHED && IntStream.rangeClosed(last + 1, STRIDE - 1)
                .allMatch(i -> result.getAtIndex(JAVA_LONG, i) == UNTOUCHED);
    }

    /** Has a member post its part of an operation when its turn comes; what checks the result. */
    void later(int member, LongPredicate post, Runnable completed) {
        parts.get(member).add(new Part(post, completed));
    }

    /** Has a member post what comes next, if there is room. */
    void post(int member) {
        Part part = parts.get(member).peek();
        if (part == null || !part.post.test(next)) { return; }
        parts.get(member).remove();
        inFlight.put(next++, part);
    }

    void poll(int member) { queues.get(member).poll(handler, 16); }

    private Part take(long token) {
        Part part = inFlight.remove(token);
        require(part != null, "token " + token + " comes back, and is not in flight");
        return part;
    }

    void closeEndpoints(Random random) {
        List<Endpoint> open = new ArrayList<>(endpoints);
        Collections.shuffle(open, random);
        isClosing = true;
        open.forEach(Endpoint::close);
    }

    void requireEveryTokenOnce() {
        for (CompletionQueue queue : queues) {
            while (queue.poll(handler, 16) > 0) {
                Thread.onSpinWait();
            }
        }
        require(inFlight.isEmpty(), "these did not come back: " + inFlight.keySet());
    }

    void close() {
        sources.forEach(MemoryRegion::close);
        results.forEach(MemoryRegion::close);
        queues.forEach(CompletionQueue::close);
        vector.close();
        domain.close();
        fabric.close();
    }
}
