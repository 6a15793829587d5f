package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Untried;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** What one-sided operations promise: fi_rma(3) and fi_mr(3). */
final class RmaRules {
    private static final int PIECE = 4096;
    private static final int PIECES = 64;
    private static final int ROUNDS = 200;
    private static final long[] LENGTHS = {1, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1 << 20,
            (1 << 20) + 1};
    private static final int ROOM = 2 << 20;
    private static final long HUGE = (4L << 30) + 1;
    private static final int BORDER = 8;
    private static final long TOKEN = 7;

    private RmaRules() {}

    static void addTo(Map<String, Trial> all) {
        all.put("writes and reads of 1 byte to 1 MiB + 1", RmaRules::lengths);
        all.put("the longest injected write, one byte less, one more", RmaRules::injectLongest);
        all.put("behind a flush, all writes are there", RmaRules::flush);
        all.put("a write with data is there before its data", RmaRules::writeData);
        all.put("writeThenNotify: the bytes are there before the flag", RmaRules::notifyTarget);
        all.put("a region closes under traffic", RmaRules::closeSource);
        all.put("a target closes under traffic", RmaRules::closeTarget);
    }

    static void addLongTo(Map<String, Trial> all) { all.put("4 GiB + 1 byte", new HugeWrite()); }

    private static void lengths(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(ROOM, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(ROOM, Access.REMOTE_WRITE, Access.REMOTE_READ);
                MemoryRegion back = ends.domain.allocate(ROOM, Access.READ)) {
            long longest = ends.domain.info().endpoint().maximumMessageSize();
            for (long length : LENGTHS) {
                if (Long.compareUnsigned(length, longest) <= 0) { length(ends, source, target, back, length); }
            }
        }
    }

    private static void length(Ends ends, MemoryRegion source, MemoryRegion target, MemoryRegion back, long length) {
        Pattern.fill(source.segment().asSlice(0, length), length);
        target.segment().asSlice(0, length + 2 * BORDER).fill((byte) 0);
        Rma rma = ends.near.endpoint().rma();
        rma.prepare().peer(ends.peer).local(source, 0, length).remote(target.remote(), BORDER, length).write(TOKEN);
        ends.awaitToken(TOKEN);
        MemorySegment written = source.segment().asSlice(0, length);
        CompletionRules.requireArrived(ends, target.segment().asSlice(BORDER, length), written,
                "the target of a write of " + length + " bytes");
        Check.equal("the byte before the target", target.segment().get(ValueLayout.JAVA_BYTE, BORDER - 1), (byte) 0);
        Check.equal("the byte behind the target", target.segment().get(ValueLayout.JAVA_BYTE, BORDER + length),
                (byte) 0);
        rma.prepare().peer(ends.peer).local(back, 0, length).remote(target.remote(), BORDER, length).read(TOKEN);
        ends.awaitToken(TOKEN);
        Check.bytes("what a read of " + length + " bytes brought", back.segment().asSlice(0, length), written);
    }

    private static void injectLongest(Subject subject) {
        try (Ends ends = new Ends(subject)) {
            long longest = ends.domain.info().transmit().injectSize();
            if (longest == 0) { throw new UnsupportedOperationException("the provider injects nothing"); }
            try (MemoryRegion source = ends.domain.allocate(longest + 1, Access.WRITE);
                    MemoryRegion target = ends.domain.allocate(longest + 1, Access.REMOTE_WRITE)) {
                for (long length = longest - 1; length <= longest; length++) {
                    Pattern.fill(source.segment(), length);
                    ends.near.endpoint().rma().injectWrite(source.slice(0, length), ends.peer, target.remote());
                    source.segment().fill((byte) -1);
                    CompletionRules.requireArrived(ends, target.segment().asSlice(0, length),
                            Pattern.of(length, longest + 1).asSlice(0, length),
                            "the target of an injected write of " + length + " bytes");
                }
                Check.thrown("an injected write of " + (longest + 1) + " bytes", IllegalArgumentException.class,
                        () -> ends.near.endpoint().rma().injectWrite(source.slice(0, longest + 1), ends.peer,
                                target.remote()));
            }
        }
    }

    private static void flush(Subject subject) {
        long length = (long) PIECE * PIECES;
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(length, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(length, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            Rma rma = ends.near.endpoint().rma();
            for (int round = 0; round < ROUNDS / PIECES + 2; round++) {
                Pattern.fill(source.segment(), round);
                for (int i = 0; i < PIECES; i++) {
                    rma.prepare().peer(ends.peer).local(source, (long) i * PIECE, PIECE)
                            .remote(target.remote(), (long) i * PIECE, PIECE).write(i);
                }
                rma.flush(ends.peer, target.remote(), PIECES);
                ends.require("the completion of a flush", () -> ends.near.tokens().contains((long) PIECES));
                Check.bytes("the target behind the flush", target.segment(), source.segment());
                ends.require("the completions of the writes", () -> ends.near.count() == PIECES + 1);
                ends.near.done.clear();
            }
        }
    }

    private static void writeData(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(PIECE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(PIECE, Access.REMOTE_WRITE)) {
            for (int round = 1; round <= ROUNDS; round++) {
                Pattern.fill(source.segment(), round);
                ends.near.endpoint().rma().writeData(source.slice(0, PIECE), round, ends.peer, target.remote(), round);
                ends.require("the data of a write", () -> !ends.far.remoteData().isEmpty());
                Check.equal("the data", ends.far.remoteData().getLast(), (long) round);
                Check.bytes("the target when the data is there", target.segment(), source.segment());
                ends.require("the completion of a write", () -> ends.near.count() > 0);
                ends.near.done.clear();
                ends.far.done.clear();
            }
        }
    }

    private static void notifyTarget(Subject subject) {
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(PIECE + Long.BYTES, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(PIECE, Access.REMOTE_WRITE);
                MemoryRegion flag = ends.domain.allocate(Long.BYTES, Access.REMOTE_WRITE)) {
            for (int round = 1; round <= ROUNDS; round++) {
                Pattern.fill(source.segment().asSlice(0, PIECE), round);
                source.segment().set(ValueLayout.JAVA_LONG, PIECE, round);
                ends.near.endpoint().rma().writeThenNotify(source.slice(0, PIECE), ends.peer, target.remote(),
                        source.slice(PIECE, Long.BYTES), flag.remote(), round);
                long expected = round;
                ends.require("the flag", () -> flag.getLongAcquire(0) == expected);
                Check.bytes("the target when the flag is there", target.segment(), source.segment().asSlice(0, PIECE));
                ends.require("the completion of a write", () -> ends.near.count() > 0);
                ends.near.done.clear();
            }
        }
    }

    private static void closeSource(Subject subject) {
        int length = PIECES * PIECE;
        try (Ends ends = new Ends(subject); MemoryRegion target = ends.domain.allocate(length, Access.REMOTE_WRITE)) {
            MemoryRegion source = ends.domain.allocate(length, Access.WRITE);
            Pattern.fill(source.segment(), 1);
            MemorySegment expected = Pattern.of(1, length);
            for (int i = 0; i < PIECES; i++) {
                ends.near.endpoint().rma().prepare().peer(ends.peer).local(source, (long) i * PIECE, PIECE)
                        .remote(target.remote(), (long) i * PIECE, PIECE).write(i);
            }
            source.close();
            Check.thrown("a write from a region that is closed", IllegalStateException.class,
                    () -> ends.near.endpoint().rma().write(source.slice(0, PIECE), ends.peer, target.remote(), PIECES));
            ends.require("each completion of the writes from a region that was closed",
                    () -> ends.near.count() >= PIECES);
            Check.none("the errors", ends.near.errors);
            CompletionRules.requireArrived(ends, target.segment(), expected, "the target");
        }
    }

    /** Whether they still arrive is open; each has to come back. */
    private static void closeTarget(Subject subject) {
        int length = PIECES * PIECE;
        try (Ends ends = new Ends(subject); MemoryRegion source = ends.domain.allocate(length, Access.WRITE)) {
            MemoryRegion target = ends.domain.allocate(length, Access.REMOTE_WRITE);
            for (int i = 0; i < PIECES; i++) {
                ends.near.endpoint().rma().prepare().peer(ends.peer).local(source, (long) i * PIECE, PIECE)
                        .remote(target.remote(), (long) i * PIECE, PIECE).write(i);
            }
            target.close();
            ends.require("what becomes of each write to a target that was closed", () -> ends.near.count() >= PIECES);
        }
    }

    /** Takes long: memory is filled, moved and compared. */
    private static final class HugeWrite implements Trial {
        private static final int DEADLINES = 12;

        @Override
        public int deadlines() { return 2 * DEADLINES; }

        @Override
        public void run(Subject subject) { writeHuge(subject.within(subject.deadline().multipliedBy(DEADLINES))); }
    }

    private static void writeHuge(Subject subject) {
        long available = available();
        if (available < 3 * HUGE) {
            throw new Untried(
                    "it needs " + (3 * HUGE >> 30) + " GiB of memory, and " + (available >> 30) + " GiB are free");
        }
        try (Ends ends = new Ends(subject)) {
            long longest = ends.near.endpoint().rma().maximumMessageSize();
            if (Long.compareUnsigned(HUGE, longest) > 0) {
                throw new UnsupportedOperationException("an operation has at most " + longest + " bytes");
            }
            try (MemoryRegion source = ends.domain.allocate(HUGE, Access.WRITE);
                    MemoryRegion target = ends.domain.allocate(HUGE, Access.REMOTE_WRITE)) {
                for (long at = 0; at < HUGE; at += PIECE) {
                    source.segment().set(ValueLayout.JAVA_BYTE, at, (byte) (at >> 20 | 1));
                }
                ends.near.endpoint().rma().write(source.slice(0, HUGE), ends.peer, target.remote(), TOKEN);
                ends.awaitToken(TOKEN);
                long last = HUGE - 1;
                byte expected = source.segment().get(ValueLayout.JAVA_BYTE, last);
                ends.require("the last byte", () -> target.segment().get(ValueLayout.JAVA_BYTE, last) == expected);
                CompletionRules.requireArrived(ends, target.segment(), source.segment(), "the target");
            }
        }
    }

    private static long available() {
        try {
            return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                    .filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).findFirst().orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
