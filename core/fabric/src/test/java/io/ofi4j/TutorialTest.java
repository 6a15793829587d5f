package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Welcome to ofi4j. This is its guide: read it from top to bottom. It begins with finding out what this machine can do,
 * and ends with two sides that exchange messages through each other's memory. Each part runs as a test, and can be
 * copied.
 */
// @start region=guide
@Timeout(300)
class TutorialTest {
    /** Everything that waits has a deadline. */
    private static final Duration SOON = Duration.ofSeconds(20);

    /**
     * The providers that this guide runs over: shared memory, and TCP sockets. {@code scripts/ofi4j info} names yours.
     */
    static Stream<String> providers() { return Stream.of("shm", "tcp;ofi_rxm"); }

    /** What is asked for: one-sided transfers between endpoints that need no connection. */
    private static FabricHints hints(String provider) {
        FabricHints hints = FabricHints.rma().provider(provider);
        return provider.equals("shm") ? hints : hints.source("127.0.0.1", null); // shm has no addresses of a network
    }

    /** 1. What is there? */
    @Test
    void discovery() {
        // The first call loads libfabric.so.1. Where it is not installed, the exception says what to install.
        Libfabric libfabric = Libfabric.load();
        assertThat(libfabric.version().major()).isPositive();

        // Providers are libfabric's drivers: one for each kind of network, and some in software. This is what fi_info
        // shows.
        for (FabricInfo info : libfabric.info(FabricHints.any())) {
            assertThat(info.provider()).isNotEmpty();
        }

        // You say what you need, and get what offers it, best first. Hints are immutable: each method gives a changed
        // copy.
        FabricInfo info = libfabric.info(FabricHints.rma().provider("shm")).getFirst();
        assertThat(info.capabilities()).contains(Capability.RMA);
        assertThat(info.transmit().injectSize()).isPositive();

        // Asking for what nobody has is an exception, and its message lists the providers that this machine has.
        assertThatThrownBy(() -> libfabric.info(FabricHints.rma().provider("telepathy")))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("shm");
    }

    /** 2. A write into a peer's memory. */
    @ForEachProvider
    @MethodSource("providers")
    void write(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(hints(provider)).getFirst();

        // Objects are opened from each other, and closed in the reverse order: try-with-resources does it.
        // A fabric is a network; a domain is an adapter in it, to which everything else belongs.
        try (Fabric fabric = libfabric.openFabric(info);
                Domain domain = fabric.openDomain();
                // Operations run by themselves. When one is done, the completion queue says so.
                CompletionQueue queue = domain.openCompletionQueue();
                // The address vector has the peers that endpoints can reach.
                AddressVector peers = domain.openAddressVector();
                // Regions are off-heap memory that the provider may use. Say what for; nothing else is allowed.
                MemoryRegion source = domain.allocate(64, Access.WRITE);
                MemoryRegion target = domain.allocate(64, Access.REMOTE_WRITE);
                // Endpoints send and receive. What they use is bound to them before they are enabled.
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                // The peer is in this program for now; part 5 has two sides.
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());

            // A region's memory is an ordinary MemorySegment.
            source.segment().setString(0, "Hello, peer");

            // The write: 64 bytes from offset 0 of our region to offset 0 of the peer's. The token is yours: it comes
            // back.
            here.rma().write(source.slice(0, 64), peer, target.remote(), 42);

            // Polling makes progress, and hands each completion to the handler: the write is done, the source may be
            // reused.
            List<Long> tokens = new ArrayList<>();
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> tokens.add(token), 16) > 0, SOON);
            assertThat(tokens).containsExactly(42L);

            // That the bytes have arrived is certain only to the target, and with most providers the target must poll,
            // too.
            Waiting.YIELD.until(() -> {
                queue.progress();
                return target.segment().getString(0).equals("Hello, peer");
            }, SOON);
        }
    }

    /** 3. A read from a peer's memory. */
    @ForEachProvider
    @MethodSource("providers")
    void read(String provider) {
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints(provider)).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion sink = domain.allocate(64, Access.READ);
                MemoryRegion theirs = domain.allocate(64, Access.REMOTE_READ);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            theirs.segment().set(JAVA_INT, 60, 2026);

            // Four bytes from offset 60 of their region to offset 8 of ours. When it completes, the bytes are here.
            here.rma().read(sink.slice(8, 4), peer, theirs.remote().slice(60, 4), 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 16) > 0, SOON);

            assertThat(sink.segment().get(JAVA_INT, 8)).isEqualTo(2026);
        }
    }

    /** 4. Mistakes are exceptions, before anything reaches the network. */
    @Test
    void mistakes() {
        Libfabric libfabric = Libfabric.load();
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints("shm")).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion source = domain.allocate(64, Access.WRITE);
                MemoryRegion target = domain.allocate(32, Access.REMOTE_WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            Rma rma = here.rma();

            // Out of bounds: of our region, or of the peer's.
            assertThatThrownBy(() -> rma.write(source.slice(60, 8), peer, target.remote(), 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> rma.write(source.slice(0, 64), peer, target.remote(), 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);

            // Not what the region is for: the peer may not read it.
            assertThatThrownBy(() -> rma.read(source.slice(0, 8), peer, target.remote(), 1))
                    .isInstanceOf(IllegalArgumentException.class);

            // Too early to close: the message names what is still open.
            assertThatIllegalStateException().isThrownBy(domain::close).withMessageContaining("CompletionQueue");

            // Too late to use.
            MemoryRegion gone = domain.allocate(64, Access.WRITE);
            gone.close();
            assertThatIllegalStateException().isThrownBy(() -> rma.write(gone.slice(0, 8), peer, target.remote(), 1));
        }
    }

    /** 5. One side of an exchange, as a program of its own has it. */
    private static final class Side implements AutoCloseable {
        final Fabric fabric;
        final Domain domain;
        final CompletionQueue queue;
        final AddressVector peers;
        final Counter written;
        final MemoryRegion outbox;
        final MemoryRegion inbox;
        final Endpoint endpoint;
        Peer peer;
        RemoteRegion theirInbox;

        Side(String provider) {
            Libfabric libfabric = Libfabric.load();
            fabric = libfabric.openFabric(libfabric.info(hints(provider)).getFirst());
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            peers = domain.openAddressVector();
            // A counter tells how many operations have completed, where nobody needs to know which.
            written = domain.openCounter();
            outbox = domain.allocate(8, Access.WRITE);
            inbox = domain.allocate(8, Access.REMOTE_WRITE);
            endpoint = domain.openEndpoint().bind(queue).bind(peers).bind(written, CounterEvent.WRITE).enable();
        }

        /** What the other side must know: where we are, and the key to our inbox. Send these bytes by any means. */
        List<byte[]> invitation() {
            return List.of(endpoint.address().encode(), inbox.remote().encode());
        }

        /** Both are checked when they are decoded. */
        void accept(List<byte[]> invitation) {
            peer = peers.insert(EndpointAddress.decode(invitation.get(0)));
            theirInbox = RemoteRegion.decode(invitation.get(1));
        }

        /**
         * Writes a number into the other side's inbox, and tells it so: the completion data arrives after the bytes.
         */
        void send(int number, int round) {
            outbox.segment().set(JAVA_INT, 0, number);
            endpoint.rma().writeData(outbox.slice(0, 8), round, peer, theirInbox, round);
        }

        /**
         * Waits until the other side's write of that round is here. Polling is also what makes our own operations go
         * on.
         */
        int receive(int round) {
            boolean[] arrived = new boolean[1];
            Waiting.YIELD.until(() -> {
                queue.poll((token, flags, length, data) -> {
                    // Our own writes complete here as well, with their token; what peers do has none.
                    if (token == CompletionHandler.NO_TOKEN && (flags & CompletionFlags.REMOTE_CQ_DATA) != 0) {
                        arrived[0] |= data == round;
                    }
                }, 16);
                return arrived[0];
            }, SOON);
            return inbox.segment().get(JAVA_INT, 0);
        }

        @Override
        public void close() {
            endpoint.close();
            outbox.close();
            inbox.close();
            written.close();
            peers.close();
            queue.close();
            domain.close();
            fabric.close();
        }
    }

    /** 6. The exchange: a number goes back and forth, and grows by one each time. */
    @ForEachProvider
    @MethodSource("providers")
    void exchange(String provider) throws Exception {
        int rounds = 10;
        try (Side left = new Side(provider); Side right = new Side(provider)) {
            left.accept(right.invitation());
            right.accept(left.invitation());

            // Each side has its thread, as it would have its process. A side that waits polls, so both make progress.
            Thread other = Thread.ofPlatform().start(() -> {
                for (int round = 1; round <= rounds; round++) {
                    right.send(right.receive(round) + 1, round);
                }
                // The last write is under way yet: whoever leaves now would take it along.
                right.written.await(rounds, SOON);
            });
            int number = 0;
            for (int round = 1; round <= rounds; round++) {
                left.send(number + 1, round);
                number = left.receive(round);
            }
            left.written.await(rounds, SOON);
            // Our progress may be what the other side's last completion needs.
            Waiting.YIELD.until(() -> {
                left.queue.progress();
                return !other.isAlive();
            }, SOON);

            assertThat(number).isEqualTo(2 * rounds);
            assertThat(left.written.read()).isEqualTo(rounds);
            assertThat(left.written.readErrors()).isZero();
            assertThat(right.written.read()).isEqualTo(rounds);
        }
    }

    /** 7. A side that does something else: a thread makes progress for it. */
    @ForEachProvider
    @MethodSource("providers")
    void aTargetThatNeverPolls(String provider) {
        try (Side left = new Side(provider);
                Side right = new Side(provider);
                ProgressThread progress = right.domain.startProgress()) {
            left.accept(right.invitation());
            left.send(7, 1);

            // The counter makes progress on this side while it waits.
            left.written.await(1, SOON);
            Waiting.YIELD.until(() -> right.inbox.segment().get(JAVA_INT, 0) == 7, SOON);
            assertThat(progress.isRunning()).isTrue();
        }
    }

    /** 8. Without spinning: the thread sleeps until something has completed. Not every provider can; shm cannot. */
    @Test
    void sleeping() {
        Libfabric libfabric = Libfabric.load();
        CompletionQueueAttributes sleepy = CompletionQueueAttributes.defaults().waitObject(WaitObject.FD);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints("tcp;ofi_rxm")).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue(sleepy);
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(64, Access.READ, Access.REMOTE_READ);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            here.rma().read(memory.slice(0, 8), peer, memory.remote().slice(32, 8), 5);

            List<Long> tokens = new ArrayList<>();
            assertThat(queue.await((token, flags, length, data) -> tokens.add(token), 16, SOON)).isEqualTo(1);
            assertThat(tokens).containsExactly(5L);
        }
    }

    /** 9. Messages: the receiver says where they go, and with tags, which it wants. */
    @ForEachProvider
    @MethodSource("providers")
    void messagesWithTags(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricHints withTags = hints(provider).capabilities(Capability.TAGGED);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(withTags).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion outbox = domain.allocate(64, Access.SEND);
                MemoryRegion inbox = domain.allocate(64, Access.RECEIVE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            there.tagged().receive(inbox.slice(0, 8), 0x20, 0, 20);
            there.tagged().receive(inbox.slice(8, 8), 0x10, 0, 10);
            outbox.segment().set(JAVA_INT, 0, 7);
            // the receive with this tag takes it, though it was posted later
            here.tagged().send(outbox.slice(0, 8), peer, 0x10, 1);

            List<Long> tokens = new ArrayList<>();
            Waiting.YIELD.until(() -> {
                queue.poll((token, flags, length, data) -> tokens.add(token), 16);
                return tokens.size() == 2;
            }, SOON);
            assertThat(tokens).containsExactlyInAnyOrder(1L, 10L);
            assertThat(inbox.segment().get(JAVA_INT, 8)).isEqualTo(7);
            there.tagged().cancel(20); // nobody sends 0x20: closing would end it as well
        }
    }

    /** 10. A number that many change. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "sockets"})
    void atomics(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.atomics().provider(provider);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion shared = domain.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE);
                // The previous value comes into a cell, which has the operands behind it.
                MemoryRegion cell = domain.allocate(64, Access.READ, Access.WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            shared.segment().set(JAVA_LONG, 0, 41);

            // Adds 1 to their number, in one step, whoever else does so at the same time; the cell gets what it was.
            here.atomics().fetch(AtomicOperation.SUM, Datatype.INT64, 1, cell.slice(0, 16), peer, shared.remote(), 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 16) > 0, SOON);
            assertThat(cell.segment().get(JAVA_LONG, 0)).isEqualTo(41);

            // A lock: 7 goes there if 0 is there. Who finds 0 in the cell has it, and gives it back by writing 0.
            here.atomics().compare(AtomicOperation.CSWAP, Datatype.INT64, 7, 0, cell.slice(0, 24), peer,
                    shared.remote().slice(8, 8), 2);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 16) > 0, SOON);
            assertThat(cell.segment().get(JAVA_LONG, 0)).isZero();

            // What a provider does not have is refused by name; valid says what it has.
            assertThat(here.atomics().valid(AtomicForm.COMPARE, AtomicOperation.SUM, Datatype.INT64)).isZero();
            assertThat(shared.segment().get(JAVA_LONG, 0)).isEqualTo(42);
        }
    }
}
// @end
