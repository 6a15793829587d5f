package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.InsertResult;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Pair;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What programs do seldom with addresses, peers and names, and must survive. */
final class AddressCorners {
    private static final int SIZE = 64;
    /** So much that both ends work on it. */
    private static final int ROOM = 64 << 10;
    /** More than an address vector has places over some providers. */
    private static final int MANY_PEERS = 300;
    /** What each provider takes at least. */
    private static final int SOME_PEERS = 100;
    private static final String PREFIX = "fi_shm://";
    private static final Path SHM = Path.of("/dev/shm");
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private AddressCorners() {}

    static void addTo(Map<String, Trial> all) {
        all.put("an absent peer does not share its address", AddressCorners::insertAbsent);
        all.put("an absent name does not share its address", AddressCorners::insertAbsentName);
        all.put("many peers come and go", AddressCorners::replacePeers);
        all.put("a peer is removed that nothing was sent to", AddressCorners::removeUnused);
        all.put("each address of several hosts has its number", AddressCorners::insertSymmetric);
        all.put("a name is used again", AddressCorners::reuseName);
        all.put("a name that is taken is not taken away", AddressCorners::takeName);
        all.put("a process that is ended leaves no file of its endpoint", AddressCorners::endProcess);
    }

    /** That it is refused is as good. */
    private static void insertAbsent(Subject subject) {
        try (Ends ends = new Ends(subject); CompletionQueue queue = ends.domain.openCompletionQueue()) {
            EndpointAddress absent;
            try (Endpoint gone = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
                absent = gone.address();
            }
            insertBefore(ends, queue, absent);
        }
    }

    private static void insertAbsentName(Subject subject) {
        try (Ends ends = new Ends(subject); CompletionQueue queue = ends.domain.openCompletionQueue()) {
            ends.vector();
            insertBefore(ends, queue, name(ends, "ofi4j-absent-"));
        }
    }

    /** Names are a program's own choice over shared memory alone. */
    private static EndpointAddress name(Ends ends, String prefix) {
        return ends.domain.info().addressNamed(prefix + ProcessHandle.current().pid());
    }

    private static void insertBefore(Ends ends, CompletionQueue queue, EndpointAddress absent) {
        Peer first;
        try {
            first = ends.vector().insert(absent);
        } catch (FabricException | IllegalArgumentException | IllegalStateException e) {
            return;
        }
        try (Endpoint other = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
            Peer second = ends.vector().insert(other.address());
            Check.holds("two peers have two addresses", first.fabricAddress() != second.fabricAddress());
        }
    }

    /** Where a vector has no places any more, it says so. */
    private static void replacePeers(Subject subject) {
        try (Ends ends = new Ends(subject);
                CompletionQueue queue = ends.domain.openCompletionQueue();
                MemoryRegion source = ends.domain.allocate(ROOM, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(ROOM, Access.REMOTE_WRITE)) {
            long start = System.nanoTime();
            boolean isBusy = false; // then fewer are enough
            for (int number = 1; number <= MANY_PEERS && !isBusy; number++) {
                Pattern.fill(source.segment(), number);
                try (Endpoint other = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
                    Peer peer = ends.vector().insert(other.address());
                    writeTo(peer, ends, queue, source, target, number);
                    ends.vector().remove(peer);
                } catch (IllegalStateException e) {
                    Check.holds("a vector has places for " + SOME_PEERS + " peers", number > SOME_PEERS);
                    return;
                }
                isBusy = System.nanoTime() - start > subject.deadline().toNanos() / 2;
            }
        }
    }

    private static void writeTo(Peer peer, Ends ends, CompletionQueue queue, MemoryRegion source, MemoryRegion target,
            long token) {
        Rma rma = ends.near.endpoint().rma();
        rma.write(source.slice(0, ROOM), peer, target.remote(), token);
        ends.require("the completion of a write to a new peer", () -> {
            queue.poll(NOTHING, SIZE);
            return ends.near.count() > 0;
        });
        Check.none("the errors", ends.near.errors);
        ends.require("the bytes of a write to a new peer", () -> {
            queue.poll(NOTHING, SIZE);
            return target.segment().mismatch(source.segment()) == -1;
        });
        ends.near.done.clear();
    }

    private static void removeUnused(Subject subject) {
        try (Ends ends = new Ends(subject);
                CompletionQueue queue = ends.domain.openCompletionQueue();
                Endpoint other = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
            ends.vector().remove(ends.vector().insert(other.address()));
        }
    }

    /** One host with the ports of two services. */
    private static void insertSymmetric(Subject subject) {
        try (Ends ends = new Ends(subject)) {
            List<InsertResult> results = ends.vector().insertSymmetric("127.0.0.1", 2, "47000", 2);
            Check.equal("the number of results", results.size(), 4);
            Check.holds("all were inserted", results.stream().allMatch(InsertResult::succeeded));
            Check.equal("the different numbers of the peers",
                    results.stream().map(result -> result.peer().fabricAddress()).distinct().count(), 4);
        }
    }

    private static void reuseName(Subject subject) {
        try (Ends ends = new Ends(subject);
                CompletionQueue queue = ends.domain.openCompletionQueue();
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            EndpointAddress name = name(ends, "ofi4j-verify-");
            for (int round = 1; round <= 2; round++) {
                Pattern.fill(source.segment(), round);
                try (Endpoint named = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).address(name)
                        .enable()) {
                    Peer peer = ends.vector().insert(named.address());
                    ends.near.endpoint().rma().write(source.slice(0, SIZE), peer, target.remote(), round);
                    ends.require("the bytes of a write to a name", () -> {
                        queue.poll(NOTHING, SIZE);
                        return target.segment().mismatch(source.segment()) == -1;
                    });
                    ends.vector().remove(peer);
                }
            }
        }
    }

    /** As by a process of another container that has the number of this one. */
    private static void takeName(Subject subject) throws IOException {
        try (Ends ends = new Ends(subject); CompletionQueue queue = ends.domain.openCompletionQueue()) {
            Path own = file(ends.far.endpoint().address());
            String name = own.toString();
            int end = name.lastIndexOf(':') + 1;
            long number = Long.parseLong(name.substring(end));
            try (TakenFile first = new TakenFile(own, Path.of(name.substring(0, end) + (number + 1)));
                    TakenFile second = new TakenFile(own, Path.of(name.substring(0, end) + (number + 2)))) {
                try (Endpoint _ = ends.domain.openEndpoint().bind(ends.vector()).bind(queue).enable()) {
                    first.requireUntouched();
                    second.requireUntouched();
                } catch (FabricException e) {
                    return; // refused
                }
                first.requireUntouched();
                second.requireUntouched();
            }
        }
    }

    /** A copy of an endpoint's file that somebody has open. */
    private static final class TakenFile implements AutoCloseable {
        private final Path file;
        private final byte[] content;
        private final FileChannel channel;

        TakenFile(Path original, Path file) throws IOException {
            this.file = file;
            content = Files.readAllBytes(original);
            Files.write(file, content, StandardOpenOption.CREATE_NEW);
            channel = FileChannel.open(file, StandardOpenOption.READ);
        }

        void requireUntouched() throws IOException {
            Check.holds("the file of another process is there", Files.exists(file));
            Check.equal("the first changed byte of the file of another process",
                    Arrays.mismatch(Files.readAllBytes(file), content), -1);
        }

        @Override
        public void close() throws IOException {
            channel.close();
            Files.deleteIfExists(file);
        }
    }

    /** {@return the file of an endpoint of shared memory} */
    private static Path file(EndpointAddress address) {
        String text = new String(address.toBytes(), StandardCharsets.ISO_8859_1);
        if (text.startsWith(PREFIX)) {
            Path file = SHM.resolve(text.substring(PREFIX.length()).replace("\0", ""));
            if (Files.exists(file)) { return file; }
        }
        throw new UnsupportedOperationException("its endpoints have no files in " + SHM);
    }

    /** By SIGTERM, which lets a process end in order. */
    private static void endProcess(Subject subject) throws InterruptedException, IOException {
        try (Pair pair = new Pair(subject)) {
            Path file = file(pair.address);
            try {
                pair.far.process().signal("TERM");
                if (!pair.within(subject.deadline(), () -> pair.far.process().ended(Duration.ofMillis(1)))) {
                    throw new Absent("the end of a process that was told to end", subject.deadline());
                }
                Check.holds("its file is gone", !Files.exists(file));
            } finally {
                Files.deleteIfExists(file);
            }
        }
    }
}
