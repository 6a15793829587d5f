package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.FarRegion;
import io.ofi4j.conformance.Pair;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What atomic operations promise: fi_atomic(3). */
final class AtomicRules {
    private static final int ROUNDS = 500;
    /** Of each direction between two processes, where each waits for a machine's switch of processes. */
    private static final int SUMS = 100;
    private static final int SIZE = Long.BYTES;

    private AtomicRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("sums from two sides at once lose nothing", AtomicRules::addFromBothSides);
        all.put("sums in both directions at once lose nothing", AtomicRules::addInBothDirections);
    }

    private static FabricHints hints(Subject subject) {
        FabricHints hints = subject.hints(Capability.ATOMIC);
        String found = Subject.info(hints).provider();
        if (!found.equals(subject.provider())) {
            throw new UnsupportedOperationException("only " + found + " has atomic operations");
        }
        return hints;
    }

    /** The far half adds to a number here while this one adds to a number there. */
    private static void addInBothDirections(Subject subject) throws InterruptedException {
        hints(subject);
        try (Pair pair = new Pair(subject, CompletionFormat.DATA, Pair.QUEUE, Capability.ATOMIC);
                MemoryRegion here = pair.domain.allocate(2L * SIZE, Access.READ, Access.WRITE);
                MemoryRegion sum = pair.domain.allocate(SIZE, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            if (pair.near.endpoint().atomics().valid(AtomicForm.FETCH, AtomicOperation.SUM, Datatype.INT64) == 0) {
                throw new UnsupportedOperationException("the provider has no sums of 64 bits");
            }
            FarRegion results = pair.far.allocate(2L * SIZE, Access.READ, Access.WRITE);
            FarRegion target = pair.far.allocate(SIZE, Access.REMOTE_READ, Access.REMOTE_WRITE);
            here.segment().set(ValueLayout.JAVA_LONG, 0, 1);
            long[] fetched = {0};
            pair.near.endpoint().atomics().fetch(AtomicOperation.SUM, Datatype.INT64, here.slice(0, SIZE),
                    here.slice(SIZE, SIZE), pair.peer, target.remote(), 0);
            pair.onPoll(() -> {
                if (pair.near.count() == 0 || fetched[0] == SUMS) { return; }
                Check.none("the errors", pair.near.errors);
                pair.near.done.clear();
                Check.equal("the sum that the near end fetches", here.segment().get(ValueLayout.JAVA_LONG, SIZE),
                        fetched[0]++);
                if (fetched[0] < SUMS) {
                    pair.near.endpoint().atomics().fetch(AtomicOperation.SUM, Datatype.INT64, here.slice(0, SIZE),
                            here.slice(SIZE, SIZE), pair.peer, target.remote(), fetched[0]);
                }
            });
            pair.far.sum(results, sum.remote(), pair.near.endpoint().address(), SUMS);
            pair.require("the last sum of the near end", () -> fetched[0] == SUMS);
            Check.equal("the sum of the far end", sum.segment().get(ValueLayout.JAVA_LONG, 0), SUMS);
        }
    }

    /** Each side gets every value before its own sum once. */
    private static void addFromBothSides(Subject subject) {
        FabricHints hints = hints(subject);
        try (Ends ends = new Ends(subject, hints, CompletionQueueAttributes.defaults(), Ends.QUEUES);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_READ, Access.REMOTE_WRITE);
                MemoryRegion here = ends.domain.allocate(4L * SIZE, Access.READ, Access.WRITE)) {
            if (ends.near.endpoint().atomics().valid(AtomicForm.FETCH, AtomicOperation.SUM, Datatype.INT64) == 0) {
                throw new UnsupportedOperationException("the provider has no sums of 64 bits");
            }
            Peer back = ends.back();
            Set<Long> seen = new HashSet<>();
            here.segment().set(ValueLayout.JAVA_LONG, 0, 1);
            for (long round = 1; round <= ROUNDS; round++) {
                add(ends.near, ends.peer, here, target, SIZE, round);
                add(ends.far, back, here, target, 2 * SIZE, round);
                ends.require("the results of two sums", () -> ends.near.count() == 1 && ends.far.count() == 1);
                Check.none("the errors", ends.near.errors);
                Check.none("the errors", ends.far.errors);
                for (int place = SIZE; place <= 2 * SIZE; place += SIZE) {
                    long value = here.segment().get(ValueLayout.JAVA_LONG, place);
                    Check.holds("value " + value + " is fetched once", seen.add(value));
                }
                Check.equal("the sum", target.segment().get(ValueLayout.JAVA_LONG, 0), 2 * round);
                ends.near.done.clear();
                ends.far.done.clear();
            }
        }
    }

    private static void add(End from, Peer to, MemoryRegion here, MemoryRegion target, long result, long token) {
        from.endpoint().atomics().fetch(AtomicOperation.SUM, Datatype.INT64, here.slice(0, SIZE),
                here.slice(result, SIZE), to, target.remote(), token);
    }
}
