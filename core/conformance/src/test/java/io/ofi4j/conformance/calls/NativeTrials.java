package io.ofi4j.conformance.calls;

import io.ofi4j.Counter;
import io.ofi4j.Endpoint;
import io.ofi4j.PackagePrivate;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.CntrOps;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Trials of calls that ofi4j does not make where the provider does them wrong: the table of calls says what the
 * provider makes of them.
 */
final class NativeTrials {
    private static final int ETIMEDOUT = 110;
    private static final int SHORT = 400;
    private static final String COUNTER_WAIT = "fi_cntr_wait";
    private static final String LOOKUP = "fi_av_lookup";
    private static final Set<String> NAMES = Set.of(COUNTER_WAIT, LOOKUP);

    private NativeTrials() {}

    /** All trials of calls, in the order of the table. */
    static Map<String, Trial> all() {
        Map<String, Trial> all = new LinkedHashMap<>(CallTrials.ALL);
        Trial wait = all.get(COUNTER_WAIT);
        all.put(COUNTER_WAIT, subject -> {
            wait.run(subject);
            RmaTrial.of(UnaryOperator.identity(), COUNTED, NativeTrials::waitNatively).run(subject);
        });
        all.put(LOOKUP, RmaTrial.of(t -> {
            AvOps.Found found = AvOps.fi_av_lookup(PackagePrivate.handle(t.ends.vector()), t.ends.peer.fabricAddress());
            Check.equal("the status", found.status(), 0);
            Check.equal("the address", found.address(), t.far.endpoint().address().toBytes());
        }));
        return all;
    }

    /** Whether the table says of a call what the provider does, and not what ofi4j does in its place. */
    static boolean has(String call) {
        return NAMES.contains(call);
    }

    private static final Ends.Wiring COUNTED = new Ends.Wiring() {
        @Override
        public Endpoint bindNear(Ends ends, Endpoint endpoint) {
            return endpoint.bind(ends.near.queue).bind(ends.openCounter(WaitObject.UNSPECIFIED), CounterEvent.WRITE);
        }
    };

    private static void waitNatively(RmaSetting t) throws InterruptedException {
        t.write();
        Counter counter = t.ends.counters.getFirst();
        t.ends.await(() -> counter.read() == 1);
        CntrOps ops = new CntrOps(PackagePrivate.handle(counter), false);
        Check.equal("the status of a wait for what is there", ops.fi_cntr_wait(1, SHORT), 0);
        int[] status = new int[1];
        long start = System.nanoTime();
        Thread thread = Thread.ofPlatform().start(() -> status[0] = ops.fi_cntr_wait(2, SHORT));
        if (!thread.join(t.deadline)) {
            ops.fi_cntr_add(1); // which ends it
            thread.join();
            throw PackagePrivate.timedOut("fi_cntr_wait", t.deadline, "It does not keep the time.");
        }
        Check.equal("the status of a wait for more", status[0], -ETIMEDOUT);
        Check.holds("a wait does not end before its deadline",
                System.nanoTime() - start > Duration.ofMillis(SHORT).toNanos() / 2);
    }
}
