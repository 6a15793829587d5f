package io.ofi4j.model;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PackagePrivate;
import io.ofi4j.Peer;
import io.ofi4j.PreparedRma;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Direction;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.WaitObject;
import io.ofi4j.model.ModelState.Count;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Known;
import io.ofi4j.model.ModelState.Op;
import io.ofi4j.model.ModelState.Piece;
import io.ofi4j.model.ModelState.Queue;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.support.Expect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;

/** One thread of a random program of several. */
final class ModelThread {
    private static final int MAX_ENDS = 4;
    private static final int MAX_REGIONS = 40;
    private static final Access[] ALL = {Access.READ, Access.WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE};
    private static final Access[] LOCAL = {Access.READ, Access.WRITE};

    private final ModelThreads shared;
    private final Random random;
    private final String name;
    private final ModelWaitObjects objects;
    private final List<End> myEnds = new ArrayList<>();
    private final List<Known> peers = new ArrayList<>();
    /** Messages that are posted again and again; each is for one thread. */
    private final Map<Rma, PreparedRma> messages = new HashMap<>();
    private final Queue myQueue = new Queue();
    private final Count myCount = new Count();
    private AddressVector vector;
    private ModelPairs pairs;

    ModelThread(ModelThreads shared, long seed, int index) {
        this.shared = shared;
        this.random = new Random(seed);
        this.name = "thread " + index + ": ";
        this.objects = new ModelWaitObjects(shared.info, random);
    }

    void run(int steps) {
        openQueue();
        shared.queues.add(myQueue);
        while (myCount.counter == null) {
            myCount.counter = objects.openCounter(shared.domain, objects.any());
        }
        shared.counts.add(myCount);
        pairs = shared.openPairs(objects);
        vector = shared.isOwned() && pairs == null ? shared.domain.openAddressVector() : shared.vector;
        open();
        register();
        shared.together.arriveAndAwaitAdvance();
        shared.ends.forEach(this::meet);
        for (int step = 0; step < steps; step++) {
            step(0);
        }
        shared.together.arriveAndAwaitAdvance();
        settle();
        shared.together.arriveAndAwaitAdvance();
        shared.ledger.spoil(); // rule: a target is told of an inject that broke off
        myEnds.forEach(end -> end.endpoint.close());
        if (pairs != null) { pairs.close(); }
        shared.together.arriveAndAwaitAdvance(); // others may have bound theirs to this queue
        finish();
    }

    private void openQueue() {
        while (myQueue.queue == null) { // some wait objects are not offered
            WaitObject object = objects.any();
            CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().size(1 + random.nextInt(64))
                    .waitObject(object).waitThreshold(random.nextInt(8) == 0 ? 2 : 1);
            myQueue.queue = objects.open(shared.domain, attributes);
            myQueue.hasDescriptor = myQueue.queue != null && ModelWaitObjects.hasDescriptor(myQueue.queue, object);
        }
    }

    private void finish() {
        while (poll(myQueue, 1) > 0) {
            continue;
        }
        if (myQueue.queue.operationsInFlight() != 0) { throw new AssertionError("slots leak on " + myQueue.queue); }
        myQueue.queue.close();
        myCount.counter.close();
        if (vector != shared.vector) { vector.close(); }
    }

    /** Where nothing was closed, everything completes, arrives and is counted. */
    private void settle() {
        boolean done = Waiting.YIELD.tryUntil(() -> {
            poll(myQueue, 1);
            return shared.ledger.pending().isEmpty() && (shared.mayFail || isCounted());
        }, shared.mayFail ? Duration.ofMillis(1) : ModelThreads.DEADLINE);
        if (!done && !shared.mayFail) {
            throw new AssertionError("operations never completed: " + shared.ledger.pending() + " or were not counted: "
                    + myCount.counter.read() + " of " + myCount.expected);
        }
        boolean arrived = Waiting.YIELD.tryUntil(() -> {
            poll(myQueue, 1);
            return shared.ledger.missing().isEmpty();
        }, ModelThreads.DEADLINE);
        if (!arrived) { throw new AssertionError("operations never arrived: " + shared.ledger.missing()); }
    }

    private boolean isCounted() { return myCount.counter.read() == myCount.expected.get(); }

    private void step(int depth) {
        switch (random.nextInt(22)) {
            case 0 -> register();
            case 1 -> closeLocal(pick(shared.regions));
            case 2 -> openOrClose(depth);
            case 3 -> {
                meet(pick(shared.ends));
                fromAnotherThread();
            }
            case 4 -> count(shared.isOwned() ? myCount : pick(shared.counts));
            case 5 -> signalOrBlock();
            case 6, 7, 8, 9, 10, 11, 12 -> poll(shared.isOwned() ? myQueue : pick(shared.queues), depth);
            default -> post();
        }
    }

    private <T> T pick(List<T> from) { return from.get(random.nextInt(from.size())); }

    private void openOrClose(int depth) {
        if (depth == 0 && myEnds.size() < MAX_ENDS) {
            open();
        } else if (shared.areEndsClosed) {
            End end = pick(shared.isOwned() ? myEnds : shared.ends);
            shared.note(name + "close endpoint " + shared.ends.indexOf(end));
            end.open = false;
            end.endpoint.close();
        }
    }

    private void open() {
        if (pairs != null) {
            pairs.connect(this::enable, () -> poll(myQueue, 1));
            shared.ends.addAll(myEnds.subList(myEnds.size() - 2, myEnds.size()));
        } else {
            End end = enable(shared.domain.openEndpoint().bind(vector));
            end.becomeEnabled();
            shared.ends.add(end);
        }
    }

    private End enable(Endpoint endpoint) {
        boolean selective = random.nextInt(4) == 0;
        boolean counted = random.nextInt(2) == 0;
        shared.note(name + "open endpoint" + (selective ? ", selective" : "") + (counted ? ", counted" : ""));
        Queue queue = shared.isOwned() ? myQueue : pick(shared.queues);
        End end = new End();
        end.transmit = queue;
        end.receive = queue;
        end.selective = selective;
        end.endpoint = endpoint.postTimeout(Duration.ofMillis(5));
        myEnds.add(end); // those after it are closed even if they fail
        if (selective) {
            end.endpoint.bindSelective(queue.queue).bind(queue.queue, Direction.RECEIVE);
        } else {
            end.endpoint.bind(queue.queue);
        }
        if (counted) {
            end.endpoint.bind(myCount.counter, CounterEvent.READ, CounterEvent.WRITE);
            end.counts.put(CounterEvent.READ, myCount);
            end.counts.put(CounterEvent.WRITE, myCount);
        }
        end.endpoint.enable();
        return end;
    }

    private void meet(End end) {
        if (end.connected != null) { return; }
        Known known = new Known();
        known.end = end;
        if (new Expect("insert").tolerated(shared.mayFail, IllegalArgumentException.class) // closed by others already
                .tolerated(shared.mayFail, FabricException.class)
                .run(() -> known.peer = vector.insert(end.endpoint.address()))) {
            peers.add(known);
        }
    }

    private void count(Count count) {
        shared.note(name + "wait for counter " + shared.counts.indexOf(count));
        new Expect("await").tolerated(true, FabricTimeoutException.class)
                .tolerated(shared.mayFail, FabricException.class)
                .run(() -> count.counter.await(count.counter.read() + random.nextInt(2), Duration.ofNanos(200_000)));
    }

    private void register() {
        if (shared.regions.size() >= MAX_REGIONS) { return; }
        Region region = new Region();
        region.ofCaller = random.nextBoolean();
        region.value = 1 + random.nextInt(ModelMemory.VALUES - 1);
        Access[] rights = region.ofCaller ? ALL : LOCAL; // targets live until the end
        region.rights = PackagePrivate.bits(rights);
        int length = 1 + random.nextInt(random.nextBoolean() ? 64 : ModelMemory.longest(shared.seed));
        if (region.ofCaller) {
            region.memory = ModelMemory.ofCaller(shared.arena, length, region.value);
            region.region = shared.domain.register(region.memory.segment(), rights);
        } else {
            region.region = shared.domain.allocate(length, rights);
            region.memory = ModelMemory.ofRegion(region.region, region.value);
        }
        region.remote = region.region.remote();
        shared.regions.add(region);
    }

    private void closeLocal(Region region) {
        if (!region.ofCaller) {
            region.open = false;
            region.region.close();
        }
    }

    /** Rule: any thread may signal. */
    private void signalOrBlock() {
        Queue queue = pick(shared.queues);
        if (random.nextBoolean()) {
            new Expect("signal").run(queue.queue::signal);
            return;
        }
        boolean wrongThread = shared.isOwned() && queue != myQueue;
        new Expect("block").refused(!queue.hasDescriptor, IllegalStateException.class)
                .refused(wrongThread, WrongThreadException.class)
                .run(() -> Waiting.block(Duration.ofNanos(random.nextInt(1_000_000)), queue.queue));
    }

    /** Rule: what belongs to another thread refuses this one. */
    private void fromAnotherThread() {
        Queue queue = pick(shared.queues);
        if (shared.isOwned() && queue != myQueue) {
            new Expect("poll of another thread's queue").refused(true, WrongThreadException.class)
                    .run(() -> queue.queue.poll((token, flags, length, data) -> {}, 1));
        }
    }

    private void post() {
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        End from = pick(shared.isOwned() ? myEnds : shared.ends);
        Region local = pick(shared.regions);
        Region remote = pick(shared.regions);
        if (!remote.ofCaller || from.connected == null && peers.isEmpty()) { return; }
        Known peer = from.connected == null ? pick(peers) : from.connected;
        long most = Math.min(local.region.length(), remote.region.length());
        long length = random.nextLong(1 + (kind.isInject() ? Math.min(most, from.rma.injectSize()) : most));
        long offset = random.nextLong(local.region.length() - length + 1);
        long remoteOffset = random.nextLong(remote.region.length() - length + 1);
        boolean asMessage = kind != Kind.INJECT && kind != Kind.INJECT_DATA && random.nextInt(3) == 0;
        boolean asks = asMessage && random.nextBoolean();
        long token = shared.ledger.nextToken();
        Op op = new Op(token, kind, from, peer.end, List.of(new Piece(local, offset, remote, remoteOffset, length)),
                false, from.selective && !kind.isInject() && !asks, token);
        boolean blocking = random.nextInt(100) < 40;
        shared.note(name + (blocking ? "" : "try ") + kind + (asMessage ? " message" : "") + " token " + token
                + " endpoint " + shared.ends.indexOf(from) + " length " + length);
        post(op, local, blocking,
                () -> asMessage
                        ? postMessage(blocking, op, peer.peer, asks)
                        : ModelCalls.call(blocking, from.rma, op, peer.peer, remote.remote));
    }

    private void post(Op op, Region local, boolean blocking, BooleanSupplier call) {
        shared.ledger.begin(op);
        boolean[] taken = new boolean[1];
        new Expect(op.kind() + " with token " + op.token()).tolerated(blocking, FabricTimeoutException.class)
                .tolerated(shared.mayFail || !local.ofCaller, IllegalStateException.class)
                .tolerated(shared.mayFail, FabricException.class).run(() -> taken[0] = call.getAsBoolean());
        if (taken[0]) {
            shared.ledger.accepted(op);
        } else {
            shared.ledger.refused(op);
        }
    }

    private boolean postMessage(boolean blocking, Op op, Peer peer, boolean asks) {
        Piece piece = op.pieces().getFirst();
        PreparedRma message = messages.computeIfAbsent(op.from().rma, Rma::prepare).clear().peer(peer)
                .remote(piece.remote().remote, piece.remoteOffset(), piece.length());
        MemoryRegion local = piece.local().region;
        long cut = message.localLimit() > 1 ? random.nextLong(1 + piece.length()) : 0;
        if (cut > 0) { message.local(local, piece.offset(), cut); }
        message.local(local, piece.offset() + cut, piece.length() - cut);
        List<OperationFlag> flags = new ArrayList<>();
        if (asks) { flags.add(OperationFlag.COMPLETION); }
        if (op.kind().hasData()) {
            flags.add(OperationFlag.REMOTE_CQ_DATA);
            message.data(op.data());
        }
        message.flags(flags.toArray(OperationFlag[]::new));
        return ModelCalls.call(blocking, message, op.kind().isRead(), op.token());
    }

    private int poll(Queue queue, int depth) {
        int[] count = new int[1];
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                shared.ledger.completed(queue, token, flags, data);
                if (depth == 0 && random.nextInt(100) < 10) { step(1); }
            }

            @Override
            public void onError(CompletionError error) { shared.ledger.failed(queue, error); }
        };
        int limit = 1 + random.nextInt(64);
        boolean waits = random.nextInt(5) == 0;
        new Expect("poll").run(() -> count[0] = waits
                ? queue.queue.await(handler, limit, Duration.ofNanos(random.nextInt(1_000_000)))
                : queue.queue.poll(handler, limit));
        return count[0];
    }
}
