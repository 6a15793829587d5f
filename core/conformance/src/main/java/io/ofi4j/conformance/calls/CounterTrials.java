package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.LENGTH;
import static io.ofi4j.conformance.calls.RmaSetting.TOKEN;

import io.ofi4j.Counter;
import io.ofi4j.DeferredOperation;
import io.ofi4j.Endpoint;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.WaitObject;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Trials of the calls of fi_cntr(3). */
final class CounterTrials {
    private static final Duration SHORT = Duration.ofMillis(400);

    private CounterTrials() {}

    static void addTo(Map<String, Trial> all) {
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
            t.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
            t.whileTheFarEndPolls(() -> counter(t).await(1, t.deadline));
            Check.equal("the counter", counter(t).read(), 1);
            waitForMore(counter(t));
        }));
        changes(all);
        all.put("fi_control(FI_QUEUE_WORK)", deferred((t, work, trigger) -> {
            trigger.add(1);
            t.awaitWritten();
            t.ends.await(() -> work.state() == DeferredOperation.State.DONE);
        }));
        all.put("fi_control(FI_CANCEL_WORK)",
                deferred((t, work, trigger) -> Check.holds("the work was canceled", work.cancel())));
    }

    /** What is tried on a write that waits for a counter. */
    private interface OfWork {
        void run(RmaSetting t, DeferredOperation work, Counter trigger);
    }

    private static Trial deferred(OfWork body) {
        return RmaTrial.of(RmaTrial.capability(Capability.TRIGGER), t -> {
            try (Counter trigger = t.ends.domain.openCounter();
                    Counter done = t.ends.domain.openCounter();
                    Endpoint _ = t.near.endpoint()) {
                DeferredOperation work = t.ends.domain.deferredWork().when(trigger, 1).write(t.message(), done, TOKEN);
                try {
                    body.run(t, work, trigger);
                } finally { // the endpoint and the counters close after it
                    trigger.add(1);
                    t.ends.await(() -> work.state() != DeferredOperation.State.QUEUED);
                }
            }
        });
    }

    private static void changes(Map<String, Trial> all) {
        all.put("fi_cntr_add", alone((counter, deadline) -> {
            counter.add(3);
            counter.add(4);
            awaitValue(counter, 7, deadline);
        }));
        all.put("fi_cntr_set", alone((counter, deadline) -> {
            counter.add(3);
            counter.set(2);
            awaitValue(counter, 2, deadline);
        }));
        all.put("fi_cntr_adderr, fi_cntr_readerr", alone((counter, deadline) -> {
            counter.addErrors(5);
            Check.equal("the errors of the counter", counter.readErrors(), 5);
        }));
        all.put("fi_cntr_seterr", alone((counter, deadline) -> {
            counter.addErrors(5);
            counter.setErrors(1);
            Check.equal("the errors of the counter", counter.readErrors(), 1);
        }));
    }

    private static void read(RmaSetting t) {
        t.rma().read(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
        t.ends.awaitToken(TOKEN);
    }

    /** It ends in time, and not before. */
    private static void waitForMore(Counter counter) {
        long start = System.nanoTime();
        Check.thrown("a wait for more than will come", FabricTimeoutException.class, () -> counter.await(2, SHORT));
        Check.holds("a wait does not end before its deadline", System.nanoTime() - start > SHORT.toNanos() / 2);
    }

    private static Counter counter(RmaSetting t) { return t.ends.counters.getFirst(); }

    private static void awaitOne(RmaSetting t) { t.ends.await(() -> counter(t).read() == 1); }

    /** fi_cntr(3): a change may be seen only after a while. */
    private static void awaitValue(Counter counter, long value, Duration deadline) {
        Waiting.YIELD.until(() -> counter.read() == value, deadline);
    }

    /** What is tried on a counter that is bound to nothing. */
    private interface Body {
        void run(Counter counter, Duration deadline);
    }

    private static Trial alone(Body body) {
        return RmaTrial.of(t -> {
            try (Counter counter = t.ends.domain.openCounter()) {
                body.run(counter, t.deadline);
            }
        });
    }

    private static Trial near(WaitObject object, CounterEvent event, RmaTrial body) {
        return RmaTrial.of(UnaryOperator.identity(), new Ends.Wiring() {
            @Override
            public Endpoint bindNear(Ends ends, Endpoint endpoint) {
                return endpoint.bind(ends.near.queue).bind(ends.openCounter(object), event);
            }
        }, body);
    }

    private static Trial far(CounterEvent event, RmaTrial body) {
        return RmaTrial.of(RmaTrial.capability(Capability.RMA_EVENT), new Ends.Wiring() {
            @Override
            public Endpoint bindFar(Ends ends, Endpoint endpoint) {
                return endpoint.bind(ends.far.queue).bind(ends.openCounter(WaitObject.NONE), event);
            }
        }, body);
    }
}
