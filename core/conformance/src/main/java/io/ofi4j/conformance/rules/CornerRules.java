package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.Counter;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import io.ofi4j.info.WaitObject;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What programs do seldom, and must survive: each has ended a process, hung or lost data over some provider. Both ends
 * are in one process, where most of these happen.
 */
final class CornerRules {
    private static final int SIZE = 64;
    private static final int ROOM = 64 << 10;
    /** In one packet, and in several. */
    private static final int[] SHORTER = {200, 20_000};
    private static final int TIMES = 50;
    private static final int PEERS = 8;
    private static final int MAX_RECEIVES = 20_000;
    private static final int MANY_POLLS = 2000;
    private static final long TOKEN = 7;
    private static final long TAG = 0x77;
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final long FLUSH = 1000;
    private static final long FOUR_GIB = 4L << 30;

    private CornerRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("a write of no bytes is delivered", CornerRules::deliverNothing);
        all.put("an option is read before the endpoint is enabled", CornerRules::readOption);
        all.put("an option is set before the endpoint is enabled", CornerRules::setOption);
        all.put("an endpoint closes that was bound to nothing", CornerRules::closeUnbound);
        all.put("one receive too many is refused", CornerRules::fillReceives);
        all.put("a receive of many messages is not written beyond its end", CornerRules::overrunReceive);
        all.put("the sender of a long message is told that it is discarded", CornerRules::discardLong);
        all.put("injects to an endpoint that was closed", CornerRules::injectToClosed);
        all.put("a message of a peer that is removed before it is taken", CornerRules::removeSender);
        all.put("a read of no bytes completes", CornerRules::readNothing);
        all.put("behind a flush, all sums are there", CornerRules::flushSums);
        all.put("an atomic operation with a wrong key stops no other", CornerRules::continueBehindWrongKey);
        all.put("a source that is told is right", CornerRules::tellSource);
        all.put("a counter of another provider ends its waits", CornerRules::waitBesides);
        all.put("a write of 4 GiB is refused or completes", CornerRules::writeLong);
        all.put(HugePageRule.NAME, HugePageRule::run);
        all.put(EnvironmentRule.NAME, EnvironmentRule::run);
        all.put(EndpointFileRule.NAME, EndpointFileRule::run);
        AddressCorners.addTo(all);
        CounterCorners.addTo(all);
        MessageCorners.addTo(all);
        CloseCorners.addTo(all);
    }

    private static void deliverNothing(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.near.endpoint().rma().prepare().peer(ends.peer).local(source, 0, 0).remote(target.remote(), 0, 0)
                    .flags(OperationFlag.DELIVERY_COMPLETE).write(TOKEN);
            ends.awaitToken(TOKEN);
        }
    }

    private static void readNothing(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.READ);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.REMOTE_READ)) {
            ends.near.endpoint().rma().read(target.slice(0, 0), ends.peer, source.remote(), TOKEN);
            ends.awaitToken(TOKEN);
        }
    }

    /** From a file without bytes to the same file. Others than ofi_rxd write longer ones on another page. */
    private static void writeLong(Subject subject) throws IOException {
        if (!subject.provider().endsWith(";ofi_rxd")) {
            throw new UnsupportedOperationException("its operations are not cut into packets by ofi_rxd");
        }
        Path file = Files.createTempFile("ofi4j", ".verify");
        try (Ends ends = new Ends(subject); RandomAccessFile holes = new RandomAccessFile(file.toFile(), "rw")) {
            file.toFile().deleteOnExit();
            holes.setLength(FOUR_GIB);
            Rma rma = ends.near.endpoint().rma();
            if (Long.compareUnsigned(rma.maximumMessageSize(), FOUR_GIB) < 0) {
                throw new UnsupportedOperationException(
                        "an operation has at most " + rma.maximumMessageSize() + " bytes");
            }
            try (MemoryRegion region = ends.domain.map(holes.getChannel(), MapMode.READ_WRITE, 0, FOUR_GIB,
                    Access.WRITE, Access.REMOTE_WRITE)) {
                rma.write(region.slice(0, FOUR_GIB), ends.peer, region.remote(), TOKEN);
                ends.awaitToken(TOKEN);
            }
        } finally {
            Files.delete(file);
        }
    }

    private static void flushSums(Subject subject) {
        if (!Subject.info(subject.hints(Capability.ATOMIC)).provider().equals(subject.provider())) {
            throw new UnsupportedOperationException("it has no atomic operations"); // ofi_rxm over it has them
        }
        try (Ends ends = ends(subject, Capability.ATOMIC);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE, Access.READ);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            source.segment().set(ValueLayout.JAVA_LONG, 0, 1);
            ends.near.endpoint().rma().write(source.slice(0, 0), ends.peer, target.remote(), TOKEN); // connects
            ends.awaitToken(TOKEN);
            ends.near.endpoint().rma().flush(ends.peer, target.remote(), FLUSH); // or is refused before there are sums
            ends.awaitToken(FLUSH);
            ends.near.done.clear();
            for (int round = 1; round <= PEERS; round++) {
                for (int i = 0; i < TIMES; i++) {
                    ends.near.endpoint().atomics().execute(AtomicOperation.SUM, Datatype.INT64,
                            source.slice(0, Long.BYTES), ends.peer, target.remote(), i);
                }
                ends.near.endpoint().rma().flush(ends.peer, target.remote(), FLUSH);
                ends.require("the completion of a flush", () -> ends.near.tokens().contains(FLUSH));
                Check.equal("the sum behind a flush", target.segment().get(ValueLayout.JAVA_LONG, 0),
                        (long) round * TIMES);
                ends.require("the completions of sums", () -> ends.near.count() == TIMES + 1);
                ends.near.done.clear();
            }
        }
    }

    /** Whether the wrong one is told is open. */
    private static void continueBehindWrongKey(Subject subject) {
        if (!Subject.info(subject.hints(Capability.ATOMIC)).provider().equals(subject.provider())) {
            throw new UnsupportedOperationException("it has no atomic operations"); // ofi_rxm over it has them
        }
        try (Ends ends = ends(subject, Capability.ATOMIC);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE, Access.READ);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            RemoteRegion there = target.remote();
            RemoteRegion wrong = new RemoteRegion(there.base(), SIZE, ~there.key(), there.accessBits());
            ends.near.endpoint().atomics().execute(AtomicOperation.SUM, Datatype.INT64, source.slice(0, Long.BYTES),
                    ends.peer, wrong, TOKEN);
            ends.near.endpoint().rma().write(source.slice(0, SIZE), ends.peer, there, TOKEN + 1);
            ends.require("the completion of a write behind it", () -> ends.near.tokens().contains(TOKEN + 1));
        }
    }

    /** That there is none is right, too. */
    private static void tellSource(Subject subject) {
        try (Ends ends = new Ends(subject, subject.hints(Capability.SOURCE),
                CompletionQueueAttributes.defaults().format(CompletionFormat.DATA), Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.vector();
            long back = ends.back().fabricAddress();
            ends.near.endpoint().rma().writeData(source.slice(0, SIZE), 1, ends.peer, target.remote(), TOKEN);
            ends.require("the data of a write", () -> ends.far.count() > 0);
            long told = Check.single("the completions", ends.far.done).source();
            Check.holds("the source " + told + " is the writer, " + back + ", or none",
                    told == back || told == Peer.ADDRESS_NOT_AVAILABLE);
        }
    }

    /** The other provider is one that each libfabric has. */
    private static void waitBesides(Subject subject) {
        Subject another = new Subject("tcp;ofi_rxm", EndpointType.RDM, subject.source(), subject.deadline());
        try (Ends ends = new Ends(subject);
                Counter _ = ends.openCounter(WaitObject.UNSPECIFIED);
                Ends others = new Ends(another);
                Counter counter = others.openCounter(WaitObject.FD)) {
            long start = System.nanoTime();
            Check.thrown("a wait for what does not come", FabricTimeoutException.class, () -> counter.await(1, SHORT));
            Check.holds("a wait does not end before its deadline", System.nanoTime() - start > SHORT.toNanos() / 2);
        }
    }

    /** It may be refused, by a word of ofi4j or by an error number. */
    private static void readOption(Subject subject) {
        withBoundEndpoint(subject, endpoint -> endpoint.options().get(EndpointOption.MINIMUM_MULTI_RECEIVE));
    }

    private static void setOption(Subject subject) {
        withBoundEndpoint(subject, endpoint -> endpoint.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, 128L));
    }

    private static void withBoundEndpoint(Subject subject, Consumer<Endpoint> work) {
        try (Ends ends = new Ends(subject); Endpoint endpoint = ends.domain.openEndpoint()) {
            if (ends.vector != null) { endpoint.bind(ends.vector); }
            try {
                work.accept(endpoint);
            } catch (IllegalStateException | FabricException e) {
                return; // refused, and the process goes on
            }
        }
    }

    private static void closeUnbound(Subject subject) {
        try (Ends ends = new Ends(subject)) {
            ends.domain.openEndpoint().close();
        }
    }

    private static Ends ends(Subject subject, Capability... capabilities) {
        return new Ends(subject, subject.hints(capabilities),
                CompletionQueueAttributes.defaults().format(CompletionFormat.DATA), Ends.QUEUES);
    }

    private static void fillReceives(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion target = ends.farDomain.allocate(SIZE, Access.RECEIVE)) {
            Messages receiver = ends.far.endpoint().messages();
            int posted = 0;
            while (posted < MAX_RECEIVES && receiver.tryReceive(target, 0, SIZE, posted)) {
                posted++;
            }
            Check.holds("a receive is accepted", posted > 0);
        }
    }

    private static void overrunReceive(Subject subject) {
        for (int shorter : SHORTER) {
            overrunReceive(subject, shorter);
        }
    }

    /** Two messages leave as much as keeps the receive posted, and less than a third needs. */
    private static void overrunReceive(Subject subject, int shorter) {
        try (Ends ends = ends(subject, Capability.MSG, Capability.MULTI_RECV)) {
            Long least = ends.far.endpoint().options().get(EndpointOption.MINIMUM_MULTI_RECEIVE);
            int length = Math.toIntExact(least) + 2 * shorter;
            int room = 2 * length + Math.toIntExact(least) + shorter;
            if (length > ends.domain.info().endpoint().maximumMessageSize()) { return; }
            try (MemoryRegion source = ends.domain.allocate(length, Access.SEND);
                    MemoryRegion target = ends.farDomain.allocate(room + length, Access.RECEIVE)) {
                source.segment().fill((byte) 1);
                ends.far.endpoint().messages().receiveMany(target.slice(0, room), TOKEN);
                for (int i = 0; i < 3; i++) {
                    ends.near.endpoint().messages().send(source.slice(0, length), ends.peer, i);
                }
                for (int i = 0; i < MANY_POLLS; i++) {
                    ends.poll();
                }
                Check.bytes("what is behind the receive", target.segment().asSlice(room, length),
                        MemorySegment.ofArray(new byte[length]));
                // what has not fitted waits for a receive of its own
                ends.far.endpoint().messages().receive(target.slice(0, length), TOKEN + 1);
                for (int i = 0; i < MANY_POLLS; i++) {
                    ends.poll();
                }
            }
        }
    }

    private static void discardLong(Subject subject) {
        if (subject.isConnected()) { throw new UnsupportedOperationException("connected endpoints have no tags"); }
        try (Ends ends = new Ends(subject, subject.hints(Capability.TAGGED),
                CompletionQueueAttributes.defaults().format(CompletionFormat.TAGGED), Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.SEND)) {
            long length = Math.min(ROOM, ends.domain.info().endpoint().maximumMessageSize());
            ends.near.endpoint().tagged().send(source.slice(0, length), ends.peer, TAG, TOKEN);
            ends.require("the message, as a look for it finds it", () -> {
                if (ends.far.count() == 0 || !ends.far.errors.isEmpty()) {
                    ends.far.errors.clear();
                    ends.far.endpoint().tagged().peek(PeekAction.DISCARD, TAG, 0, TOKEN);
                    ends.require("what a look finds", () -> ends.far.count() > 0);
                }
                return !ends.far.done.isEmpty();
            });
            ends.require("the completion of a send whose message was discarded", () -> ends.near.count() > 0);
            Check.none("the errors", ends.near.errors);
        }
    }

    /** An inject completes nothing. Whether one is refused, fails or is lost is open. */
    private static void injectToClosed(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            Rma rma = ends.near.endpoint().rma();
            rma.write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.near.done.clear();
            for (int injected = 0; injected < 2 * TIMES; injected++) {
                if (injected == TIMES) { ends.far.endpoint().close(); }
                try {
                    rma.tryInjectWrite(source, 0, Long.BYTES, ends.peer, target.remote(), 0);
                } catch (IllegalStateException | FabricException e) {
                    continue; // as good as lost
                }
                if (injected % PEERS == 0) { ends.near.poll(); }
            }
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.near.poll();
            }
            Check.none("the completions of injects", ends.near.tokens());
        }
    }

    /** What becomes of the message is open. */
    private static void removeSender(Subject subject) {
        try (Ends ends = ends(subject, Capability.MSG);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.SEND);
                MemoryRegion target = ends.farDomain.allocate(ROOM, Access.RECEIVE)) {
            ends.vector();
            Peer back = ends.back();
            long length = Math.min(ROOM, ends.domain.info().endpoint().maximumMessageSize());
            ends.far.endpoint().messages().receive(target.slice(0, length), TOKEN);
            ends.near.endpoint().messages().send(source.slice(0, length), ends.peer, TOKEN);
            ends.vector().remove(back);
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
            }
        }
    }
}
