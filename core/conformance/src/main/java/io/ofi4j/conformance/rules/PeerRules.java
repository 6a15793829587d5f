package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.FarEnd;
import io.ofi4j.conformance.FarRegion;
import io.ofi4j.conformance.Observation;
import io.ofi4j.conformance.Pair;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Untried;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What a process sees of a peer in another process that works, ends, is killed, or is stopped. */
final class PeerRules {
    private static final int ROUNDS = 200;
    private static final int SLOT = 64;
    private static final int ROOM = 1 << 16;
    private static final Duration SHORT = Duration.ofMillis(20);
    /** How long a rule looks for what a process is told of a peer that is gone. */
    private static final Duration LOOK = Duration.ofSeconds(4);
    private static final Duration STOP = Duration.ofMillis(500);

    private PeerRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put(RuleTrials.REACHED, PeerRules::isReached);
        all.put("a peer in another process", PeerRules::works);
        all.put("a peer that ends", (Observation) PeerRules::ends);
        all.put("a peer that is killed", (Observation) PeerRules::isKilled);
        all.put("a peer that is stopped and goes on", (Observation) PeerRules::isStopped);
    }

    /** A peer in another process with memory, and this end. */
    private static final class Reached implements AutoCloseable {
        final Pair pair;
        final FarRegion there;
        final MemoryRegion here;
        private long token;

        Reached(Subject subject) throws InterruptedException {
            pair = new Pair(subject);
            there = pair.far.allocate(ROOM, Access.REMOTE_READ, Access.REMOTE_WRITE);
            here = pair.domain.allocate(2L * SLOT, Access.READ, Access.WRITE);
        }

        /** Writes the bytes of a number and reads them back. */
        void exchange(long number) {
            Rma rma = pair.near.endpoint().rma();
            Pattern.fill(here.segment().asSlice(0, SLOT), number);
            rma.write(here.slice(0, SLOT), pair.peer, there.remote(), ++token);
            pair.awaitToken(token);
            pair.requireArrived("what was written", there, 0, SLOT, number);
            rma.read(here.slice(SLOT, SLOT), pair.peer, there.remote(), ++token);
            pair.awaitToken(token);
            Check.bytes("what was read back", here.segment().asSlice(SLOT, SLOT), here.segment().asSlice(0, SLOT));
            pair.near.done.clear();
        }

        /** Makes progress until the peer has ended. */
        void awaitEnd(Subject subject) {
            long start = System.nanoTime();
            while (!pair.far.process().ended(SHORT)) {
                pair.poll();
                if (System.nanoTime() - start > subject.deadline().toNanos()) {
                    throw new Absent("the end of the peer", subject.deadline());
                }
            }
        }

        /** What a process is told that goes on writing to a peer that is gone. */
        String told() {
            long start = System.nanoTime();
            List<CompletionError> errors = pair.near.errors;
            while (System.nanoTime() - start < LOOK.toNanos()) {
                try {
                    boolean posted = pair.near.endpoint().rma().tryWrite(here, 0, SLOT, pair.peer, there.remote(), 0,
                            ++token);
                    pair.within(posted ? SHORT : SHORT.dividedBy(20), () -> posted && pair.near.count() > 0);
                } catch (FabricException | IllegalStateException e) {
                    return "told by an exception of the post after " + millis(start) + " ms: " + e.getMessage();
                }
                if (!errors.isEmpty()) {
                    return "told by a completion after " + millis(start) + " ms: " + errors.getFirst().text()
                            + " (errno " + errors.getFirst().errno() + ")";
                }
                pair.near.done.clear();
            }
            return "not told within " + LOOK.toSeconds() + " s";
        }

        private static long millis(long start) { return (System.nanoTime() - start) / 1_000_000; }

        @Override
        public void close() {
            here.close();
            pair.close();
        }
    }

    private static void isReached(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            if (!pair.domain.info().capabilities().contains(Capability.RMA)) {
                throw new Untried("it has no RMA; messages are tried elsewhere");
            }
            FarRegion there = pair.far.allocate(SLOT, Access.REMOTE_WRITE);
            try (MemoryRegion here = pair.domain.allocate(SLOT, Access.WRITE)) {
                Pattern.fill(here.segment(), 1);
                try {
                    pair.near.endpoint().rma().write(here.slice(0, SLOT), pair.peer, there.remote(), 1);
                    pair.awaitToken(1);
                    pair.requireArrived("a write to the far end", there, 0, SLOT, 1);
                } catch (Wrong | FabricTimeoutException e) {
                    throw new Wrong("nothing arrives at " + pair.address + " (" + e.getMessage() + ")");
                }
            }
        }
    }

    private static void works(Subject subject) throws InterruptedException {
        try (Reached peer = new Reached(subject)) {
            for (long number = 1; number <= ROUNDS && peer.pair.hasTime(); number++) {
                peer.exchange(number);
            }
            peer.pair.far.process().say(FarEnd.END);
            peer.awaitEnd(subject);
            Check.equal("how the peer ends", peer.pair.far.process().ending(), "exit status 0");
        }
    }

    private static String ends(Subject subject) throws InterruptedException {
        try (Reached peer = new Reached(subject)) {
            peer.exchange(1);
            peer.pair.far.process().say(FarEnd.END);
            peer.awaitEnd(subject);
            return peer.told();
        }
    }

    private static String isKilled(Subject subject) throws InterruptedException {
        try (Reached peer = new Reached(subject)) {
            peer.exchange(1);
            peer.pair.far.process().signal("KILL");
            peer.awaitEnd(subject);
            return peer.told();
        }
    }

    /** Operations meanwhile may be refused or wait; each comes back afterwards. */
    private static String isStopped(Subject subject) throws InterruptedException {
        try (Reached peer = new Reached(subject)) {
            Pair pair = peer.pair;
            peer.exchange(1);
            pair.far.process().signal("STOP");
            int posted = 0;
            boolean told = false;
            try {
                pair.within(SHORT, () -> false); // until it has stopped
                while (posted < SLOT && pair.near.endpoint().rma().tryRead(peer.here, 0, SLOT, pair.peer,
                        peer.there.remote(), 0, posted)) {
                    posted++;
                }
                pair.within(STOP, () -> false);
            } catch (FabricTimeoutException e) {
                told = true;
            } finally {
                pair.far.process().signal("CONT");
            }
            int count = posted;
            if (!pair.within(subject.deadline(), () -> pair.near.count() >= count)) {
                throw new Wrong("the completions of " + count + " reads from a peer that was stopped and goes on",
                        Integer.toString(pair.near.count()), Integer.toString(count));
            }
            pair.near.done.clear();
            boolean failed = !pair.near.errors.isEmpty();
            return told || failed ? "told meanwhile" : count + " reads waited, and completed";
        }
    }
}
