package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
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
    private static final int SIZE = Long.BYTES;

    private AtomicRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("sums from two sides at once lose nothing", AtomicRules::addFromBothSides);
    }

    /** Each side gets every value before its own sum once. */
    private static void addFromBothSides(Subject subject) {
        FabricHints hints = subject.hints().capabilities(Capability.RMA, Capability.ATOMIC);
        String found = Subject.info(hints).provider();
        if (!found.equals(subject.provider())) {
            throw new UnsupportedOperationException("only " + found + " has atomic operations");
        }
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
