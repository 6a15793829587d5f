package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Counter;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.FarRegion;
import io.ofi4j.conformance.Pair;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CounterEvent;
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

    private CompletionRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("every token comes back once, with the bytes", CompletionRules::everyTokenOnce);
        all.put("a full queue refuses, and loses nothing", CompletionRules::fillQueue);
        all.put("a wait ends at its deadline", CompletionRules::waitInVain);
        all.put(PauseRule.NAME, PauseRule::run);
        all.put("a counter counts what fails, without a queue", CompletionRules::countErrors);
    }

    private static void everyTokenOnce(Subject subject) throws InterruptedException {
        int room = WINDOW * SLOT;
        try (Pair pair = new Pair(subject);
                MemoryRegion source = pair.domain.allocate(room, Access.WRITE);
                MemoryRegion back = pair.domain.allocate(room, Access.READ)) {
            FarRegion target = pair.far.allocate(room, Access.REMOTE_WRITE, Access.REMOTE_READ);
            Rma rma = pair.near.endpoint().rma();
            for (int round = 0; round < ROUNDS && pair.hasTime(); round++) {
                Pattern.fill(source.segment(), round);
                for (int i = 0; i < WINDOW; i++) {
                    rma.prepare().peer(pair.peer).local(source, i * SLOT, SLOT).remote(target.remote(), i * SLOT, SLOT)
                            .write(token(round, i));
                }
                requireTokens(pair, round, "writes");
                pair.requireArrived("the target of writes", target, 0, room, round);
                for (int i = 0; i < WINDOW; i++) {
                    rma.prepare().peer(pair.peer).local(back, i * SLOT, SLOT).remote(target.remote(), i * SLOT, SLOT)
                            .read(token(round, i));
                }
                requireTokens(pair, round, "reads");
                Check.bytes("what was read", back.segment(), source.segment());
            }
            for (int i = 0; i < ROUNDS; i++) {
                pair.poll();
            }
            Check.none("the completions behind the last", pair.near.tokens());
        }
    }

    private static long token(int round, int place) { return (long) round * WINDOW + place; }

    /** Waits for the completions of a round, and forgets them. */
    private static void requireTokens(Pair pair, int round, String what) {
        Set<Long> missing = new HashSet<>(LongStream.range(token(round, 0), token(round + 1, 0)).boxed().toList());
        try {
            pair.require("a completion", () -> pair.near.count() >= WINDOW);
        } catch (Absent _) {
            missing.removeAll(pair.near.tokens());
            throw new Wrong("the completions of " + WINDOW + " " + what,
                    pair.near.done.size() + ", without those of the tokens " + missing, Integer.toString(WINDOW));
        }
        Check.none("the errors", pair.near.errors);
        for (long token : pair.near.tokens()) {
            if (!missing.remove(token)) {
                throw new Wrong("the completions of " + what, "token " + token + " twice", "each once");
            }
        }
        pair.near.done.clear();
    }

    private static void fillQueue(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject); MemoryRegion source = pair.domain.allocate(SLOT, Access.WRITE)) {
            FarRegion target = pair.far.allocate(SLOT, Access.REMOTE_WRITE);
            Pattern.fill(source.segment(), 1);
            Rma rma = pair.near.endpoint().rma();
            long posted = 0;
            while (posted < MAX_POSTS && rma.tryWrite(source, 0, SLOT, pair.peer, target.remote(), 0, posted)) {
                posted++;
            }
            long count = posted;
            pair.require("the completion of each of " + count + " writes that were accepted",
                    () -> pair.near.count() >= count);
            Check.none("the errors", pair.near.errors);
            Check.equal("the number of different tokens", new HashSet<>(pair.near.tokens()).size(), count);
            rma.write(source.slice(0, SLOT), pair.peer, target.remote(), count);
            pair.awaitToken(count);
            pair.requireArrived("the target", target, 0, SLOT, 1);
            if (count == MAX_POSTS) {
                throw new UnsupportedOperationException("it refused none of " + MAX_POSTS + " writes");
            }
        }
    }

    private static void waitInVain(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            long start = System.nanoTime();
            Check.equal("the completions of an idle queue", pair.near.queue.await(NOTHING, 1, SHORT), 0);
            long waited = System.nanoTime() - start;
            Check.holds("a wait does not end before its deadline", waited > SHORT.toNanos() / 2);
            Check.holds("a wait ends at its deadline", waited < subject.deadline().toNanos());
        }
    }

    /** Of reads with a key that nobody has. */
    private static void countErrors(Subject subject) throws InterruptedException {
        Counter[] counter = new Counter[1];
        try (Pair pair = new Pair(subject, CompletionFormat.DATA, (domain, queue, endpoint) -> {
            counter[0] = domain.openCounter();
            return endpoint.bind(counter[0], CounterEvent.READ);
        });
                Counter errors = counter[0];
                Endpoint _ = pair.near.endpoint();
                MemoryRegion back = pair.domain.allocate(SLOT, Access.READ)) {
            RemoteRegion there = pair.far.allocate(SLOT, Access.REMOTE_READ).remote();
            RemoteRegion wrong = new RemoteRegion(there.base(), SLOT, ~there.key(), Access.REMOTE_READ.bit());
            pair.near.endpoint().rma().read(back.slice(0, SLOT), pair.peer, wrong, 1);
            pair.require("the error of a read with a wrong key, in the counter", () -> errors.readErrors() == 1);
            Check.equal("the counter", errors.read(), 0);
        }
    }
}
