package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.End;
import io.ofi4j.conformance.Observation;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.conformance.run.JavaProcess;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** What a process sees of a peer in another process that works, ends, is killed, or is stopped. */
final class PeerRules {
    private static final int ROUNDS = 200;
    private static final int SLOT = 64;
    /** How long a rule looks for what a process is told of a peer that is gone. */
    private static final Duration LOOK = Duration.ofSeconds(4);
    private static final Duration STOP = Duration.ofMillis(500);

    private PeerRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("a peer in another process", PeerRules::works);
        all.put("a peer that ends", (Observation) PeerRules::ends);
        all.put("a peer that is killed", (Observation) PeerRules::isKilled);
        all.put("a peer that is stopped and goes on", (Observation) PeerRules::isStopped);
    }

    /** A peer in another process, and this end. */
    private static final class Pair implements AutoCloseable {
        final JavaProcess process;
        final RemoteRegion remote;
        final Domain domain;
        final Peer peer;
        final End end;
        final Endpoint endpoint;
        final MemoryRegion region;

        private final Subject subject;
        private final Fabric fabric;
        private final AddressVector vector;
        private final EventQueue events;
        private long token;

        Pair(Subject subject) throws InterruptedException {
            this.subject = subject;
            process = JavaProcess.start(List.of(), PeerProcess.class, PeerProcess.arguments(subject));
            String[] at = says("at ").split(" ");
            EndpointAddress address = EndpointAddress.of(HexFormat.of().parseHex(at[2]), AddressFormat.valueOf(at[1]));
            remote = RemoteRegion.decode(HexFormat.of().parseHex(at[3]));
            FabricInfo info = Subject.info(subject.hints());
            fabric = Libfabric.load().openFabric(info);
            domain = fabric.openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            end = End.of(queue);
            region = domain.allocate(2L * SLOT, Access.READ, Access.WRITE);
            if (subject.isConnected()) {
                vector = null;
                events = fabric.openEventQueue();
                endpoint = domain.openEndpoint(info.withDestination(address)).bind(events).bind(queue).enable();
                endpoint.connection().connect(address, subject.deadline());
                peer = endpoint.connection().peer();
            } else {
                events = null;
                vector = domain.openAddressVector();
                endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
                peer = vector.insert(address);
            }
            endpoint.postTimeout(subject.deadline());
        }

        /** The next line that begins so. */
        String says(String beginning) throws InterruptedException {
            try {
                while (true) {
                    Optional<String> line = process.line(subject.deadline().multipliedBy(2));
                    if (line.isEmpty()) { throw new Wrong("the peer ended with " + process.ending()); }
                    if (line.get().startsWith(beginning)) { return line.get(); }
                }
            } catch (TimeoutException e) {
                throw new Wrong("the peer does not say '" + beginning.strip() + "'");
            }
        }

        void poll() {
            if (events != null) { events.progress(); }
            end.poll();
        }

        boolean within(Duration time, BooleanSupplier condition) {
            return Waiting.YIELD.tryUntil(() -> {
                poll();
                return condition.getAsBoolean();
            }, time);
        }

        /** Writes a number and reads it back. */
        void exchange(long number) {
            Rma rma = endpoint.rma();
            Pattern.fill(region.segment().asSlice(0, SLOT), number);
            region.segment().set(ValueLayout.JAVA_LONG, 0, number);
            rma.write(region.slice(0, SLOT), peer, remote, ++token);
            complete("a write");
            long start = System.nanoTime();
            do { // a write may complete before it is there, and not every provider has a flush
                rma.read(region.slice(SLOT, SLOT), peer, remote, ++token);
                complete("a read");
            } while (region.segment().asSlice(0, SLOT).mismatch(region.segment().asSlice(SLOT)) >= 0
                    && System.nanoTime() - start < subject.deadline().toNanos());
            Check.bytes("what was read back", region.segment().asSlice(SLOT, SLOT), region.segment().asSlice(0, SLOT));
        }

        private void complete(String what) {
            if (!within(subject.deadline(), () -> end.count() > 0)) {
                throw new Absent("the completion of " + what, subject.deadline());
            }
            Check.none("the errors", end.errors);
            Check.equal("the tokens", end.tokens(), List.of(token));
            end.done.clear();
        }

        /** What a process is told that goes on writing to a peer that is gone. */
        String told() {
            long start = System.nanoTime();
            while (System.nanoTime() - start < LOOK.toNanos()) {
                try {
                    if (endpoint.rma().tryWrite(region, 0, SLOT, peer, remote, 0, ++token)) {
                        within(Duration.ofMillis(20), () -> end.count() > 0);
                    } else {
                        within(Duration.ofMillis(1), () -> false);
                    }
                } catch (FabricException | IllegalStateException e) {
                    return "told by an exception of the post after " + millis(start) + " ms: " + e.getMessage();
                }
                if (!end.errors.isEmpty()) {
                    CompletionError error = end.errors.getFirst();
                    return "told by a completion after " + millis(start) + " ms: " + error.text() + " (errno "
                            + error.errno() + ")";
                }
                end.done.clear();
            }
            return "not told within " + LOOK.toSeconds() + " s";
        }

        private static long millis(long start) { return (System.nanoTime() - start) / 1_000_000; }

        @Override
        public void close() {
            process.close();
            endpoint.close();
            region.close();
            if (vector != null) { vector.close(); }
            if (events != null) { events.close(); }
            end.queue.close();
            domain.close();
            fabric.close();
        }
    }

    private static void works(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            for (long number = 1; number <= ROUNDS; number++) {
                pair.exchange(number);
            }
            pair.says("has " + ROUNDS);
            pair.process.say("end");
            pair.within(STOP, () -> pair.process.ended(Duration.ZERO));
            pair.says("closed");
            Check.holds("the peer ends", pair.process.ended(subject.deadline()));
            Check.equal("how the peer ends", pair.process.exitStatus(), 0);
        }
    }

    private static String ends(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            pair.exchange(1);
            pair.process.say("end");
            pair.within(subject.deadline(), () -> pair.process.ended(Duration.ZERO));
            return pair.told();
        }
    }

    private static String isKilled(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            pair.exchange(1);
            pair.process.kill();
            return pair.told();
        }
    }

    /** Operations meanwhile may be refused or wait; each comes back afterwards. */
    private static String isStopped(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            pair.exchange(1);
            pair.process.signal("STOP");
            int posted = 0;
            boolean told = false;
            try {
                while (posted < SLOT
                        && pair.endpoint.rma().tryRead(pair.region, 0, SLOT, pair.peer, pair.remote, 0, posted)) {
                    posted++;
                }
                pair.within(STOP, () -> false);
            } catch (FabricTimeoutException e) {
                told = true;
            } finally {
                pair.process.signal("CONT");
            }
            int count = posted;
            if (!pair.within(subject.deadline(), () -> pair.end.count() >= count)) {
                throw new Wrong("the completions of " + count + " reads from a peer that was stopped and goes on",
                        Integer.toString(pair.end.count()), Integer.toString(count));
            }
            pair.end.done.clear();
            boolean failed = !pair.end.errors.isEmpty();
            return told || failed ? "told meanwhile" : count + " reads waited, and completed";
        }
    }
}
