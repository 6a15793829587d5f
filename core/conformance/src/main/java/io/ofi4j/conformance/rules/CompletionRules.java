package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Counter;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.WaitObject;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/** What completions promise: fi_cq(3) and fi_cntr(3). */
final class CompletionRules {
    private static final int WINDOW = 32;
    private static final int SLOT = 64;
    private static final int ROUNDS = 300;
    private static final int MAX_POSTS = 20_000;
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private static final Ends.Wiring COUNTERS_ONLY = new Ends.Wiring() {
        @Override
        public Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.openCounter(WaitObject.NONE), CounterEvent.READ);
        }
    };

    private CompletionRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("every token comes back once, with the bytes", CompletionRules::everyTokenOnce);
        all.put("a full queue refuses, and loses nothing", CompletionRules::fillQueue);
        all.put("a wait ends at its deadline", CompletionRules::waitInVain);
        all.put("a counter counts what fails, without a queue", CompletionRules::countErrors);
    }

    private static void everyTokenOnce(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(WINDOW * SLOT, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(WINDOW * SLOT, Access.REMOTE_WRITE, Access.REMOTE_READ);
                MemoryRegion back = ends.domain.allocate(WINDOW * SLOT, Access.READ)) {
            for (int round = 0; round < ROUNDS; round++) {
                Pattern.fill(source.segment(), round);
                for (int i = 0; i < WINDOW; i++) {
                    ends.near.endpoint().rma().prepare().peer(ends.peer).local(source, i * SLOT, SLOT)
                            .remote(target.remote(), i * SLOT, SLOT).write(token(round, i));
                }
                requireTokens(ends, round, "writes");
                requireArrived(ends, target.segment(), source.segment(), "the target of writes");
                for (int i = 0; i < WINDOW; i++) {
                    ends.near.endpoint().rma().prepare().peer(ends.peer).local(back, i * SLOT, SLOT)
                            .remote(target.remote(), i * SLOT, SLOT).read(token(round, i));
                }
                requireTokens(ends, round, "reads");
                Check.bytes("what was read", back.segment(), source.segment());
            }
            for (int i = 0; i < ROUNDS; i++) {
                ends.poll();
            }
            Check.none("the completions behind the last", ends.near.tokens());
        }
    }

    private static long token(int round, int place) { return (long) round * WINDOW + place; }

    /** Waits for the completions of a round, and forgets them. */
    private static void requireTokens(Ends ends, int round, String what) {
        Set<Long> missing = new HashSet<>(LongStream.range(token(round, 0), token(round + 1, 0)).boxed().toList());
        try {
            ends.require("a completion", () -> ends.near.count() >= WINDOW);
        } catch (Absent _) {
            missing.removeAll(ends.near.tokens());
            throw new Wrong("the completions of " + WINDOW + " " + what,
                    ends.near.done.size() + ", without those of the tokens " + missing, Integer.toString(WINDOW));
        }
        Check.none("the errors", ends.near.errors);
        for (long token : ends.near.tokens()) {
            if (!missing.remove(token)) {
                throw new Wrong("the completions of " + what, "token " + token + " twice", "each once");
            }
        }
        ends.near.done.clear();
    }

    /** A write may complete before its bytes are at the target. */
    static void requireArrived(Ends ends, MemorySegment target, MemorySegment source, String what) {
        try {
            ends.require("the bytes", () -> target.mismatch(source) == -1);
        } catch (Absent _) {
            Check.bytes(what, target, source);
        }
    }

    private static void fillQueue(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SLOT, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SLOT, Access.REMOTE_WRITE)) {
            Pattern.fill(source.segment(), 1);
            long posted = 0;
            while (posted < MAX_POSTS
                    && ends.near.endpoint().rma().tryWrite(source, 0, SLOT, ends.peer, target.remote(), 0, posted)) {
                posted++;
            }
            long count = posted;
            ends.require("the completion of each of " + count + " writes that were accepted",
                    () -> ends.near.count() >= count);
            Check.none("the errors", ends.near.errors);
            Check.equal("the number of different tokens", new HashSet<>(ends.near.tokens()).size(), count);
            ends.near.endpoint().rma().write(source.slice(0, SLOT), ends.peer, target.remote(), count);
            ends.awaitToken(count);
            requireArrived(ends, target.segment(), source.segment(), "the target");
        }
    }

    private static void waitInVain(Subject subject) {
        try (Ends ends = new Ends(subject)) {
            long start = System.nanoTime();
            Check.equal("the completions of an idle queue", ends.near.queue.await(NOTHING, 1, SHORT), 0);
            long waited = System.nanoTime() - start;
            Check.holds("a wait does not end before its deadline", waited > SHORT.toNanos() / 2);
            Check.holds("a wait ends at its deadline", waited < subject.deadline().toNanos());
        }
    }

    /** Of reads with a key that nobody has. */
    private static void countErrors(Subject subject) {
        try (Ends ends = new Ends(subject, subject.hints(), CompletionQueueAttributes.defaults(), COUNTERS_ONLY);
                MemoryRegion back = ends.domain.allocate(SLOT, Access.READ);
                MemoryRegion target = ends.domain.allocate(SLOT, Access.REMOTE_READ)) {
            RemoteRegion there = target.remote();
            RemoteRegion wrong = new RemoteRegion(there.base(), SLOT, ~there.key(), Access.REMOTE_READ.bit());
            Counter counter = ends.counters.getFirst();
            ends.near.endpoint().rma().read(back.slice(0, SLOT), ends.peer, wrong, 1);
            ends.require("the error of a read with a wrong key, in the counter", () -> counter.readErrors() == 1);
            Check.equal("the counter", counter.read(), 0);
        }
    }
}
