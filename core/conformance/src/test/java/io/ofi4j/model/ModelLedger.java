package io.ofi4j.model;

import io.ofi4j.CompletionError;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.CompletionHandler;
import io.ofi4j.model.ModelState.Count;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Op;
import io.ofi4j.model.ModelState.Piece;
import io.ofi4j.model.ModelState.Queue;
import io.ofi4j.model.ModelState.Region;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Every operation of a program and what became of it: which tokens and which data are still to come, what each byte may
 * be by now, and how far counters must come. Threads may share it.
 */
final class ModelLedger {
    private static final int ECANCELED = 125;

    /** Operations whose token has not come back. */
    private final Map<Long, Op> pending = new HashMap<>();
    /** Those whose token comes back only if they fail. */
    private final Map<Long, Op> silent = new HashMap<>();
    /** Those whose data the target has not been told, by their data. */
    private final Map<Long, List<Op>> data = new HashMap<>();
    /** Everything that was accepted, for what the bytes may be. */
    private final List<Op> accepted = new ArrayList<>();
    /** What must arrive. */
    private final List<Op> done = new ArrayList<>();
    private long lastToken;
    /** Rule: after a wrong key, a peer that is not there or a closed one, a provider may fail any operation. */
    private boolean isSpoiled;
    private ModelTally tally = ModelTally.NOTHING;

    synchronized ModelTally tally() { return tally; }

    synchronized long nextToken() { return ++lastToken; }

    /** From now on errors may come for any operation. */
    synchronized void spoil() { isSpoiled = true; }

    synchronized boolean isSpoiled() { return isSpoiled; }

    /** Rule: a region closed under a transfer, which may be an inject that nobody hears of, is a wrong key. */
    synchronized void spoilIfTarget(Region region) {
        isSpoiled |= accepted.stream().anyMatch(op -> op.writesTo(region));
    }

    /** What counts it; null where nothing does. */
    private static Count count(Op op) {
        End from = op.from();
        return ModelCalls.isCounted(op.kind(), from.endpoint.info()) ? from.counts.get(op.event()) : null;
    }

    /** An operation is about to be posted: another thread may complete it first. */
    synchronized void begin(Op op) {
        if (!op.kind().isInject()) { (op.silent() ? silent : pending).put(op.token(), op); }
        if (op.kind().hasData()) { data.computeIfAbsent(op.data(), ignored -> new ArrayList<>()).add(op); }
        Count count = count(op);
        if (count != null) { count.expected.incrementAndGet(); }
    }

    /** It was accepted. */
    synchronized void accepted(Op op) {
        accepted.add(op);
        tally = tally.plus(new ModelTally(1, op.kind().isInject() || op.silent() ? 0 : 1, 0, 0, 0));
        if (op.kind().isInject() || op.silent()) { done.add(op); }
    }

    /** It was not. */
    synchronized void refused(Op op) {
        if (!op.kind().isInject() && (op.silent() ? silent : pending).remove(op.token()) == null) {
            throw new AssertionError(op + " completed though it was refused");
        }
        if (op.kind().hasData() && !data.get(op.data()).remove(op)) {
            throw new AssertionError("the data of " + op + " came though it was refused");
        }
        Count count = count(op);
        if (count != null) { count.expected.decrementAndGet(); }
    }

    /** A queue handed this out. */
    synchronized void completed(Queue queue, long token, long flags, long value) {
        if (token == CompletionHandler.NO_TOKEN) {
            if ((flags & CompletionFlags.REMOTE_CQ_DATA) == 0) {
                throw new AssertionError("a completion of nobody's without data, flags " + Long.toHexString(flags));
            }
            told(queue, value);
            return;
        }
        Op op = pending.remove(token);
        if (op == null) {
            throw new AssertionError("token " + token + " came though it is not in flight"
                    + (silent.containsKey(token) ? " but silent" : ""));
        }
        requireQueue(queue, op);
        tally = tally.plus(new ModelTally(0, 0, 1, 0, 0));
        done.add(op);
    }

    private void told(Queue queue, long value) {
        List<Op> ops = data.getOrDefault(value, List.of());
        Op op = ops.stream().filter(one -> isTold(queue, one)).findFirst().orElseThrow(
                () -> new AssertionError("data " + value + " came, which nobody sent to this queue: " + ops));
        ops.remove(op);
    }

    /**
     * Rule: the port of an endpoint that was closed may be given to a later one, which then gets what is still sent
     * there.
     */
    private static boolean isTold(Queue queue, Op op) {
        return op.to() != null
                && (op.to().receive == queue || !op.to().open && queue.addresses.contains(op.to().address));
    }

    private static void requireQueue(Queue queue, Op op) {
        if (op.from().transmit != queue) { throw new AssertionError("token " + op.token() + " came on another queue"); }
    }

    synchronized void failed(Queue queue, CompletionError error) {
        long token = error.token();
        Op op = pending.containsKey(token) ? pending.remove(token) : silent.remove(token);
        if (op == null) {
            if (token == CompletionHandler.NO_TOKEN && isSpoiled) {
                return; // rule: a target is told of requests that it refused, or that broke off
            }
            throw new AssertionError("an error came with a token that is not in flight: " + error);
        }
        requireQueue(queue, op);
        tally = tally.plus(new ModelTally(0, 0, 0, op.silent() ? 0 : 1, 0));
        if (!isSpoiled && (op.from().open || error.errno() != ECANCELED)) {
            throw new AssertionError(op + " failed: " + error);
        }
        Stream.ofNullable(count(op)).forEach(count -> count.uncertain = true);
    }

    /** A queue was closed and nobody polled what its endpoints' closing had canceled. */
    synchronized void forget(Queue queue) {
        int before = pending.size();
        pending.values().removeIf(op -> op.from().transmit == queue);
        tally = tally.plus(new ModelTally(0, 0, 0, 0, before - pending.size()));
        silent.values().removeIf(op -> op.from().transmit == queue);
    }

    synchronized List<Op> pending() { return List.copyOf(pending.values()); }

    synchronized List<Op> thatMustComplete() { return pending.values().stream().filter(Op::mustComplete).toList(); }

    /** Works out what each byte may be, from what was copied where. */
    synchronized void propagate() {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Op op : accepted) {
                for (Piece piece : op.pieces()) {
                    changed |= propagate(op.kind(), piece);
                }
            }
        }
    }

    private static boolean propagate(Kind kind, Piece piece) {
        return target(kind, piece).memory.allow(targetAt(kind, piece), piece.length(), sourceValues(kind, piece));
    }

    private static Region target(Kind kind, Piece piece) { return kind.isRead() ? piece.local() : piece.remote(); }

    private static long targetAt(Kind kind, Piece piece) {
        return kind.isRead() ? piece.offset() : piece.remoteOffset();
    }

    private static long sourceValues(Kind kind, Piece piece) {
        Region source = kind.isRead() ? piece.remote() : piece.local();
        return source.memory.allowed(kind.isRead() ? piece.remoteOffset() : piece.offset(), piece.length());
    }

    /**
     * Operations that were done while both ends live, and whose target still has its first value or whose target was
     * not told its data.
     */
    synchronized List<Op> missing() {
        if (isSpoiled) { return List.of(); }
        propagate();
        Stream<Op> untold = data.values().stream().flatMap(List::stream)
                .filter(op -> op.to() != null && !op.to().receive.isHidden);
        return Stream.concat(untold, done.stream().filter(op -> !haveArrived(op))).filter(Op::mustComplete).toList();
    }

    private boolean haveArrived(Op op) { return op.pieces().stream().allMatch(piece -> hasArrived(op.kind(), piece)); }

    private boolean hasArrived(Kind kind, Piece piece) {
        Region to = target(kind, piece);
        long at = targetAt(kind, piece);
        if (!to.open || accepted.stream().anyMatch(other -> carries(other, to))) {
            return true; // not to be told apart
        }
        for (long byteAt = at; byteAt < at + piece.length(); byteAt++) {
            if (to.memory.value(byteAt) == to.value) { return false; }
        }
        return true;
    }

    /** Whether an operation may have brought back a region's first value. */
    private static boolean carries(Op op, Region to) {
        return op.pieces().stream().anyMatch(
                piece -> target(op.kind(), piece) == to && (sourceValues(op.kind(), piece) & 1L << to.value) != 0);
    }
}
