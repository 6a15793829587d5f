package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Rma;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.FarEnd;
import io.ofi4j.conformance.FarRegion;
import io.ofi4j.conformance.Pair;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Untried;
import java.io.IOException;
import java.io.UncheckedIOException;
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

    private static void lengths(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject);
                MemoryRegion source = pair.domain.allocate(ROOM, Access.WRITE);
                MemoryRegion back = pair.domain.allocate(ROOM, Access.READ)) {
            FarRegion target = pair.far.allocate(ROOM, Access.REMOTE_WRITE, Access.REMOTE_READ);
            long longest = pair.domain.info().endpoint().maximumMessageSize();
            for (long length : LENGTHS) {
                if (Long.compareUnsigned(length, longest) <= 0) { length(pair, source, target, back, length); }
            }
        }
    }

    private static void length(Pair pair, MemoryRegion source, FarRegion target, MemoryRegion back, long length) {
        Pattern.fill(source.segment().asSlice(0, length), length);
        long other = length + 1;
        target.fill(0, length + 2 * BORDER, other);
        byte before = target.at(BORDER - 1);
        byte behind = target.at(BORDER + length);
        Rma rma = pair.near.endpoint().rma();
        rma.prepare().peer(pair.peer).local(source, 0, length).remote(target.remote(), BORDER, length).write(TOKEN);
        pair.awaitToken(TOKEN);
        pair.requireArrived("the target of a write of " + length + " bytes", target, BORDER, length, length);
        Check.equal("the byte before the target", target.at(BORDER - 1), before);
        Check.equal("the byte behind the target", target.at(BORDER + length), behind);
        rma.prepare().peer(pair.peer).local(back, 0, length).remote(target.remote(), BORDER, length).read(TOKEN);
        pair.awaitToken(TOKEN);
        Check.bytes("what a read of " + length + " bytes brought", back.segment().asSlice(0, length),
                source.segment().asSlice(0, length));
    }

    private static void injectLongest(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject)) {
            long longest = pair.domain.info().transmit().injectSize();
            if (longest == 0) { throw new UnsupportedOperationException("the provider injects nothing"); }
            FarRegion target = pair.far.allocate(longest + 1, Access.REMOTE_WRITE);
            try (MemoryRegion source = pair.domain.allocate(longest + 1, Access.WRITE)) {
                Rma rma = pair.near.endpoint().rma();
                for (long length = longest - 1; length <= longest; length++) {
                    Pattern.fill(source.segment(), length);
                    rma.injectWrite(source.slice(0, length), pair.peer, target.remote());
                    source.segment().fill((byte) -1);
                    pair.requireArrived("the target of an injected write of " + length + " bytes", target, 0, length,
                            length);
                }
                Check.thrown("an injected write of " + (longest + 1) + " bytes", IllegalArgumentException.class,
                        () -> rma.injectWrite(source.slice(0, longest + 1), pair.peer, target.remote()));
            }
        }
    }

    private static void flush(Subject subject) throws InterruptedException {
        long length = (long) PIECE * PIECES;
        try (Pair pair = new Pair(subject); MemoryRegion source = pair.domain.allocate(length, Access.WRITE)) {
            FarRegion target = pair.far.allocate(length, Access.REMOTE_WRITE, Access.REMOTE_READ);
            Rma rma = pair.near.endpoint().rma();
            for (int round = 0; round < ROUNDS / PIECES + 2; round++) {
                Pattern.fill(source.segment(), round);
                for (int i = 0; i < PIECES; i++) {
                    rma.prepare().peer(pair.peer).local(source, (long) i * PIECE, PIECE)
                            .remote(target.remote(), (long) i * PIECE, PIECE).write(i);
                }
                rma.flush(pair.peer, target.remote(), PIECES);
                pair.require("the completion of a flush", () -> pair.near.tokens().contains((long) PIECES));
                target.require("the target behind the flush", 0, length, round);
                pair.require("the completions of the writes", () -> pair.near.count() == PIECES + 1);
                pair.near.done.clear();
            }
        }
    }

    private static void writeData(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject); MemoryRegion source = pair.domain.allocate(PIECE, Access.WRITE)) {
            FarRegion target = pair.far.allocate(PIECE, Access.REMOTE_WRITE);
            pair.far.watch(target, PIECE);
            for (int round = 1; round <= ROUNDS && pair.hasTime(); round++) {
                Pattern.fill(source.segment(), round);
                pair.near.endpoint().rma().writeData(source.slice(0, PIECE), round, pair.peer, target.remote(), round);
                requireSeen(pair, round, "the data of a write", "the target when the data is there");
            }
        }
    }

    /** The far half has looked when it came. */
    private static void requireSeen(Pair pair, long number, String what, String target) {
        pair.requireFar(what, () -> !pair.far.seen.isEmpty());
        FarEnd.Seen seen = pair.far.seen.getFirst();
        Check.equal(what, seen.number(), number);
        Check.equal("the first wrong byte of " + target, seen.mismatch(), -1);
        pair.require("the completion of a write", () -> pair.near.count() > 0);
        Check.none("the errors", pair.near.errors);
        pair.near.done.clear();
        pair.far.seen.clear();
        pair.far.done.clear();
    }

    private static void notifyTarget(Subject subject) throws InterruptedException {
        try (Pair pair = new Pair(subject);
                MemoryRegion source = pair.domain.allocate(PIECE + Long.BYTES, Access.WRITE)) {
            FarRegion target = pair.far.allocate(PIECE, Access.REMOTE_WRITE);
            FarRegion flag = pair.far.allocate(Long.BYTES, Access.REMOTE_WRITE);
            pair.far.watch(flag, target, PIECE);
            for (int round = 1; round <= ROUNDS && pair.hasTime(); round++) {
                Pattern.fill(source.segment().asSlice(0, PIECE), round);
                source.segment().set(ValueLayout.JAVA_LONG, PIECE, round);
                pair.near.endpoint().rma().writeThenNotify(source.slice(0, PIECE), pair.peer, target.remote(),
                        source.slice(PIECE, Long.BYTES), flag.remote(), round);
                requireSeen(pair, round, "the flag", "the target when the flag is there");
            }
        }
    }

    private static void closeSource(Subject subject) throws InterruptedException {
        int length = PIECES * PIECE;
        try (Pair pair = new Pair(subject)) {
            FarRegion target = pair.far.allocate(length, Access.REMOTE_WRITE);
            MemoryRegion source = pair.domain.allocate(length, Access.WRITE);
            Pattern.fill(source.segment(), 1);
            postWrites(pair, source, target);
            source.close();
            Check.thrown("a write from a region that is closed", IllegalStateException.class,
                    () -> pair.near.endpoint().rma().write(source.slice(0, PIECE), pair.peer, target.remote(), PIECES));
            pair.require("each completion of the writes from a region that was closed",
                    () -> pair.near.count() >= PIECES);
            Check.none("the errors", pair.near.errors);
            pair.requireArrived("the target", target, 0, length, 1);
        }
    }

    private static void postWrites(Pair pair, MemoryRegion source, FarRegion target) {
        for (int i = 0; i < PIECES; i++) {
            pair.near.endpoint().rma().prepare().peer(pair.peer).local(source, (long) i * PIECE, PIECE)
                    .remote(target.remote(), (long) i * PIECE, PIECE).write(i);
        }
    }

    /** Whether they still arrive is open; each has to come back. */
    private static void closeTarget(Subject subject) throws InterruptedException {
        int length = PIECES * PIECE;
        try (Pair pair = new Pair(subject); MemoryRegion source = pair.domain.allocate(length, Access.WRITE)) {
            FarRegion target = pair.far.allocate(length, Access.REMOTE_WRITE);
            postWrites(pair, source, target);
            target.close();
            pair.require("what becomes of each write to a target that was closed", () -> pair.near.count() >= PIECES);
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
                Check.bytes("the target", target.segment(), source.segment());
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
