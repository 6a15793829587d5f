package io.ofi4j.calls;

import static io.ofi4j.calls.Trial.LENGTH;
import static io.ofi4j.calls.Trial.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.PackagePrivate;
import io.ofi4j.Counter;
import io.ofi4j.DeferredOperation;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.Endpoint;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import io.ofi4j.internal.ffi.CntrOps;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Trials of the calls of fi_cntr(3). */
final class CounterTrials {
    private static final int ETIMEDOUT = 110;
    private static final int SHORT = 400;

    private CounterTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_cntr_read, WRITE", near(WaitObject.NONE, CounterEvent.WRITE, t -> {
            t.write();
            awaitOne(t);
        }));
        all.put("fi_cntr_read, READ", near(WaitObject.NONE, CounterEvent.READ, t -> {
            read(t);
            awaitOne(t);
        }));
        all.put("fi_cntr_read, REMOTE_WRITE", far(CounterEvent.REMOTE_WRITE, t -> {
            t.write();
            awaitOne(t);
        }));
        all.put("fi_cntr_read, REMOTE_READ", far(CounterEvent.REMOTE_READ, t -> {
            read(t);
            awaitOne(t);
        }));
        all.put("fi_cntr_wait", near(WaitObject.UNSPECIFIED, CounterEvent.WRITE, t -> {
            t.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
            t.whileTheFarEndPolls(() -> counter(t).await(1, t.deadline));
            assertThat(counter(t).read()).isEqualTo(1);
            waitNatively(counter(t), t.deadline);
        }));
        changes(all);
        all.put("fi_control(FI_QUEUE_WORK)", deferred((t, work, trigger) -> {
            trigger.add(1);
            t.awaitWritten();
            t.await(() -> work.state() == DeferredOperation.State.DONE);
        }));
        all.put("fi_control(FI_CANCEL_WORK)", deferred((t, work, trigger) -> assertThat(work.cancel()).isTrue()));
    }

    /** What is tried on a write that waits for a counter. */
    private interface OfWork {
        void run(Trial t, DeferredOperation work, Counter trigger);
    }

    private static CallTrial deferred(OfWork body) {
        return CallTrial.of(CallTrial.capability(Capability.TRIGGER), t -> {
            try (Counter trigger = t.pair.domain.openCounter();
                    Counter done = t.pair.domain.openCounter();
                    Endpoint _ = t.pair.endpoint) {
                DeferredOperation work = t.pair.domain.deferredWork().when(trigger, 1).write(t.message(), done, TOKEN);
                try {
                    body.run(t, work, trigger);
                } finally { // the endpoint and the counters close after it
                    trigger.add(1);
                    t.await(() -> work.state() != DeferredOperation.State.QUEUED);
                }
            }
        });
    }

    private static void changes(Map<String, CallTrial> all) {
        all.put("fi_cntr_add", alone(counter -> {
            counter.add(3);
            counter.add(4);
            awaitValue(counter, 7);
        }));
        all.put("fi_cntr_set", alone(counter -> {
            counter.add(3);
            counter.set(2);
            awaitValue(counter, 2);
        }));
        all.put("fi_cntr_adderr, fi_cntr_readerr", alone(counter -> {
            counter.addErrors(5);
            assertThat(counter.readErrors()).isEqualTo(5);
        }));
        all.put("fi_cntr_seterr", alone(counter -> {
            counter.addErrors(5);
            counter.setErrors(1);
            assertThat(counter.readErrors()).isEqualTo(1);
        }));
    }

    private static void read(Trial t) {
        t.rma().read(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
        t.awaitToken(TOKEN);
    }

    /** What the provider makes of it, which this library need not have called. */
    private static void waitNatively(Counter counter, Duration deadline) throws InterruptedException {
        CntrOps ops = new CntrOps(PackagePrivate.handle(counter), false);
        assertThat(ops.fi_cntr_wait(1, SHORT)).as("the status of a wait for what is there").isZero();
        int[] status = new int[1];
        long start = System.nanoTime();
        Thread thread = Thread.ofPlatform().start(() -> status[0] = ops.fi_cntr_wait(2, SHORT));
        if (!thread.join(deadline)) {
            ops.fi_cntr_add(1); // which ends it
            thread.join();
            throw PackagePrivate.timedOut("fi_cntr_wait", deadline, "It does not keep the time.");
        }
        assertThat(status[0]).as("the status of a wait for more").isEqualTo(-ETIMEDOUT);
        assertThat(System.nanoTime() - start).as("the time it waited").isGreaterThan(SHORT * 1_000_000L / 2);
    }

    private static Counter counter(Trial t) { return t.pair.counters.getFirst(); }

    private static void awaitOne(Trial t) {
        Waiting.YIELD.until(() -> {
            t.pair.poll();
            return counter(t).read() == 1;
        }, Pair.DEADLINE);
    }

    /** fi_cntr(3): a change may be seen only after a while. */
    private static void awaitValue(Counter counter, long value) {
        Waiting.YIELD.until(() -> counter.read() == value, Pair.DEADLINE);
    }

    /** What is tried on a counter that is bound to nothing. */
    private interface Body {
        void run(Counter counter);
    }

    private static CallTrial alone(Body body) {
        return CallTrial.of(t -> {
            try (Counter counter = t.pair.domain.openCounter()) {
                body.run(counter);
            }
        });
    }

    private static CallTrial near(WaitObject object, CounterEvent event, CallTrial.Body body) {
        return CallTrial.of(UnaryOperator.identity(), new Pair.Wiring() {
            @Override
            public Endpoint bindNear(Pair pair, Endpoint endpoint) {
                return endpoint.bind(pair.queue).bind(pair.openCounter(object), event);
            }
        }, body);
    }

    private static CallTrial far(CounterEvent event, CallTrial.Body body) {
        return CallTrial.of(CallTrial.capability(Capability.RMA_EVENT), new Pair.Wiring() {
            @Override
            public Endpoint bindFar(Pair pair, Endpoint endpoint) {
                return endpoint.bind(pair.farQueue).bind(pair.openCounter(WaitObject.NONE), event);
            }
        }, body);
    }
}
