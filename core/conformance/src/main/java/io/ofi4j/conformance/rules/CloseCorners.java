package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What happens to others when an endpoint closes under its operations. */
final class CloseCorners {
    private static final int SIZE = 64;
    private static final int ROOM = 64 << 10;
    private static final int PEERS = 8;
    private static final int MANY_POLLS = 2000;
    private static final long TOKEN = 7;
    /** So long that it is under way for several polls. */
    private static final long LONG_READ = 4 << 20;
    private static final int READS = 12;
    /** So long that part of it is there long before the rest. */
    private static final long LONG_WRITE = 32 << 20;
    private static final int WRITES = 3;
    /** More operations than a domain works on at a time over some providers. */
    private static final int CLOSES = 12;
    private static final int UNDER_WAY = 32;
    /** More than a target looks at in one poll. */
    private static final int MANY_SUMS = 50;
    private static final Duration MOMENT = Duration.ofMillis(100);
    private static final Duration SHORT = Duration.ofMillis(300);

    private CloseCorners() {}

    static void addTo(Map<String, Trial> all) {
        all.put("an endpoint closes under the writes of its neighbour", CloseCorners::closeUnderWrites);
        all.put("an endpoint closes while its read is answered", CloseCorners::closeUnderRead);
        all.put("a target closes while a write with data comes", CloseCorners::closeUnderData);
        all.put("an endpoint closes under atomic operations that have come", CloseCorners::closeUnderAtomics);
        all.put("a domain works on after closes under operations", CloseCorners::closeOften);
        all.put("a shutdown closes no file of the program", CloseCorners::shutDown);
        all.put("a queue is waited for after its endpoint has closed", CloseCorners::waitBehindClose);
    }

    private static void closeUnderWrites(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate((long) PEERS * ROOM, Access.WRITE);
                MemoryRegion target = ends.domain.allocate((long) PEERS * ROOM, Access.REMOTE_WRITE)) {
            Rma rma = ends.near.endpoint().rma();
            for (int i = 0; i < PEERS; i++) {
                rma.tryWrite(source, (long) i * ROOM, ROOM, ends.peer, target.remote(), (long) i * ROOM, i);
            }
            ends.far.endpoint().close();
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.near.poll();
            }
        }
    }

    /** After any number of polls. */
    private static void closeUnderRead(Subject subject) {
        for (int polls = 0; polls < READS; polls++) {
            try (Ends ends = new Ends(subject);
                    MemoryRegion here = ends.domain.allocate(LONG_READ, Access.READ, Access.WRITE);
                    MemoryRegion there = ends.domain.allocate(LONG_READ, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
                Rma rma = ends.near.endpoint().rma();
                rma.write(here.slice(0, SIZE), ends.peer, there.remote(), TOKEN); // connects
                ends.awaitToken(TOKEN);
                rma.read(here.slice(0, Math.min(LONG_READ, rma.maximumMessageSize())), ends.peer, there.remote(),
                        TOKEN);
                for (int poll = 0; poll < polls; poll++) {
                    ends.far.poll();
                    if (poll % 2 == 1) { ends.near.poll(); }
                }
                ends.near.endpoint().close();
                ends.near.poll();
                Check.equal("the completions of a write and a read", ends.near.count(), 2);
            }
        }
    }

    /** Part of the bytes are there, and part are not. */
    private static void closeUnderData(Subject subject) {
        for (int times = 0; times < WRITES; times++) {
            try (Ends ends = new Ends(subject);
                    MemoryRegion source = ends.domain.allocate(LONG_WRITE, Access.WRITE);
                    MemoryRegion target = ends.domain.allocate(LONG_WRITE, Access.REMOTE_WRITE)) {
                Rma rma = ends.near.endpoint().rma();
                source.segment().fill((byte) 1);
                rma.writeData(source.slice(0, Math.min(LONG_WRITE, rma.maximumMessageSize())), TOKEN, ends.peer,
                        target.remote(), TOKEN);
                ends.require("the first byte of a write", () -> target.segment().get(ValueLayout.JAVA_BYTE, 0) == 1);
                ends.far.endpoint().close();
                for (int i = 0; i < MANY_POLLS; i++) {
                    ends.poll();
                }
            }
        }
    }

    /** Its provider would answer them. */
    private static void closeUnderAtomics(Subject subject) throws InterruptedException {
        FabricHints hints = subject.hints(Capability.ATOMIC);
        if (!Subject.info(hints).provider().equals(subject.provider())) {
            throw new UnsupportedOperationException("it has no atomic operations"); // ofi_rxm over it has them
        }
        for (int times = 0; times < WRITES; times++) {
            try (Ends ends = new Ends(subject, hints, CompletionQueueAttributes.defaults(), Ends.QUEUES);
                    MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                    MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
                ends.near.endpoint().rma().write(source.slice(0, 0), ends.peer, target.remote(), TOKEN); // connects
                ends.awaitToken(TOKEN);
                long begin = System.nanoTime();
                int posted = 0;
                while (posted < MANY_SUMS && System.nanoTime() - begin < MOMENT.toNanos()) {
                    posted += ends.near.endpoint().atomics().tryExecute(AtomicOperation.SUM, Datatype.INT64, source, 0,
                            1, ends.peer, target.remote(), 0, posted) ? 1 : 0;
                    ends.near.poll();
                }
                Thread.sleep(MOMENT); // they come to a target that does not look
                ends.far.endpoint().close();
                for (int i = 0; i < MANY_POLLS; i++) {
                    ends.near.poll();
                }
            }
        }
    }

    /** The peers of these operations do nothing, so that they are under way when their endpoint closes. */
    private static void closeOften(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.READ, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(ROOM, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            ends.vector();
            for (int times = 0; times < CLOSES; times++) {
                try (CompletionQueue queue = ends.domain.openCompletionQueue();
                        Endpoint other = ends.domain.openEndpoint().bind(ends.vector).bind(queue).enable()) {
                    for (int i = 0; i < UNDER_WAY; i++) {
                        other.rma().tryRead(source, 0, ROOM, ends.peer, target.remote(), 0, i);
                    }
                }
            }
            Pattern.fill(source.segment(), 1);
            ends.near.endpoint().rma().write(source.slice(0, ROOM), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.require("the bytes of a write", () -> target.segment().mismatch(source.segment()) == -1);
        }
    }

    /** A file that is opened between a shutdown and a close has the number of the connection's. */
    private static void shutDown(Subject subject) throws IOException {
        if (!subject.isConnected()) { throw new UnsupportedOperationException("it has no connections here"); }
        List<FileChannel> files = new ArrayList<>();
        Path file = Files.createTempFile("ofi4j", ".verify");
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.near.endpoint().rma().write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.near.endpoint().connection().shutdown();
            ends.far.endpoint().connection().shutdown();
            for (int i = 0; i < SIZE; i++) {
                files.add(FileChannel.open(file, StandardOpenOption.READ));
            }
            ends.near.endpoint().close();
            ends.far.endpoint().close();
            for (FileChannel channel : files) {
                channel.read(ByteBuffer.allocate(1), 0);
            }
        } catch (IOException e) {
            throw new Wrong("a file that was opened after a shutdown", e.getMessage(), "open");
        } finally {
            for (FileChannel channel : files) {
                channel.close();
            }
            Files.delete(file);
        }
    }

    private static void waitBehindClose(Subject subject) {
        try (Ends ends = new Ends(subject, subject.hints(),
                CompletionQueueAttributes.defaults().waitObject(WaitObject.FD), Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.near.endpoint().rma().write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.near.endpoint().close();
            ends.far.endpoint().close();
            Check.equal("the completions of a queue without endpoints",
                    ends.near.queue.await((token, flags, length, data) -> {}, 1, SHORT), 0);
        }
    }
}
