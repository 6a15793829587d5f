package io.ofi4j.model;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Connection;
import io.ofi4j.Counter;
import io.ofi4j.Peer;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.WaitObject;
import io.ofi4j.model.ModelLinks.End;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Queue;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.support.Expect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Steps that post over connections, poll and wait; every token comes back exactly once. */
final class ModelTraffic {
    private static final int LITTLE = 64;
    private static final int SHORT_NANOS = 1_000_000;

    private record Op(long token, Kind kind, End from, Region local, Region remote, int length, int at) {
        boolean mustComplete() { return !from.link.isDisturbed(); }

        /** Who is told of its data. */
        End to() { return from.isServer ? from.link.client : from.link.server; }

        /** Where its bytes go to. */
        Region target() { return kind.isRead() ? local : remote; }

        Region source() { return kind.isRead() ? remote : local; }
    }

    private final ModelConnections program;
    private final ModelRegions regions;
    private Counter counter;
    private final Map<Long, Op> pending = new HashMap<>();
    private final Map<Long, Op> untold = new HashMap<>();
    private final List<Op> done = new ArrayList<>();
    private long lastToken;

    ModelTraffic(ModelConnections program) {
        this.program = program;
        regions = new ModelRegions(program);
        while (counter == null) { // some wait objects are not offered
            counter = program.objects.openCounter(program.domain, program.objects.any());
        }
    }

    /** Binds what half of the endpoints count with. */
    void count(End end) {
        end.counted = program.chance(50);
        if (end.counted) { end.endpoint.bind(counter, CounterEvent.WRITE, CounterEvent.READ); }
    }

    private void await(Duration deadline) {
        program.note("wait for the counter");
        boolean mayFail = program.state.links.stream().anyMatch(ModelLinks.Link::isDisturbed);
        new Expect("await(counter)").tolerated(true, FabricTimeoutException.class)
                .tolerated(mayFail, FabricException.class).run(() -> counter.await(counter.read() + 1, deadline));
        if (counter.read() > lastToken) {
            throw new AssertionError("counted are " + counter.read() + " of " + lastToken);
        }
    }

    void openQueue() {
        Queue queue = new Queue();
        WaitObject object = program.objects.any();
        program.note("open queue with wait object " + object);
        queue.queue = program.objects.open(program.domain,
                CompletionQueueAttributes.defaults().size(1 + program.random.nextInt(64)).waitObject(object));
        if (queue.queue != null) {
            queue.hasDescriptor = ModelWaitObjects.hasDescriptor(queue.queue, object);
            program.state.queues.add(queue);
        }
    }

    void step() {
        Queue queue = program.pick(program.state.queues);
        Duration deadline = Duration.ofNanos(program.random.nextInt(SHORT_NANOS));
        int limit = 1 + program.random.nextInt(64);
        switch (program.random.nextInt(13)) {
            case 0, 1, 2 -> take(queue, () -> queue.queue.poll(handler(queue), limit));
            case 3 -> take(queue, () -> queue.queue.await(handler(queue), limit, deadline));
            case 4 -> new Expect("block").refused(!queue.hasDescriptor, IllegalStateException.class)
                    .run(() -> Waiting.block(deadline, queue.queue));
            case 5 -> queue.queue.progress();
            case 6 -> await(deadline);
            case 7 -> closeRegion();
            default -> {
                List<End> ends = program.state.ends().filter(end -> end.rma != null || isConnected(end)).toList();
                if (!ends.isEmpty()) { post(program.pick(ends)); }
            }
        }
    }

    private static boolean isConnected(End end) {
        return end.open && end.enabled && end.is(Connection.State.CONNECTED);
    }

    private void take(Queue queue, Runnable call) {
        program.note("poll or await queue " + program.state.queues.indexOf(queue));
        new Expect("poll").run(call);
    }

    private CompletionHandler handler(Queue queue) {
        return new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                completed(queue, token, flags, data);
            }

            @Override
            public void onError(CompletionError error) { failed(queue, error); }
        };
    }

    private void completed(Queue queue, long token, long flags, long data) {
        boolean isData = token == CompletionHandler.NO_TOKEN;
        Op op = isData ? untold.remove(data) : pending.remove(token);
        if (op == null || isData && (flags & CompletionFlags.REMOTE_CQ_DATA) == 0) {
            throw new AssertionError("token " + token + " or data " + data + " came from nowhere, or again");
        }
        requireQueue(queue, isData ? op.to() : op.from());
    }

    private static void requireQueue(Queue queue, End end) {
        if (end.queue != queue) { throw new AssertionError("what is for " + end + " came on another queue"); }
    }

    private void failed(Queue queue, CompletionError error) {
        if (error.token() == CompletionHandler.NO_TOKEN) { // the target's side of what has broken off
            if (program.state.links.stream().noneMatch(ModelLinks.Link::isDisturbed)) {
                throw new AssertionError("an error came for nobody: " + error);
            }
            return;
        }
        Op op = pending.remove(error.token());
        if (op == null || op.mustComplete()) { throw new AssertionError(op + " failed: " + error); }
        requireQueue(queue, op.from());
        done.remove(op);
    }

    /** Rule: what may still come to a target that is closed may end the connection. */
    private void closeRegion() {
        Region region = regions.anyToClose();
        if (region != null) {
            done.stream().filter(op -> op.remote == region).forEach(op -> op.from.link.spoiled = true);
            regions.close(region);
        }
    }

    private void post(End end) {
        if (end.rma == null) { end.rma = end.endpoint.rma(); }
        Kind kind = Kind.values()[program.random.nextInt(Kind.values().length)];
        int most = kind.isInject() ? (int) end.rma.injectSize() : program.chance(50) ? LITTLE : regions.length;
        int length = program.random.nextInt(Math.min(most, regions.length) + 1);
        int at = program.random.nextInt(regions.length - length + 1);
        Op op = new Op(++lastToken, kind, end, regions.localFor(kind), regions.remoteFor(kind), length, at);
        end.link.spoiled |= !op.remote.open;
        boolean blocking = program.chance(40);
        program.note((blocking ? "" : "try ") + kind + " token " + op.token + " of " + end + " length " + length
                + " from " + op.source() + " to " + op.target());
        Expect expect = new Expect(kind + " with token " + op.token)
                .refused(!end.open || !end.is(Connection.State.CONNECTED), IllegalStateException.class)
                .refused(!op.local.open, IllegalStateException.class).tolerated(blocking, FabricTimeoutException.class)
                .tolerated(end.link.isDisturbed(), FabricException.class);
        begin(op);
        boolean[] taken = new boolean[1];
        expect.run(() -> taken[0] = call(blocking, op));
        if (!taken[0]) { refused(op); }
    }

    private void begin(Op op) {
        if (!op.kind.isInject()) { pending.put(op.token, op); }
        if (op.kind.hasData()) { untold.put(op.token, op); }
        done.add(op);
    }

    private void refused(Op op) {
        boolean forgotten = (op.kind.isInject() || pending.remove(op.token) != null)
                && (!op.kind.hasData() || untold.remove(op.token) != null);
        if (!forgotten) { throw new AssertionError(op + " completed though it was refused"); }
        done.remove(op);
    }

    private boolean call(boolean blocking, Op op) {
        Rma rma = op.from.rma;
        Peer peer = op.from.endpoint.connection().peer();
        op.target().memory.allow(op.at, op.length, 1L << op.source().value);
        ModelState.Op whole = new ModelState.Op(op.token, op.kind, null, null,
                List.of(new ModelState.Piece(op.local, op.at, op.remote, op.at, op.length)), false, false, op.token);
        return ModelCalls.call(blocking, rma, whole, peer, op.remote.remote);
    }

    void pollAll() {
        for (Queue queue : program.state.queues) {
            queue.queue.poll(handler(queue), LITTLE);
        }
    }

    /** What must come, and has not. */
    List<String> unsettled() {
        List<String> open = new ArrayList<>();
        pending.values().stream().filter(Op::mustComplete).forEach(op -> open.add(op + " never completed"));
        untold.values().stream().filter(Op::mustComplete).forEach(op -> open.add("nobody was told of " + op));
        done.stream().filter(Op::mustComplete).filter(op -> !hasArrived(op))
                .forEach(op -> open.add(op + " never arrived"));
        long counted = done.stream()
                .filter(op -> op.mustComplete() && op.from.counted && ModelCalls.isCounted(op.kind, program.info))
                .count();
        if (counter.read() < counted) { open.add("counted are " + counter.read() + " of " + counted); }
        return open;
    }

    private static boolean hasArrived(Op op) {
        if (!op.target().open && !op.target().ofCaller) {
            return true; // not to be told any more
        }
        for (long at = op.at; at < op.at + op.length; at++) {
            if (op.target().memory.value(at) == 0) { return false; }
        }
        return true;
    }

    /** Every endpoint is closed. */
    void requireNothingPending() {
        for (int polls = 0; polls < 1000 && !pending.isEmpty(); polls++) { // errors come one by one
            pollAll();
        }
        pollAll();
        if (!pending.isEmpty()) { throw new AssertionError("tokens did not come back: " + pending); }
        for (Queue queue : program.state.queues) {
            if (queue.queue.operationsInFlight() != 0) {
                throw new AssertionError(queue.queue.operationsInFlight() + " slots leak on " + queue.queue);
            }
        }
        regions.requireIdle();
    }

    void close() {
        regions.closeAll();
        counter.close();
        program.state.queues.forEach(queue -> queue.queue.close());
    }
}
