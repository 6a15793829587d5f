package io.ofi4j;

import io.ofi4j.ModelState.End;
import io.ofi4j.ModelState.Kind;
import io.ofi4j.ModelState.Known;
import io.ofi4j.ModelState.Op;
import io.ofi4j.ModelState.Queue;
import io.ofi4j.ModelState.Region;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Steps that post, poll and make progress; what they do to memory. */
final class ModelTransfers {
    private static final int ECANCELED = 125;
    private static final int DEEPEST = 2;

    private final ModelProgram program;
    private final ModelState state;
    /** Everything that was accepted, for what the bytes may be. */
    private final List<Op> accepted = new ArrayList<>();
    /** Writes that must arrive. */
    private final List<Op> done = new ArrayList<>();
    private long lastToken;
    /** Rule: after a wrong key, a peer that is not there or a closed one, a provider may fail any operation. */
    private boolean isSpoiled;

    ModelTransfers(ModelProgram program) {
        this.program = program;
        this.state = program.state;
    }

    void step(int depth) {
        switch (program.random.nextInt(10)) {
            case 0, 1, 2, 3, 4 -> post();
            case 5 -> progress();
            case 6 -> pollFromElsewhere();
            default -> {
                Queue queue = program.pick(state.queues);
                program.note("poll queue " + state.queues.indexOf(queue));
                poll(queue, 1 + program.random.nextInt(program.chance(50) ? 2 : 100), depth);
            }
        }
    }

    private void progress() {
        Queue queue = program.pick(state.queues);
        program.note("progress queue " + state.queues.indexOf(queue));
        new Expect("progress").refused(!queue.open, IllegalStateException.class).run(queue.queue::progress);
    }

    private void pollFromElsewhere() {
        ThreadingModel model = program.info.domain().threading();
        if (model != ThreadingModel.DOMAIN && model != ThreadingModel.COMPLETION || !program.chance(20)) {
            return;
        }
        Queue queue = program.pick(state.queues);
        program.note("poll queue " + state.queues.indexOf(queue) + " from another thread");
        Throwable[] thrown = new Throwable[1];
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                queue.queue.poll((token, flags, length, data) -> {}, 1);
            } catch (Throwable t) {
                thrown[0] = t;
            }
        });
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (!(thrown[0] instanceof WrongThreadException)) {
            throw new AssertionError("another thread's poll gave " + thrown[0]);
        }
    }

    private void post() {
        List<End> able = state.ends.stream().filter(end -> end.rma != null && (end.open || program.chance(5))).toList();
        if (able.isEmpty() || state.peers.isEmpty()) {
            return;
        }
        End from = program.pick(able);
        Known peer = program.pick(state.peers);
        for (int tries = 0; tries < 3 && (peer.removed || peer.vector != from.vector); tries++) {
            peer = program.pick(state.peers); // mostly sensible
        }
        Region local = program.pick(state.regions);
        Region remote = program.pick(state.regions);
        for (int tries = 0; tries < 3 && peer.end != null && remote.dom != peer.end.dom; tries++) {
            remote = program.pick(state.regions);
        }
        post(Kind.values()[program.random.nextInt(3)], from, peer, local, remote);
    }

    private void post(Kind kind, End from, Known peer, Region local, Region remote) {
        // Rule: freed memory is never named as a target; shm writes by address, whatever the key.
        if (!remote.open && !remote.ofCaller || program.isShm() && !remote.open) {
            return;
        }
        boolean forge = program.hasKeyChecks() && program.chance(2);
        RemoteRegion there = forge
                ? new RemoteRegion(remote.remote.base(), remote.remote.length(), remote.remote.key() ^ 0x1010,
                        remote.remote.accessBits())
                : remote.remote;
        long length = randomLength(kind, Math.min(local.region.length(), there.length()), from);
        long offset = randomOffset(local.region.length() - length);
        long remoteOffset = randomOffset(there.length() - length);
        boolean blocking = program.chance(40);
        long token = ++lastToken;
        program.note((blocking ? "" : "try ") + kind + " token " + token + " endpoint " + state.ends.indexOf(from)
                + " peer " + state.peers.indexOf(peer) + " region " + state.regions.indexOf(local) + "+" + offset
                + " remote " + state.regions.indexOf(remote) + "+" + remoteOffset + " length " + length
                + (forge ? " wrong key" : ""));
        boolean spoils = peer.end == null || !peer.end.open || forge || !remote.open || remote.dom != peer.end.dom;
        isSpoiled |= spoils;
        Expect expect = new Expect(kind + " with token " + token)
                .refused(offset < 0 || length < 0 || remoteOffset < 0 || offset > local.region.length() - length
                        || remoteOffset > there.length() - length, IndexOutOfBoundsException.class)
                .refused(!local.has(kind == Kind.READ ? Access.READ : Access.WRITE), IllegalArgumentException.class)
                .refused(!remote.has(kind == Kind.READ ? Access.REMOTE_READ : Access.REMOTE_WRITE),
                        IllegalArgumentException.class)
                .refused(local.dom != from.dom || peer.vector != from.vector, IllegalArgumentException.class)
                .refused(kind == Kind.INJECT && length > from.rma.injectSize(), IllegalArgumentException.class)
                .refused(!from.open || !local.open || peer.removed, IllegalStateException.class)
                .tolerated(blocking, FabricTimeoutException.class).tolerated(isSpoiled, FabricException.class);
        Op op = new Op(token, kind, from, peer.end, local, offset, remote, remoteOffset, length, forge);
        boolean[] taken = new boolean[1];
        if (!expect.isRefused() && kind != Kind.INJECT) {
            state.pending.put(token, op); // a blocking form may complete others, never this one
        }
        expect.run(() -> taken[0] = call(blocking, from.rma, op, peer.peer, there));
        if (taken[0]) {
            accepted.add(op);
            if (kind == Kind.INJECT) {
                done.add(op);
            }
        } else {
            state.pending.remove(token);
        }
    }

    static boolean call(boolean blocking, Rma rma, Op op, Peer peer, RemoteRegion there) {
        MemoryRegion local = op.local().region;
        if (!blocking) {
            return switch (op.kind()) {
                case WRITE -> rma.tryWrite(local, op.offset(), op.length(), peer, there, op.remoteOffset(), op.token());
                case READ -> rma.tryRead(local, op.offset(), op.length(), peer, there, op.remoteOffset(), op.token());
                case INJECT -> rma.tryInjectWrite(local, op.offset(), op.length(), peer, there, op.remoteOffset());
            };
        }
        switch (op.kind()) {
            case WRITE -> rma.write(local, op.offset(), op.length(), peer, there, op.remoteOffset(), op.token());
            case READ -> rma.read(local, op.offset(), op.length(), peer, there, op.remoteOffset(), op.token());
            case INJECT -> rma.injectWrite(local, op.offset(), op.length(), peer, there, op.remoteOffset());
        }
        return true;
    }

    private long randomLength(Kind kind, long most, End from) {
        if (program.chance(4)) {
            return new long[]{-1, most + 1, Long.MAX_VALUE, Long.MIN_VALUE, 0}[program.random.nextInt(5)];
        }
        long limit = kind == Kind.INJECT && program.chance(90) ? Math.min(most, from.rma.injectSize()) : most;
        return program.random.nextLong(limit + 1);
    }

    private long randomOffset(long most) {
        if (program.chance(2)) {
            return new long[]{-1, Math.max(0, most) + 1, Long.MAX_VALUE, Long.MIN_VALUE}[program.random.nextInt(4)];
        }
        return most <= 0 ? 0 : program.random.nextLong(most + 1);
    }

    /** Polls with a handler that only takes. */
    void poll(Queue queue, int limit) {
        poll(queue, limit, DEEPEST);
    }

    private void poll(Queue queue, int limit, int depth) {
        int[] handed = new int[1];
        boolean mischief = depth < DEEPEST && program.chance(30);
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                handed[0]++;
                took(queue, token, null);
                mischief();
            }

            @Override
            public void onError(CompletionError error) {
                handed[0]++;
                took(queue, error.token(), error);
                mischief();
            }

            private void mischief() {
                if (mischief && program.chance(40)) {
                    inHandler(depth);
                }
            }
        };
        int[] count = {-1};
        new Expect("poll").refused(!queue.open, IllegalStateException.class).tolerated(mischief, Mischief.class)
                .run(() -> count[0] = queue.queue.poll(handler, limit));
        if (count[0] > limit || count[0] >= 0 && count[0] != handed[0]) {
            throw new AssertionError("poll says " + count[0] + " of at most " + limit + ", handed " + handed[0]);
        }
    }

    /** What a handler throws. */
    private static final class Mischief extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private void inHandler(int depth) {
        switch (program.random.nextInt(4)) {
            case 0 -> {
                program.note("handler throws");
                throw new Mischief();
            }
            case 1 -> program.closeSomething();
            default -> step(depth + 1);
        }
    }

    private void took(Queue queue, long token, CompletionError error) {
        Op op = state.pending.remove(token);
        if (op == null) {
            if (token == CompletionHandler.NO_TOKEN && isSpoiled) {
                return; // rule: a target is told of requests that it refused
            }
            throw new AssertionError("token " + token + " came though it is not in flight, error " + error);
        }
        if (op.from().transmit != queue) {
            throw new AssertionError("token " + token + " came on another queue");
        }
        if (error == null) {
            done.add(op);
        } else if (op.from().open ? !isSpoiled : error.errno() != ECANCELED && !isSpoiled) {
            throw new AssertionError(op + " failed: " + error);
        }
    }

    /** From now on errors may come for any operation. */
    void spoil() {
        isSpoiled = true;
    }

    /** Rule: a region closed under a transfer, which may be an inject that nobody hears of, is a wrong key. */
    void spoilIfTarget(Region region) {
        isSpoiled |= accepted.stream().anyMatch(op -> op.remote() == region);
    }

    /** Works out what each byte may be, from what was copied where. */
    static void propagate(Collection<Op> accepted) {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Op op : accepted) {
                Region from = op.kind() == Kind.READ ? op.remote() : op.local();
                Region to = op.kind() == Kind.READ ? op.local() : op.remote();
                long fromAt = op.kind() == Kind.READ ? op.remoteOffset() : op.offset();
                long toAt = op.kind() == Kind.READ ? op.offset() : op.remoteOffset();
                changed |= to.memory.allow(toAt, op.length(), from.memory.allowed(fromAt, op.length()));
            }
        }
    }

    void checkMemory() {
        propagate(accepted);
        state.regions.stream().filter(region -> region.ofCaller || region.open)
                .forEach(region -> region.memory.check(region));
    }

    /** Writes and reads that were done while both ends live, and whose target still has its first value. */
    List<Op> missing() {
        propagate(accepted);
        return done.stream().filter(op -> !isSpoiled && op.mustComplete() && !hasArrived(op)).toList();
    }

    private boolean hasArrived(Op op) {
        Region to = op.kind() == Kind.READ ? op.local() : op.remote();
        long at = op.kind() == Kind.READ ? op.offset() : op.remoteOffset();
        if (!to.open || accepted.stream().anyMatch(other -> carries(other, to))) {
            return true; // not to be told apart
        }
        for (long byteAt = at; byteAt < at + op.length(); byteAt++) {
            if (to.memory.value(byteAt) == to.value) {
                return false;
            }
        }
        return true;
    }

    /** Whether an operation may have brought back a region's first value. */
    private static boolean carries(Op op, Region to) {
        Region target = op.kind() == Kind.READ ? op.local() : op.remote();
        Region source = op.kind() == Kind.READ ? op.remote() : op.local();
        long at = op.kind() == Kind.READ ? op.remoteOffset() : op.offset();
        return target == to && (source.memory.allowed(at, op.length()) & 1L << to.value) != 0;
    }
}
