package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.DeferredOperation;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Trial;
import io.ofi4j.conformance.Untried;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** What programs do seldom with counters and waits, and must survive. */
final class CounterCorners {
    private static final int SIZE = 64;
    private static final long TOKEN = 7;
    private static final int MANY_POLLS = 2000;
    /** More than a socket has room for bytes that nobody reads. */
    private static final int MANY_COUNTS = 5000;
    /** Does not fit into 32 bits with a sign. */
    private static final long HIGH = (1L << 31) + 1;
    private static final Duration WAIT = Duration.ofMillis(400);
    /** Of a thread: the nanoseconds that it has run for come first. */
    private static final Path RUN_TIME = Path.of("/proc/thread-self/schedstat");

    private CounterCorners() {}

    static void addTo(Map<String, Trial> all) {
        all.put("a counter of bytes counts bytes", CounterCorners::countBytes);
        all.put("a counter with a descriptor counts on", CounterCorners::countOn);
        all.put("work with a high threshold waits", CounterCorners::deferHigh);
        all.put("a wait for nothing lets the processor rest", CounterCorners::rest);
        all.put("waits for no event let the processor rest", CounterCorners::restWithoutEvents);
    }

    private static void countBytes(Subject subject) {
        Ends.Wiring wiring = new Ends.Wiring() {
            @Override
            public Endpoint bindNear(Ends ends, Endpoint endpoint) {
                ends.counters.add(ends.domain.openCounter(CounterAttributes.defaults().bytes()));
                return endpoint.bind(ends.near.queue).bind(ends.counters.getFirst(), CounterEvent.WRITE);
            }
        };
        try (Ends ends = new Ends(subject, subject.hints(), CompletionQueueAttributes.defaults(), wiring);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            Counter counter = ends.counters.getFirst();
            ends.near.endpoint().rma().write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            ends.require("a count", () -> counter.read() > 0);
            Check.equal("the counter of a write of " + SIZE + " bytes", counter.read(), SIZE);
        }
    }

    private static void countOn(Subject subject) {
        try (Ends ends = new Ends(subject); Counter counter = ends.openCounter(WaitObject.FD)) {
            for (int i = 0; i < MANY_COUNTS; i++) {
                counter.add(1);
            }
            counter.await(MANY_COUNTS, subject.deadline());
        }
    }

    /** Where it is not queued, it is refused. */
    private static void deferHigh(Subject subject) {
        try (Ends ends = new Ends(subject, subject.hints(Capability.TRIGGER), CompletionQueueAttributes.defaults(),
                Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE);
                Counter trigger = ends.domain.openCounter();
                Counter done = ends.domain.openCounter();
                Endpoint _ = ends.near.endpoint()) {
            DeferredOperation work;
            try {
                work = ends.domain.deferredWork().when(trigger, HIGH).write(ends.near.endpoint().rma().prepare()
                        .peer(ends.peer).local(source, 0, SIZE).remote(target.remote(), 0, SIZE), done, TOKEN);
            } catch (IllegalArgumentException e) {
                throw new UnsupportedOperationException(e.getMessage(), e);
            }
            for (int i = 0; i < MANY_POLLS; i++) {
                ends.poll();
            }
            boolean isEarly = done.read() > 0;
            if (!isEarly) {
                trigger.set(HIGH);
                ends.await(() -> work.state() != DeferredOperation.State.QUEUED);
            }
            if (isEarly) { throw new Wrong("work that waits for " + HIGH, "done at 0", "waiting"); }
        }
    }

    /** The wait object is used once, and has nothing to tell any more. */
    private static void rest(Subject subject) throws IOException {
        requireRunTime();
        try (Ends ends = new Ends(subject, subject.hints(),
                CompletionQueueAttributes.defaults().waitObject(WaitObject.FD), Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE, Access.READ);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            ends.near.endpoint().rma().read(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
            CompletionQueue queue = ends.near.queue;
            requireRest("one wait", () -> queue.await((token, flags, length, data) -> {}, 1, WAIT));
        }
    }

    /** In the queue's own wait, and in the loop of a program that blocks on its descriptor. */
    private static void restWithoutEvents(Subject subject) throws IOException {
        requireRunTime();
        try (Fabric fabric = Libfabric.load().openFabric(Subject.info(subject.hints()));
                EventQueue queue = fabric
                        .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD).writable())) {
            queue.write(TOKEN, TOKEN);
            Check.holds("an event that was written is read", queue.read().isPresent());
            requireRest("one wait", () -> queue.await(WAIT));
            int turns = 0;
            long end = System.nanoTime() + WAIT.toNanos();
            for (long left = WAIT.toNanos(); left > 0; left = end - System.nanoTime()) {
                Waiting.block(Duration.ofNanos(left), queue);
                Check.holds("there is no event", queue.read().isEmpty());
                turns++;
            }
            if (turns > 2 * WAIT.toMillis()) {
                throw new Wrong("how often a loop of waits turns in " + WAIT.toMillis() + " ms",
                        Integer.toString(turns), "once a millisecond at most");
            }
        }
    }

    private static void requireRunTime() {
        if (!Files.isReadable(RUN_TIME)) { throw new Untried("this system does not tell how long a thread has run"); }
    }

    private static void requireRest(String what, Runnable wait) throws IOException {
        wait.run(); // compiled, and all that comes late has come
        long before = runTime();
        wait.run();
        long ran = runTime() - before;
        if (ran > WAIT.toNanos() / 8) {
            throw new Wrong("the time that a thread runs in " + what + " of " + WAIT.toMillis() + " ms",
                    ran / 1_000_000 + " ms", "much less");
        }
    }

    private static long runTime() throws IOException {
        return Long.parseLong(Files.readString(RUN_TIME).split(" ")[0]);
    }
}
