package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.ProgressThread;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.JobException;
import io.ofi4j.job.Reduction;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.FutureThread;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Callbacks that threads of the library call misbehave: actions of futures, pauses of progress threads and of services
 * of saves; and so do those of collective operations, which another rank waits for. What was accepted comes back once,
 * and everything is closed within a few seconds.
 */
final class HostileServices {
    private static final int EBUSY = 16;
    private static final int POSTS = 40;
    private static final int RANKS = 2;
    private static final Duration SHORT = Duration.ofMillis(2);
    private static final Duration JOB_DEADLINE = Patience.seconds(2);
    /** What a close may take, beside a callback that another thread still runs. */
    private static final long CLOSE_NANOS = Patience.seconds(8).toNanos();

    private final HostileRun run;
    private final Random random;

    private HostileServices(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        HostileServices all = new HostileServices(run, random);
        boolean isConnected = run.provider.startsWith("MSG ");
        while (run.goesOn()) {
            switch (random.nextInt(isConnected ? 2 : 4)) {
                case 0 -> all.futures();
                case 1 -> all.progress();
                case 2 -> all.saves();
                default -> all.collectives();
            }
        }
    }

    private void close(String what, AutoCloseable one, HostileCallback callback) {
        long start = System.nanoTime();
        try {
            one.close();
        } catch (Throwable t) {
            if (t instanceof Exception e && !callback.hasThrown(t)) { run.requireNamed("close of " + what, e); }
            if (t instanceof Error && !callback.hasThrown(t)) { run.fail(t); }
            run.tried("close of " + what + " that threw");
        }
        long took = System.nanoTime() - start;
        if (took > CLOSE_NANOS) {
            run.fail(new AssertionError("the close of " + what + " took " + took / 1_000_000 + " ms"));
        }
    }

    private void futures() {
        Pair pair = new Pair(run.provider);
        pair.endpoint.postTimeout(Duration.ofMillis(200));
        MemoryRegion region = pair.domain.allocate(64, Access.values());
        RemoteRegion remote = region.remote();
        ProgressThread progress = pair.domain.startProgress(Waiting.BACKOFF);
        List<CompletableFuture<?>> accepted = new CopyOnWriteArrayList<>();
        AtomicInteger actions = new AtomicInteger();
        FutureThread futures = new FutureThread(pair.endpoint, pair.queue);
        HostileCallback[] posts = new HostileCallback[1];
        HostileCallback[] handlers = new HostileCallback[1];
        Random own = run.random();
        HostileRun.Step again = () -> accepted
                .add(futures.submit(token -> pair.rma().write(region.slice(0, 8), pair.far, remote.slice(8, 8), token))
                        .whenComplete((result, why) -> actions.incrementAndGet()));
        HostileRun.Step submit = () -> accepted.add(futures.submit(token -> {
            pair.rma().write(region.slice(0, 8), pair.far, remote.slice(8, 8), token);
            posts[0].misbehave();
        }).whenComplete((result, why) -> {
            actions.incrementAndGet();
            handlers[0].misbehave(); // on the thread that polls, or on this one if it has completed already
        }));
        posts[0] = new HostileCallback(run, random, List.of(submit, () -> pair.domain.close()));
        handlers[0] = new HostileCallback(run, own,
                List.of(again, () -> pair.domain.close(), () -> pair.queue.close(), () -> waitFor(accepted),
                        () -> Thread.currentThread().interrupt(), () -> rarely(own, futures),
                        () -> rarely(own, pair.endpoint)));
        for (int i = 0; i < POSTS && run.goesOn(); i++) {
            posts[0].calls("submit", submit);
        }
        pair.endpoint.close();
        close("futures", futures, handlers[0]);
        long end = System.nanoTime() + Pair.DEADLINE.toNanos();
        while (accepted.stream().anyMatch(one -> !one.isDone()) && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        long open = accepted.stream().filter(one -> !one.isDone()).count();
        if (open > 0) { run.fail(new AssertionError(open + " futures never end")); }
        if (actions.get() != accepted.size()) {
            run.fail(new AssertionError(accepted.size() + " futures, " + actions + " actions"));
        }
        close("progress", progress, handlers[0]);
        region.close();
        pair.close();
        run.tried("rounds of futures");
    }

    /** On the thread that completes them. */
    private static void waitFor(List<CompletableFuture<?>> futures) throws Exception {
        try {
            if (!futures.isEmpty()) { futures.getLast().get(1, TimeUnit.MILLISECONDS); }
        } catch (TimeoutException | ExecutionException | InterruptedException | CancellationException e) {
            return;
        }
    }

    private static void rarely(Random own, AutoCloseable one) throws Exception {
        if (own.nextInt(16) == 0) { one.close(); }
    }

    private void progress() throws InterruptedException {
        Pair pair = new Pair(run.provider);
        MemoryRegion region = pair.domain.allocate(64, Access.values());
        RemoteRegion remote = region.remote();
        HostileTokens tokens = new HostileTokens(run);
        ProgressThread[] thread = new ProgressThread[1];
        HostileCallback callback = new HostileCallback(run, run.random(),
                List.of(() -> thread[0].close(), () -> pair.domain.close(), () -> pair.queue.poll(tokens, 4),
                        () -> pair.queue.close(), () -> pair.domain.progress(), () -> pair.domain.startProgress(),
                        () -> tokens.post(token -> pair.rma().tryWrite(region, 0, 8, pair.far, remote, 8, token)),
                        () -> Thread.currentThread().interrupt(), () -> pair.farQueue.await(tokens, 1, SHORT)));
        thread[0] = pair.domain.startProgress(turn -> {
            if (thread[0] != null) { callback.misbehave(); }
        });
        for (int i = 0; i < POSTS && run.goesOn(); i++) {
            run.attempt("post beside a progress thread",
                    () -> tokens.post(token -> pair.rma().tryWrite(region, 0, 8, pair.far, remote, 8, token)));
            run.attempt("poll beside a progress thread", () -> pair.queue.poll(tokens, 8));
            run.attempt("poll beside a progress thread", () -> pair.farQueue.poll(tokens, 8));
        }
        close("a progress thread", thread[0], callback);
        thread[0].failure().filter(why -> !callback.hasThrown(why)).ifPresent(run::fail);
        pair.endpoint.close();
        tokens.requireAll(pair.queue);
        region.close();
        pair.close();
        run.tried("rounds of a progress thread");
    }

    private void saves() {
        FabricHints hints = TestProviders.hints(run.provider).capabilities(Capability.RMA, Capability.MSG);
        Pair pair = new Pair(hints);
        MemoryRegion region = pair.domain.allocate(64, Access.values());
        RemoteRegion remote = region.remote();
        HostileTokens tokens = new HostileTokens(run);
        SaveService service = new SaveService(pair.domain);
        Saver saver;
        try {
            saver = new Saver(pair.domain, pair.endpoint, pair.queue);
        } catch (UnsupportedOperationException e) {
            run.tried("rounds of saves, refused");
            service.close();
            region.close();
            pair.close();
            return;
        }
        saver.saveThrough(pair.far, service.ticket());
        HostileCallback[] callback = new HostileCallback[1];
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                tokens.onCompletion(token, flags, length, data);
                callback[0].misbehave();
            }

            @Override
            public void onError(CompletionError error) {
                tokens.onError(error);
                callback[0].misbehave();
            }
        };
        HostileRun.Step post = () -> tokens.post(token -> random.nextBoolean()
                ? pair.rma().tryWrite(region, 0, 8, pair.far, remote, 8, token)
                : saver.trySave(pair.far, remote, Durability.values()[random.nextInt(2)], token));
        callback[0] = new HostileCallback(run, random,
                List.of(post, () -> saver.poll(handler, 4), () -> saver.await(handler, 2, SHORT),
                        () -> pair.queue.poll(saver.handler(handler), 4), () -> pair.domain.close(),
                        () -> service.answered(), () -> rarely(random, saver)));
        HostileCallback pauses = new HostileCallback(run, run.random(),
                List.of(() -> service.close(), () -> service.progress(), () -> service.start(),
                        () -> pair.domain.close(), () -> pair.queue.close(), () -> Thread.currentThread().interrupt(),
                        () -> pair.farQueue.poll(tokens, 4)));
        service.start(turn -> pauses.misbehave());
        for (int i = 0; i < POSTS && run.goesOn(); i++) {
            callback[0].calls("post or save", post);
            callback[0].calls("poll of a saver", () -> {
                if (random.nextInt(4) == 0) {
                    saver.await(handler, 8, SHORT);
                } else {
                    saver.poll(handler, 8);
                }
            });
        }
        close("a service of saves", service, pauses);
        service.failure().filter(why -> !pauses.hasThrown(why)).ifPresent(run::fail);
        close("a saver", saver, callback[0]);
        pair.endpoint.close();
        long end = System.nanoTime() + Pair.DEADLINE.toNanos();
        while (!tokens.areAll() && System.nanoTime() < end) {
            callback[0].calls("poll of a closed saver", () -> saver.poll(handler, 8));
        }
        tokens.requireAllThrough(saver.handler(tokens), pair.queue);
        region.close();
        pair.close();
        run.tried("rounds of saves");
    }

    /** Ranks that are threads: what one of them throws, the other learns by its deadline. */
    private void collectives() throws Exception {
        String secret = Rendezvous.newSecret();
        int port = FreePort.find();
        List<Thread> ranks = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            Map<String, String> environment = Map.of("OFI4J_RANK", "" + rank, "OFI4J_SIZE", "" + RANKS,
                    "OFI4J_RENDEZVOUS", "127.0.0.1:" + port, "OFI4J_SECRET", secret);
            Random own = run.random();
            ranks.add(run.start("rank " + rank, () -> rank(own, environment)));
        }
        run.join(ranks);
        run.tried("rounds of collectives");
    }

    private void rank(Random own, Map<String, String> environment) throws Exception {
        Libfabric libfabric = Libfabric.load();
        HostileCallback[] callback = new HostileCallback[1];
        JobCollectives[] all = new JobCollectives[1];
        callback[0] = new HostileCallback(run, own, List.of(() -> all[0].close(), () -> all[0].barrier()));
        try (Job job = join(environment);
                Fabric fabric = libfabric.openFabric(
                        libfabric.info(TestProviders.hints(run.provider).capabilities(Capability.TAGGED)).getFirst());
                Domain domain = fabric.openDomain()) {
            all[0] = new JobCollectives(job, domain, turn -> {
                if (all[0] != null && own.nextInt(64) == 0) { callback[0].misbehave(); }
                Waiting.BACKOFF.pause(turn);
            });
            try (MemoryRegion region = domain.allocate(1 << 16, Access.SEND, Access.RECEIVE)) {
                Reduction reduction = Reduction.of(8, (into, from) -> callback[0].misbehave());
                long length = own.nextBoolean() ? 64 : 1 << 16;
                boolean isWhole = true;
                for (int i = 0; i < 4 && isWhole; i++) {
                    isWhole = callback[0].calls("an all-reduce",
                            () -> all[0].allReduce(region.slice(0, length), reduction));
                }
                close("collectives", all[0], callback[0]);
            }
        } catch (JobException e) {
            run.tried("jobs that failed"); // the other rank has left
        } catch (FabricException e) { // of a send that its receiver left: see LongSendAtCloseTest
            if (e.errno() != EBUSY || !run.provider.endsWith(";ofi_rxm")) { throw e; }
            run.tried("domains that ofi_rxm keeps");
        }
    }

    private static Job join(Map<String, String> environment) throws Exception {
        Method join = Job.class.getDeclaredMethod("join", Map.class, Duration.class);
        join.setAccessible(true);
        try {
            return (Job) join.invoke(null, environment, JOB_DEADLINE);
        } catch (InvocationTargetException e) {
            throw (Exception) e.getCause();
        }
    }
}
