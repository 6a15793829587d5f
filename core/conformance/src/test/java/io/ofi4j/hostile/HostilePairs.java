package io.ofi4j.hostile;

import io.ofi4j.SharedReceiveContext;
import io.ofi4j.Access;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Counter;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.MappedKey;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.ScalableEndpoint;
import io.ofi4j.SharedTransmitContext;
import io.ofi4j.Waiting;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.Ranks;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.FutureThread;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import io.ofi4j.util.PollGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongPredicate;

/**
 * Every method that takes objects gets some that do not belong together: of another domain, fabric, provider or
 * endpoint, closed ones, and another thread's. It refuses them by name, or works. What is open goes on.
 */
final class HostilePairs {
    private static final int CALLS = 100;
    private static final int LENGTH = 64;
    /** No message is longer than a receive. */
    private static final int MESSAGE = 8;
    private static final int TAGS = 3;
    /** A listener that ends the process when another protocol's message comes: see core/guide/providers/sockets.md. */
    private static final String ENDS_BY_FOREIGN_BYTES = "MSG sockets";
    private static final Duration SHORT = Duration.ofMillis(20);
    /** How long queues may be full; over shm of 1.17 they are for good once a flush was refused. */
    private static final Duration FULL = Duration.ofSeconds(2);

    /** A pair, and what a program has beside it. */
    private final class Side {
        final String provider;
        final Pair pair;
        final MemoryRegion near;
        final MemoryRegion far;
        final RemoteRegion remote;
        final Counter counter;
        final HostileTokens tokens = new HostileTokens(run);
        /** What another thread has bound to this side's queue of events: only its owner may close that. */
        final List<PassiveEndpoint> left = new CopyOnWriteArrayList<>();

        Side(String provider, Capability family, ThreadingModel threading) {
            FabricHints hints = HostileFamilies.hints(provider, family);
            this.provider = provider;
            this.pair = new Pair(threading == ThreadingModel.SAFE ? hints : hints.threading(threading));
            this.near = pair.domain.allocate(LENGTH, Access.values());
            this.far = pair.domain.allocate(LENGTH, Access.values());
            this.remote = far.remote();
            this.counter = pair.domain.openCounter();
            pair.endpoint.postTimeout(SHORT);
            pair.farEndpoint.postTimeout(SHORT);
        }

        /** What was open before goes on; then it closes. */
        void finish() {
            long end = System.nanoTime() + FULL.toNanos();
            run.attempt("a write behind the others", () -> { // a connection may have ended with what its target refused
                while (!tokens.post(token -> pair.rma().tryWrite(near, 0, MESSAGE, pair.far, remote, 0, token))
                        && System.nanoTime() < end) {
                    poll();
                }
            });
            left.forEach(PassiveEndpoint::close);
            close();
        }

        void poll() {
            pair.queue.poll(tokens, 16);
            pair.farQueue.poll(tokens, 16);
        }

        void close() {
            pair.endpoint.close();
            pair.farEndpoint.close();
            tokens.requireAll(pair.queue, pair.farQueue);
            near.close();
            far.close();
            counter.close();
            pair.close();
        }
    }

    private final HostileRun run;
    private final Random random;
    private final List<Side> sides = new ArrayList<>();
    private final CountDownLatch isOver = new CountDownLatch(1);

    private HostilePairs(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        while (run.goesOn()) {
            new HostilePairs(run, random).round();
            run.tried("rounds");
        }
    }

    private void round() throws InterruptedException {
        Capability family = HostileFamilies.one(random, run.provider);
        List<String> others = TestProviders.transfers().filter(one -> !one.equals(run.provider)).toList();
        String another = others.isEmpty() ? run.provider : others.get(random.nextInt(others.size()));
        sides.add(new Side(run.provider, family, ThreadingModel.SAFE));
        sides.add(new Side(run.provider, family, ThreadingModel.SAFE));
        sides.add(new Side(another, HostileFamilies.one(random, another), ThreadingModel.SAFE));
        Side closed = new Side(run.provider, family, ThreadingModel.SAFE);
        closed.close();
        CountDownLatch isOpen = new CountDownLatch(1);
        Thread owner = run.start("owner", () -> {
            try {
                sides.add(new Side(run.provider, family, ThreadingModel.DOMAIN));
            } finally {
                isOpen.countDown();
            }
            isOver.await();
            sides.get(3).finish();
        });
        isOpen.await();
        sides.add(closed);
        if (sides.size() == 5) {
            for (int i = 0; i < CALLS && run.goesOn(); i++) {
                call();
                if (i % 4 == 0) { sides.subList(0, 3).forEach(Side::poll); }
            }
            sides.subList(0, 3).forEach(Side::finish);
        }
        isOver.countDown();
        run.join(List.of(owner));
    }

    private Side any() { return sides.get(random.nextInt(sides.size())); }

    /** Mostly one that could work. */
    private Side mostly(Side likely) {
        return random.nextInt(3) > 0 ? likely : any();
    }

    private void call() {
        Side side = any();
        Side local = mostly(side);
        Side peer = mostly(side);
        Side remote = mostly(peer);
        switch (random.nextInt(32)) {
            case 0 -> post(side, "write",
                    token -> side.pair.rma().tryWrite(local.near, 0, MESSAGE, peer.pair.far, remote.remote, 0, token));
            case 1 -> post(side, "read",
                    token -> side.pair.rma().tryRead(local.near, 0, MESSAGE, peer.pair.far, remote.remote, 0, token));
            case 2 -> post(side, "write with data", token -> side.pair.rma().tryWriteData(local.near, 0, MESSAGE, 7,
                    peer.pair.far, remote.remote, 0, token));
            case 3 -> run.attempt("inject",
                    () -> side.pair.rma().tryInjectWrite(local.near, 0, MESSAGE, peer.pair.far, remote.remote, 0));
            case 4 -> post(side, "flush", token -> side.pair.rma().tryFlush(peer.pair.far, remote.remote, token));
            case 5 -> post(side, "prepared write", token -> side.pair.rma().prepare().peer(peer.pair.far)
                    .local(local.near, 0, MESSAGE).remote(remote.remote, 0, MESSAGE).tryWrite(token));
            case 6, 7 -> messages(side, local, peer);
            case 8, 9 -> tagged(side, local, peer);
            case 10, 11 -> atomics(side, local, peer, remote);
            case 12, 13 -> run.attempt("life of an endpoint of others' objects", () -> bind(side, local, peer, remote));
            case 14 -> run.attempt("an endpoint of another's info",
                    () -> side.pair.domain.openEndpoint(local.pair.fabric.info()).close());
            case 15 -> run.attempt("a domain of another's info",
                    () -> side.pair.fabric.openDomain(local.pair.domain.info()).close());
            case 16 -> run.attempt("a passive endpoint of others' objects", () -> passive(side, local, peer));
            case 17 -> run.attempt("a peer of others", () -> peers(side, local));
            case 18 -> run.attempt("a pipeline of others", () -> pipeline(side, local, peer));
            case 19 -> run.attempt("futures of others", () -> futures(side, local, peer));
            case 20 -> run.attempt("a saver of others", () -> saver(side, local, peer, remote));
            case 21 -> run.attempt("a wait for others", () -> waits(side, local, peer));
            case 22 -> run.attempt("a group of others", () -> group(side, local));
            case 23 -> run.attempt("a key of others", () -> {
                try (MappedKey key = side.pair.domain.mapRawKey(local.far.rawKey())) {
                    key.remote();
                }
            });
            case 24 -> run.attempt("a connection to others", () -> connect(side, local));
            case 25 -> run.attempt("a request of others", () -> request(side, local, peer));
            case 26 -> run.attempt("deferred work of others", () -> deferred(side, local, peer, remote));
            case 27 -> run.attempt("ranks of others", () -> ranks(side, local, peer));
            case 28 -> run.attempt("collectives of others", () -> collectives(side, local, peer));
            case 29 -> run.attempt("shared contexts of others", () -> shared(side, local, peer));
            case 30 -> run.attempt("a scalable endpoint of others", () -> scalable(side, local, peer));
            default ->
                run.attempt("a region of others", () -> side.pair.domain.region(local.remote.key()).ifPresent(found -> {
                    if (found != side.far) { run.fail(new AssertionError("a domain has found a region of another")); }
                }));
        }
    }

    private void post(Side side, String what, LongPredicate tryPost) {
        run.attempt(what, () -> side.tokens.post(tryPost));
    }

    private void messages(Side side, Side local, Side peer) {
        switch (random.nextInt(4)) {
            case 0 -> post(side, "send",
                    token -> side.pair.endpoint.messages().trySend(local.near, 0, MESSAGE, peer.pair.far, token));
            case 1 -> post(side, "receive",
                    token -> side.pair.farEndpoint.messages().tryReceive(local.far, 0, LENGTH, token));
            case 2 -> post(side, "receive from a peer",
                    token -> side.pair.farEndpoint.messages().tryReceive(local.far, 0, LENGTH, peer.pair.far, token));
            default -> post(side, "prepared send", token -> side.pair.endpoint.messages().prepare()
                    .local(local.near, 0, MESSAGE).peer(peer.pair.far).trySend(token));
        }
    }

    private void tagged(Side side, Side local, Side peer) {
        int tag = random.nextInt(TAGS);
        switch (random.nextInt(4)) {
            case 0 -> post(side, "tagged send",
                    token -> side.pair.endpoint.tagged().trySend(local.near, 0, MESSAGE, peer.pair.far, tag, token));
            case 1 -> post(side, "tagged receive",
                    token -> side.pair.farEndpoint.tagged().tryReceive(local.far, 0, LENGTH, tag, 0, token));
            case 2 -> post(side, "tagged receive from a peer", token -> side.pair.farEndpoint.tagged()
                    .tryReceive(local.far, 0, LENGTH, peer.pair.far, tag, 0, token));
            default -> post(side, "prepared tagged send", token -> side.pair.endpoint.tagged().prepare()
                    .local(local.near, 0, MESSAGE).peer(peer.pair.far).tag(tag).trySend(token));
        }
    }

    private void atomics(Side side, Side local, Side peer, Side remote) {
        if (random.nextBoolean()) {
            post(side, "atomic operation", token -> side.pair.endpoint.atomics().tryFetch(AtomicOperation.SUM,
                    Datatype.INT64, 1, local.near, 0, peer.pair.far, remote.remote, 0, token));
        } else {
            post(side, "prepared atomic operation",
                    token -> side.pair.endpoint.atomics().prepare(Datatype.INT64).peer(peer.pair.far)
                            .local(local.near, 0, 1).result(peer.near, 8, 1).remote(remote.remote, 0, 1)
                            .tryFetch(AtomicOperation.SUM, token));
        }
    }

    private void bind(Side side, Side queue, Side vector, Side counter) {
        try (Endpoint endpoint = side.pair.domain.openEndpoint()) {
            if (random.nextBoolean()) {
                endpoint.bind(queue.pair.queue);
            } else {
                endpoint.bindSelective(queue.pair.queue);
            }
            if (random.nextBoolean()) { endpoint.bind(counter.counter, CounterEvent.WRITE); }
            if (vector.pair.vector != null) {
                endpoint.bind(vector.pair.vector);
            } else {
                endpoint.bind(vector.pair.events);
            }
            if (random.nextInt(4) == 0) { endpoint.address(counter.pair.endpoint.address()); }
            endpoint.enable();
            if (side.pair.vector != null) {
                endpoint.rma().tryWrite(counter.near, 0, MESSAGE, vector.pair.far, counter.remote, 0, 0);
            }
        }
    }

    private void passive(Side side, Side info, Side events) {
        try (PassiveEndpoint passive = side.pair.fabric.openPassiveEndpoint(info.pair.domain.info())) {
            events.left.add(passive);
            passive.bind(events.pair.events).listen();
        }
    }

    private void peers(Side side, Side other) {
        if (side != other) { side.pair.vector.remove(other.pair.far); }
        side.pair.vector.address(other.pair.far);
        side.pair.vector.receiveContext(other.pair.far, 0);
        Peer peer = side.pair.vector.insert(other.pair.farEndpoint.address());
        if (!peer.equals(side.pair.far)) { side.pair.vector.remove(peer); }
    }

    /** One that is made works, with what is of its own domain. */
    private void pipeline(Side side, Side queue, Side other) {
        int[] back = new int[1];
        Pipeline<Side> pipeline = new Pipeline<>(side.pair.endpoint, queue.pair.queue, 4, new PipelineHandler<>() {
            @Override
            public void onCompletion(Side context, long length, long data) { back[0]++; }

            @Override
            public void onError(Side context, CompletionError error) { back[0]++; }

            @Override
            public void onOther(long token, long flags, long length, long data) {
                side.tokens.onCompletion(token, flags, length, data);
            }
        });
        requireSame("a pipeline", side, queue);
        if (isUsed(side.pair.queue)) { return; } // whose errors a pipeline throws
        pipeline.write(other.near.slice(0, MESSAGE), side.pair.far, side.remote, side);
        Waiting.YIELD.until(() -> {
            pipeline.poll();
            side.pair.farQueue.poll(side.tokens, 8);
            return pipeline.inFlight() == 0;
        }, Pair.DEADLINE);
        if (back[0] != 1) { run.fail(new AssertionError("a pipeline's write came back " + back[0] + " times")); }
    }

    /** Whether something is in flight, or has completed while another call made progress and waits for a poll. */
    private static boolean isUsed(CompletionQueue queue) {
        return queue.operationsInFlight() > 0 || queue.statistics().buffered() > 0;
    }

    private void requireSame(String what, Side one, Side other) {
        if (one != other) { run.fail(new AssertionError(what + " of two that do not belong together was made")); }
    }

    private void futures(Side side, Side queue, Side other) throws Exception {
        if (isUsed(side.pair.queue)) { return; } // whose completions futures would take
        try (FutureThread futures = new FutureThread(side.pair.endpoint, queue.pair.queue)) {
            requireSame("an object of futures", side, queue);
            CompletableFuture<?> future = futures.write(other.near.slice(0, MESSAGE), side.pair.far, side.remote);
            long end = System.nanoTime() + Pair.DEADLINE.toNanos();
            while (!future.isDone() && System.nanoTime() < end) {
                side.pair.farQueue.poll(side.tokens, 8);
            }
            future.get(1, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            run.fail(new AssertionError("a write of futures does not end", e));
        } catch (ExecutionException e) {
            throw (Exception) e.getCause(); // a connection may have ended with what its target refused
        }
    }

    private void saver(Side side, Side endpoint, Side queue, Side service) {
        HostileTokens saves = new HostileTokens(run);
        try (SaveService its = new SaveService(service.pair.domain);
                Saver saver = new Saver(side.pair.domain, endpoint.pair.endpoint, queue.pair.queue)) {
            requireSame("a saver", endpoint, queue);
            if (random.nextInt(4) == 0) { its.coverReceives(endpoint.far); }
            if (isUsed(queue.pair.queue)) { return; } // whose completions its handler would take
            saver.saveThrough(endpoint.pair.far, its.ticket());
            saves.post(token -> saver.trySave(endpoint.pair.far, endpoint.remote, Durability.values()[0], token));
            Waiting.YIELD.until(() -> {
                saver.poll(saves, 8);
                its.progress();
                endpoint.pair.farQueue.poll(endpoint.tokens, 8);
                return saves.areAll();
            }, Pair.DEADLINE);
        }
    }

    private void waits(Side side, Side queue, Side events) {
        if (events.pair.events == null) {
            side.pair.fabric.tryWait(queue.pair.queue, events.pair.farQueue);
            Waiting.block(Duration.ofMillis(1), queue.pair.queue, events.pair.queue);
        } else {
            side.pair.fabric.tryWait(queue.pair.queue, events.pair.events);
            Waiting.block(Duration.ofMillis(1), queue.pair.queue, events.pair.events);
        }
    }

    private void group(Side side, Side other) {
        try (PollGroup group = new PollGroup()) {
            group.add(side.pair.queue, side.tokens).add(other.pair.farQueue, other.tokens);
            if (other.pair.events != null) { group.add(other.pair.events, event -> {}); }
            group.await(Duration.ofNanos(100_000));
        }
    }

    private void connect(Side side, Side other) {
        if (other.provider.equals(ENDS_BY_FOREIGN_BYTES) && !side.provider.equals(other.provider)) { return; }
        try (CompletionQueue queue = side.pair.domain.openCompletionQueue();
                EventQueue events = side.pair.fabric.openEventQueue();
                Endpoint endpoint = side.pair.domain.openEndpoint()) {
            endpoint.bind(queue).bind(events).enable();
            endpoint.connection().connect(
                    other.pair.passive == null ? other.pair.farEndpoint.address() : other.pair.passive.address(),
                    SHORT);
        }
    }

    /** A request that came to one, accepted by another. */
    private void request(Side side, Side asked, Side events) {
        try (CompletionQueue queue = asked.pair.domain.openCompletionQueue();
                EventQueue its = asked.pair.fabric.openEventQueue();
                Endpoint asking = asked.pair.domain
                        .openEndpoint(asked.pair.domain.info().withDestination(asked.pair.passive.address()))) {
            asking.bind(queue).bind(its).enable();
            asking.connection().connect(asked.pair.passive.address());
            Event event = asked.pair.events.read(Pair.DEADLINE);
            if (!(event instanceof Event.ConnectionRequested(ConnectionRequest request))) { return; }
            try (Endpoint accepting = side.pair.domain.openEndpoint(request)) {
                accepting.bind(side.pair.queue).bind(events.pair.events).enable();
                accepting.connection().accept();
            } finally {
                request.close();
            }
        }
    }

    private void deferred(Side side, Side counter, Side message, Side completion) {
        if (side == counter && side == completion) { return; } // it waits for ever: no software provider cancels it
        var when = side.pair.domain.deferredWork().when(counter.counter, 1L << 20);
        switch (random.nextInt(3)) {
            case 0 -> when.write(message.pair.rma().prepare().peer(side.pair.far).local(side.near, 0, MESSAGE)
                    .remote(side.remote, 0, MESSAGE), completion.counter, 0);
            case 1 -> when.add(completion.counter, 1);
            default ->
                when.send(message.pair.endpoint.messages().prepare().peer(side.pair.far).local(side.near, 0, MESSAGE),
                        completion.counter, 0);
        }
    }

    private void ranks(Side side, Side vector, Side remote) {
        try (Job job = Job.join(Duration.ofSeconds(1))) {
            if (random.nextBoolean()) {
                Ranks ranks = Ranks.exchange(job, side.pair.endpoint, vector.pair.vector, remote.remote);
                vector.pair.vector.remove(ranks.peer(0));
                return;
            }
            try (JobCollectives all = new JobCollectives(job, side.pair.domain)) {
                all.broadcast(vector.near.slice(0, MESSAGE), 0);
                all.allGather(vector.near.slice(0, MESSAGE), remote.far.slice(0, MESSAGE));
                all.allReduce(vector.near.slice(0, MESSAGE), AtomicOperation.SUM, Datatype.INT64);
                all.allToAll(vector.near.slice(0, MESSAGE), remote.far.slice(0, MESSAGE));
            }
        }
    }

    private void collectives(Side side, Side members, Side local) {
        CollectiveGroup group = side.pair.endpoint.collectives().join(List.of(members.pair.far));
        post(side, "barrier", group::tryBarrier);
        post(side, "reduction", token -> group.tryAllReduce(AtomicOperation.SUM, Datatype.INT64, local.near, 0, 1,
                members.near, 8, token));
    }

    private void shared(Side side, Side other, Side queue) {
        try (SharedReceiveContext context = other.pair.domain.openSharedReceiveContext();
                SharedTransmitContext transmits = other.pair.domain.openSharedTransmitContext();
                Endpoint endpoint = side.pair.domain.openEndpoint()) {
            context.bind(queue.pair.queue).enable();
            endpoint.bind(context).bind(transmits).bind(queue.pair.queue).bind(other.pair.vector).enable();
        }
    }

    private void scalable(Side side, Side vector, Side queue) {
        try (ScalableEndpoint endpoint = side.pair.domain.openScalableEndpoint()) {
            endpoint.bind(vector.pair.vector);
            try (Endpoint transmits = endpoint.openTransmitContext(0);
                    Endpoint receives = endpoint.openReceiveContext(0)) {
                transmits.bind(queue.pair.queue);
                receives.bind(vector.pair.queue);
                endpoint.enable();
            }
        }
    }
}
