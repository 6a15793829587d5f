package io.ofi4j.hostile;

import io.ofi4j.Counter;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.Endpoint;
import java.time.Duration;
import java.util.Random;

/** Threads change, read and await one counter at once. */
final class HostileCounters {
    private static final int THREADS = 5;

    private HostileCounters() {}

    static void run(HostileRun run) throws Exception {
        Counter[] opened = new Counter[1];
        Pair pair = new Pair(TestProviders.hints(run.provider), CompletionQueueAttributes.defaults(),
                new Pair.Wiring() {
                    @Override
                    public Endpoint bindNear(Pair pair, Endpoint endpoint) {
                        opened[0] = pair.openCounter(WaitObject.UNSPECIFIED);
                        return endpoint.bind(pair.queue).bind(opened[0], CounterEvent.WRITE);
                    }
                });
        run.inThreads(THREADS, () -> {
            Random random = run.random();
            while (run.goesOn()) {
                step(run, random, opened[0]);
            }
        });
        run.attempt("close", pair::close);
    }

    private static void step(HostileRun run, Random random, Counter counter) {
        long value = random.nextInt(1000);
        switch (random.nextInt(7)) {
            case 0 -> run.attempt("add", () -> counter.add(value));
            case 1 -> run.attempt("set", () -> counter.set(value));
            case 2 -> run.attempt("addErrors", () -> counter.addErrors(1));
            case 3 -> run.attempt("setErrors", () -> counter.setErrors(0));
            case 4 -> run.attempt("read", counter::read);
            case 5 -> run.attempt("readErrors", counter::readErrors);
            default -> run.attempt("await", () -> counter.await(value, Duration.ofMillis(random.nextInt(5))));
        }
    }
}
