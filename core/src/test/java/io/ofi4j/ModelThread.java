package io.ofi4j;

import io.ofi4j.ModelState.End;
import io.ofi4j.ModelState.Kind;
import io.ofi4j.ModelState.Op;
import io.ofi4j.ModelState.Region;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One thread of a random program of several. */
final class ModelThread {
    private static final int MOST_ENDS = 4;
    private static final int MOST_REGIONS = 40;
    private static final Access[] ALL = {Access.READ, Access.WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE};
    private static final Access[] LOCAL = {Access.READ, Access.WRITE};

    private final ModelThreads shared;
    private final Random random;
    private final String name;
    private final List<End> myEnds = new ArrayList<>();
    private final List<Peer> peers = new ArrayList<>();
    private CompletionQueue myQueue;
    private AddressVector vector;

    ModelThread(ModelThreads shared, long seed, int index) {
        this.shared = shared;
        this.random = new Random(seed);
        this.name = "thread " + index + ": ";
    }

    void run(int steps) {
        myQueue = shared.domain.openCompletionQueue(1 + random.nextInt(64));
        shared.queues.add(myQueue);
        vector = shared.isOwned() ? shared.domain.openAddressVector() : shared.vector;
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
        myEnds.forEach(this::close);
        shared.together.arriveAndAwaitAdvance(); // others may have bound theirs to this queue
        while (poll(myQueue, 1) > 0) {
            continue;
        }
        if (myQueue.operationsInFlight() != 0) {
            throw new AssertionError("slots leak on " + myQueue);
        }
        myQueue.close();
        if (shared.isOwned()) {
            vector.close();
        }
    }

    /** Where nothing was closed, everything completes. */
    private void settle() {
        boolean done = Waiting.YIELD.tryUntil(() -> {
            poll(myQueue, 1);
            return shared.pending.isEmpty();
        }, shared.mayFail ? Duration.ofMillis(1) : ModelThreads.DEADLINE);
        if (!done && !shared.mayFail) {
            throw new AssertionError("operations never completed: " + shared.pending.values());
        }
    }

    private void step(int depth) {
        switch (random.nextInt(20)) {
            case 0 -> register();
            case 1 -> closeLocal(pick(shared.regions));
            case 2 -> openOrClose(depth);
            case 3 -> {
                meet(pick(shared.ends));
                fromAnotherThread();
            }
            case 4, 5, 6, 7, 8, 9, 10 -> poll(shared.isOwned() ? myQueue : pick(shared.queues), depth);
            default -> post();
        }
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    private void openOrClose(int depth) {
        if (depth == 0 && myEnds.size() < MOST_ENDS) {
            open();
        } else if (shared.areEndsClosed) {
            End end = pick(shared.isOwned() ? myEnds : shared.ends);
            shared.note(name + "close endpoint " + shared.ends.indexOf(end));
            close(end);
        }
    }

    private void open() {
        shared.note(name + "open endpoint");
        CompletionQueue queue = shared.isOwned() ? myQueue : pick(shared.queues);
        End end = new End();
        end.endpoint = shared.domain.openEndpoint().postTimeout(Duration.ofMillis(5)).bind(vector).bind(queue);
        myEnds.add(end); // those after it are closed even if they fail
        end.rma = end.endpoint.enable().rma();
        shared.ends.add(end);
    }

    private void meet(End end) {
        new Expect("insert").tolerated(shared.mayFail, IllegalArgumentException.class) // closed by others already
                .tolerated(shared.mayFail, FabricException.class)
                .run(() -> peers.add(vector.insert(end.endpoint.address())));
    }

    private void close(End end) {
        end.endpoint.close();
    }

    private void register() {
        if (shared.regions.size() >= MOST_REGIONS) {
            return;
        }
        Region region = new Region();
        region.ofCaller = random.nextBoolean();
        region.value = 1 + random.nextInt(ModelMemory.VALUES - 1);
        Access[] rights = region.ofCaller ? ALL : LOCAL; // targets live until the end
        region.rights = Access.bitsOf(rights);
        int length = 1 + random.nextInt(random.nextBoolean() ? 64 : 5000);
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

    /** Rule: what belongs to another thread refuses this one. */
    private void fromAnotherThread() {
        CompletionQueue queue = pick(shared.queues);
        if (shared.isOwned() && queue != myQueue) {
            new Expect("poll of another thread's queue").refused(true, WrongThreadException.class)
                    .run(() -> queue.poll((token, flags, length, data) -> {}, 1));
        }
    }

    private void post() {
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        End from = pick(shared.isOwned() ? myEnds : shared.ends);
        Region local = pick(shared.regions);
        Region remote = pick(shared.regions);
        if (!remote.ofCaller || peers.isEmpty()) {
            return;
        }
        long most = Math.min(local.region.length(), remote.region.length());
        long length = random.nextLong(1 + (kind == Kind.INJECT ? Math.min(most, from.rma.injectSize()) : most));
        Op op = new Op(shared.lastToken.incrementAndGet(), kind, from, null, local,
                random.nextLong(local.region.length() - length + 1), remote,
                random.nextLong(remote.region.length() - length + 1), length, false);
        boolean blocking = random.nextInt(100) < 40;
        shared.note(name + (blocking ? "" : "try ") + kind + " token " + op.token() + " endpoint "
                + shared.ends.indexOf(from) + " length " + length);
        if (kind != Kind.INJECT) {
            shared.pending.put(op.token(), op);
        }
        boolean[] taken = new boolean[1];
        new Expect(kind + " with token " + op.token()).tolerated(blocking, FabricTimeoutException.class)
                .tolerated(shared.mayFail || !local.ofCaller, IllegalStateException.class)
                .tolerated(shared.mayFail, FabricException.class)
                .run(() -> taken[0] = ModelTransfers.call(blocking, from.rma, op, pick(peers), remote.remote));
        if (taken[0]) {
            shared.accepted.add(op);
        } else if (kind != Kind.INJECT && shared.pending.remove(op.token()) == null) {
            throw new AssertionError(op + " completed though it was refused");
        }
    }

    private int poll(CompletionQueue queue, int depth) {
        int[] count = new int[1];
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                took(token, null);
                if (depth == 0 && random.nextInt(100) < 10) {
                    step(1);
                }
            }

            @Override
            public void onError(CompletionError error) {
                took(error.token(), error);
            }
        };
        new Expect("poll").run(() -> count[0] = queue.poll(handler, 1 + random.nextInt(64)));
        return count[0];
    }

    private void took(long token, CompletionError error) {
        boolean isUnnamed = token == CompletionHandler.NO_TOKEN && shared.mayFail;
        if (shared.pending.remove(token) == null && !isUnnamed) {
            throw new AssertionError("token " + token + " came though it is not in flight, error " + error);
        }
        if (error != null && !shared.mayFail) {
            throw new AssertionError("token " + token + " failed: " + error);
        }
    }
}
