package io.ofi4j.hostile;

import io.ofi4j.info.Capability;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.util.PollGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Traffic over two providers in one JVM, from one thread or from several, with one poll group over all queues, while
 * pairs of either open and close. Every token comes back once, from its own queue.
 */
final class HostileMixed {
    private static final int STEPS = 200;
    private static final Duration SHORT = Duration.ofNanos(200_000);

    private final HostileRun run;
    private final Random random;
    private final List<Part> parts = new ArrayList<>();
    private final PollGroup group = new PollGroup();
    private volatile boolean isOver;

    /** One provider's part. */
    private final class Part {
        final HostileTraffic traffic;
        final HostileTokens tokens = new HostileTokens(run);

        Part(String provider) {
            Capability family = HostileFamilies.one(random, provider);
            traffic = new HostileTraffic(provider, family);
            traffic.pair.endpoint.postTimeout(Duration.ofMillis(200));
            group.add(traffic.pair.queue, tokens).add(traffic.pair.farQueue, tokens);
            if (traffic.pair.events != null) { group.add(traffic.pair.events, event -> {}); }
        }

        void post(Random own) {
            run.attempt("posts over " + traffic.family, () -> tokens.post(token -> traffic.tryPost(own, token)));
            run.attempt("receives over " + traffic.family, () -> tokens.post(token -> traffic.tryReceive(own, token)));
        }

        /** All but the queues, which hold what is still to be told. */
        List<AutoCloseable> parts() {
            Pair pair = traffic.pair;
            return List.of(traffic.near, traffic.far, pair.endpoint, pair.farEndpoint,
                    pair.vector == null ? pair.passive : pair.vector);
        }

        void finish() {
            tokens.requireAll(traffic.pair.queue, traffic.pair.farQueue);
            run.attempt("close", traffic.pair::close);
            traffic.requireGuards(run);
        }
    }

    private HostileMixed(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        do {
            HostileMixed mixed = new HostileMixed(run, random);
            List<String> others = TestProviders.transfers().filter(one -> !one.equals(run.provider)).toList();
            String other = others.isEmpty() ? run.provider : others.get(random.nextInt(others.size()));
            mixed.parts.add(mixed.new Part(run.provider));
            mixed.parts.add(mixed.new Part(other));
            if (random.nextBoolean()) {
                mixed.inOneThread();
            } else {
                mixed.inSeveral();
            }
            run.tried("rounds with " + other);
        } while (run.goesOn());
    }

    private void inOneThread() throws InterruptedException {
        List<AutoCloseable> open = open();
        for (int i = 0; i < STEPS && run.goesOn(); i++) {
            parts.get(random.nextInt(parts.size())).post(random);
            if (random.nextInt(4) == 0) { poll(); }
            if (i > STEPS / 2 && random.nextInt(8) == 0) { close(open); }
            if (random.nextInt(STEPS) == 0) { openAnother(); }
        }
        finish(open);
    }

    private void inSeveral() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (Part part : parts) {
            Random own = run.random();
            threads.add(run.start("posting", () -> {
                while (!isOver) {
                    part.post(own);
                }
            }));
        }
        threads.add(run.start("polling", () -> {
            while (!isOver) {
                poll();
            }
        }));
        Thread.sleep(random.nextInt(20));
        if (random.nextInt(4) == 0) { openAnother(); }
        List<AutoCloseable> open = open();
        while (!open.isEmpty() && random.nextInt(16) > 0) {
            close(open);
            Thread.sleep(random.nextInt(3));
        }
        isOver = true;
        run.join(threads);
        finish(open);
    }

    private void poll() {
        run.attempt("poll of a group", () -> {
            if (random.nextBoolean()) {
                group.poll();
            } else {
                group.await(SHORT);
            }
        });
    }

    private List<AutoCloseable> open() {
        List<AutoCloseable> open = new ArrayList<>();
        parts.forEach(part -> open.addAll(part.parts()));
        Collections.shuffle(open, random);
        return open;
    }

    private void close(List<AutoCloseable> open) {
        if (open.isEmpty()) { return; }
        AutoCloseable one = open.removeFirst();
        if (!run.attempt("close in traffic", one::close)) { open.add(one); }
    }

    /** A pair of either provider, or of any, beside the others. */
    private void openAnother() {
        List<String> all = TestProviders.transfers().toList();
        run.attempt("life of another pair", () -> new Pair(all.get(random.nextInt(all.size()))).close());
    }

    private void finish(List<AutoCloseable> open) {
        long end = System.nanoTime() + Pair.DEADLINE.toNanos();
        while (!open.isEmpty() && System.nanoTime() < end) {
            close(open);
            poll();
        }
        if (!open.isEmpty()) { run.fail(new AssertionError("cannot be closed: " + open)); }
        group.close();
        parts.forEach(Part::finish);
    }
}
