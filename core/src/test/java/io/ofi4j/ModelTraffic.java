package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.ofi4j.ModelLinks.End;
import io.ofi4j.ModelState.Kind;
import io.ofi4j.ModelState.Queue;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Steps that post over connections, poll and wait; every token comes back exactly once. */
final class ModelTraffic {
    private static final int SOURCES = 3;
    private static final int LENGTH = 40_000;
    private static final int LITTLE = 64;
    private static final int SHORT_NANOS = 1_000_000;

    private record Op(long token, Kind kind, End from, int length, int at) {
        boolean mustComplete() {
            return !from.link.isDisturbed();
        }

        /** Who is told of its data. */
        End to() {
            return from.isServer ? from.link.client : from.link.server;
        }
    }

    private record Source(MemoryRegion region, int value) {
    }

    private final ModelConnections program;
    private final Arena arena = Arena.ofShared();
    private final List<Source> sources;
    private final ModelMemory targetMemory;
    private final MemoryRegion target;
    /** What reads bring: the value of {@link #origin}. */
    private final MemoryRegion landing;
    private final MemoryRegion origin;
    private Counter counter;
    private final Map<Long, Op> pending = new HashMap<>();
    private final Map<Long, Op> untold = new HashMap<>();
    private final List<Op> done = new ArrayList<>();
    private long lastToken;

    ModelTraffic(ModelConnections program) {
        this.program = program;
        Domain domain = program.domain;
        sources = IntStream.rangeClosed(1, SOURCES)
                .mapToObj(value -> new Source(filled(domain.allocate(LENGTH, Access.WRITE), value), value)).toList();
        targetMemory = ModelMemory.ofCaller(arena, LENGTH, 0);
        target = domain.register(targetMemory.segment(), Access.REMOTE_WRITE);
        landing = domain.allocate(LENGTH, Access.READ);
        origin = filled(domain.allocate(LENGTH, Access.REMOTE_READ), 1);
        while (counter == null) { // some wait objects are not offered
            counter = program.objects.openCounter(domain, program.objects.any());
        }
    }

    /** Binds what half of the endpoints count with. */
    Endpoint counted(Endpoint endpoint) {
        return program.chance(50) ? endpoint.bind(counter, CounterEvent.WRITE, CounterEvent.READ) : endpoint;
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

    private static MemoryRegion filled(MemoryRegion region, int value) {
        region.segment().fill((byte) value);
        return region;
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
        switch (program.random.nextInt(12)) {
            case 0, 1, 2 -> take(queue, () -> queue.queue.poll(handler(queue), limit));
            case 3 -> take(queue, () -> queue.queue.await(handler(queue), limit, deadline));
            case 4 -> new Expect("block").refused(!queue.hasDescriptor, IllegalStateException.class)
                    .run(() -> Waiting.block(deadline, queue.queue));
            case 5 -> queue.queue.progress();
            case 6 -> await(deadline);
            default -> {
                List<End> ends = program.state.ends().filter(end -> end.rma != null || isConnected(end)).toList();
                if (!ends.isEmpty()) {
                    post(program.pick(ends));
                }
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
            public void onError(CompletionError error) {
                failed(queue, error);
            }
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
        if (end.queue != queue) {
            throw new AssertionError("what is for " + end + " came on another queue");
        }
    }

    private void failed(Queue queue, CompletionError error) {
        if (error.token() == CompletionHandler.NO_TOKEN) { // the target's side of what has broken off
            if (program.state.links.stream().noneMatch(ModelLinks.Link::isDisturbed)) {
                throw new AssertionError("an error came for nobody: " + error);
            }
            return;
        }
        Op op = pending.remove(error.token());
        if (op == null || op.mustComplete()) {
            throw new AssertionError(op + " failed: " + error);
        }
        requireQueue(queue, op.from());
        done.remove(op);
    }

    private void post(End end) {
        if (end.rma == null) {
            end.rma = end.endpoint.rma();
        }
        Kind kind = Kind.values()[program.random.nextInt(Kind.values().length)];
        int most = kind.isInject() ? (int) end.rma.injectSize() : program.chance(50) ? LITTLE : LENGTH;
        int length = program.random.nextInt(Math.min(most, LENGTH) + 1);
        int at = program.random.nextInt(LENGTH - length + 1);
        Op op = new Op(++lastToken, kind, end, length, at);
        boolean blocking = program.chance(40);
        program.note((blocking ? "" : "try ") + kind + " token " + op.token + " of " + end + " length " + length);
        Expect expect = new Expect(kind + " with token " + op.token)
                .refused(!end.open || !end.is(Connection.State.CONNECTED), IllegalStateException.class)
                .tolerated(blocking, FabricTimeoutException.class)
                .tolerated(end.link.isDisturbed(), FabricException.class);
        begin(op);
        boolean[] taken = new boolean[1];
        expect.run(() -> taken[0] = call(blocking, op));
        if (!taken[0]) {
            refused(op);
        }
    }

    private void begin(Op op) {
        if (!op.kind.isInject()) {
            pending.put(op.token, op);
        }
        if (op.kind.hasData()) {
            untold.put(op.token, op);
        }
        done.add(op);
    }

    private void refused(Op op) {
        boolean forgotten = (op.kind.isInject() || pending.remove(op.token) != null)
                && (!op.kind.hasData() || untold.remove(op.token) != null);
        if (!forgotten) {
            throw new AssertionError(op + " completed though it was refused");
        }
        done.remove(op);
    }

    private boolean call(boolean blocking, Op op) {
        Rma rma = op.from.rma;
        Peer peer = op.from.endpoint.connection().peer();
        if (op.kind.isRead()) {
            if (blocking) {
                rma.read(landing, op.at, op.length, peer, origin.remote(), op.at, op.token);
                return true;
            }
            return rma.tryRead(landing, op.at, op.length, peer, origin.remote(), op.at, op.token);
        }
        Source source = program.pick(sources);
        targetMemory.allow(op.at, op.length, 1L << source.value);
        ModelState.Region local = new ModelState.Region();
        local.region = source.region;
        ModelState.Op whole = new ModelState.Op(op.token, op.kind, null, null,
                List.of(new ModelState.Piece(local, op.at, null, op.at, op.length)), false, false, op.token);
        return ModelCalls.call(blocking, rma, whole, peer, target.remote());
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
        return open;
    }

    private boolean hasArrived(Op op) {
        for (long at = op.at; at < op.at + op.length; at++) {
            int value = op.kind.isRead() ? landing.segment().get(JAVA_BYTE, at) : targetMemory.value(at);
            if (value == 0) {
                return false;
            }
        }
        return true;
    }

    /** Every endpoint is closed. */
    void requireNothingPending() {
        for (int polls = 0; polls < 1000 && !pending.isEmpty(); polls++) { // errors come one by one
            pollAll();
        }
        pollAll();
        if (!pending.isEmpty()) {
            throw new AssertionError("tokens did not come back: " + pending);
        }
        for (Queue queue : program.state.queues) {
            if (queue.queue.operationsInFlight() != 0) {
                throw new AssertionError(queue.queue.operationsInFlight() + " slots leak on " + queue.queue);
            }
        }
        targetMemory.check("the target");
    }

    void close() {
        sources.forEach(source -> source.region.close());
        List.of(target, landing, origin).forEach(MemoryRegion::close);
        if (landing.segment().scope().isAlive()) {
            throw new AssertionError("the memory of a region was not freed");
        }
        counter.close();
        program.state.queues.forEach(queue -> queue.queue.close());
        arena.close();
    }
}
