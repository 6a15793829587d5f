package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.TOKEN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Atomics;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedAtomic;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.util.Map;

/** Trials of the calls of fi_atomic(3), with sums, or with swaps, reads and writes where a provider has no sums. */
final class AtomicTrials {
    private static final long DATA = 0x11223344;
    private static final Datatype INT64 = Datatype.INT64;
    /** In each element here, and there. */
    private static final long HERE = 0x0101_0101_0101_0101L;
    private static final long THERE = 0x0202_0202_0202_0202L;

    private AtomicTrials() {}

    static void addTo(Map<String, Trial> all) {
        all.put("fi_atomic", of(t -> {
            atomics(t).execute(change(t), INT64, t.here.slice(0, INT64.size()), t.ends.peer, t.there.remote(), TOKEN);
            awaitChanged(t);
        }));
        all.put("fi_atomicv", of(t -> {
            message(t).execute(change(t), TOKEN);
            awaitChanged(t);
        }));
        all.put("fi_atomicmsg", of(t -> {
            message(t).flags(OperationFlag.COMPLETION).execute(change(t), TOKEN);
            awaitChanged(t);
        }));
        all.put("fi_inject_atomic", of(t -> {
            atomics(t).inject(change(t), INT64, t.here.slice(0, INT64.size()), t.ends.peer, t.there.remote());
            awaitTarget(t, changed(t));
            Check.none("the completions", t.near.tokens());
        }));
        all.put("fi_fetch_atomic", of(t -> {
            atomics(t).fetch(fetch(t), INT64, t.here.slice(0, INT64.size()), t.here.slice(8, INT64.size()), t.ends.peer,
                    t.there.remote(), TOKEN);
            awaitFetched(t);
        }));
        all.put("fi_fetch_atomicv", of(t -> {
            message(t).fetch(fetch(t), TOKEN);
            awaitFetched(t);
        }));
        all.put("fi_fetch_atomicmsg", of(t -> {
            message(t).flags(OperationFlag.COMPLETION).fetch(fetch(t), TOKEN);
            awaitFetched(t);
        }));
        all.put("fi_compare_atomic", of(t -> {
            MemoryRegion here = comparing(t);
            atomics(t).compare(AtomicOperation.CSWAP, INT64, here.slice(0, INT64.size()), here.slice(16, INT64.size()),
                    here.slice(8, INT64.size()), t.ends.peer, t.there.remote(), TOKEN);
            awaitSwapped(t);
        }));
        all.put("fi_compare_atomicv", of(t -> {
            message(t).comparand(comparing(t), 16, 1).compare(AtomicOperation.CSWAP, TOKEN);
            awaitSwapped(t);
        }));
        all.put("fi_compare_atomicmsg", of(t -> {
            message(t).comparand(comparing(t), 16, 1).flags(OperationFlag.COMPLETION).compare(AtomicOperation.CSWAP,
                    TOKEN);
            awaitSwapped(t);
        }));
        all.put("fi_atomicmsg, INJECT", of(t -> {
            message(t).flags(OperationFlag.INJECT).execute(change(t), TOKEN);
            t.here.segment().fill((byte) -1);
            awaitChanged(t);
        }));
        all.put("fi_atomicmsg, REMOTE_CQ_DATA", of(t -> {
            message(t).flags(OperationFlag.REMOTE_CQ_DATA).data(DATA).execute(change(t), TOKEN);
            t.awaitData(DATA);
            t.ends.await(() -> t.near.tokens().contains(TOKEN));
            awaitTarget(t, changed(t));
        }));
    }

    /** With the provider itself: for atomic operations libfabric also finds one that is layered on it. */
    private static Trial of(RmaTrial body) {
        return subject -> {
            FabricHints hints = RmaTrial.capability(Capability.ATOMIC).apply(subject.hints());
            String found = Subject.info(hints).provider();
            if (!found.equals(hints.provider().orElseThrow())) {
                throw new UnsupportedOperationException("only " + found + " has them");
            }
            RmaTrial.of(RmaTrial.capability(Capability.ATOMIC), body).run(subject);
        };
    }

    private static Atomics atomics(RmaSetting t) { return t.near.endpoint().atomics(); }

    private static PreparedAtomic message(RmaSetting t) {
        return atomics(t).prepare(INT64).peer(t.ends.peer).local(t.here, 0, 1).result(t.here, 8, 1)
                .remote(t.there.remote(), 0, 1);
    }

    private static boolean hasSums(RmaSetting t) {
        return atomics(t).valid(AtomicForm.EXECUTE, AtomicOperation.SUM, INT64) > 0;
    }

    private static AtomicOperation change(RmaSetting t) {
        return hasSums(t) ? AtomicOperation.SUM : AtomicOperation.ATOMIC_WRITE;
    }

    private static AtomicOperation fetch(RmaSetting t) {
        return hasSums(t) ? AtomicOperation.SUM : AtomicOperation.ATOMIC_READ;
    }

    private static long changed(RmaSetting t) { return hasSums(t) ? HERE + THERE : HERE; }

    private static MemoryRegion comparing(RmaSetting t) {
        t.here.segment().set(JAVA_LONG, 16, THERE);
        return t.here;
    }

    private static void awaitChanged(RmaSetting t) {
        t.ends.awaitToken(TOKEN);
        awaitTarget(t, changed(t));
    }

    private static void awaitFetched(RmaSetting t) {
        t.ends.awaitToken(TOKEN);
        Check.equal("the result", t.here.segment().get(JAVA_LONG, 8), THERE);
        awaitTarget(t, hasSums(t) ? HERE + THERE : THERE);
    }

    private static void awaitSwapped(RmaSetting t) {
        t.ends.awaitToken(TOKEN);
        Check.equal("the result", t.here.segment().get(JAVA_LONG, 8), THERE);
        awaitTarget(t, HERE);
    }

    private static void awaitTarget(RmaSetting t, long expected) {
        t.ends.await(() -> t.there.segment().get(JAVA_LONG, 0) == expected);
        Check.equal("behind the target", t.there.segment().get(JAVA_LONG, 8), THERE);
        Check.none("the errors", t.near.errors);
    }
}
