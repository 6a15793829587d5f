package io.ofi4j.model;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.faults.Elsewhere;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.model.ModelState.Count;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.support.Expect;
import io.ofi4j.support.Patience;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Steps that open, bind, read, wait for, change and close counters. */
final class ModelCounters {
    private static final int MAX_COUNTERS = 5;
    private static final Duration SHORT = Duration.ofNanos(200_000);
    private static final Duration ENDLESS = Patience.seconds(50);

    private final ModelProgram program;
    private final ModelState state;

    ModelCounters(ModelProgram program) {
        this.program = program;
        this.state = program.state;
    }

    void openOrClose() {
        if (state.counts.size() < MAX_COUNTERS && program.chance(60)) {
            open(program.pick(state.domains));
        } else if (!state.counts.isEmpty()) { close(program.pick(state.counts)); }
    }

    /** Null where the provider does not offer the wait object. */
    private Count open(ModelState.Dom dom) {
        WaitObject object = program.objects.any();
        program.note("open counter " + state.counts.size() + " of domain " + state.domains.indexOf(dom)
                + " with wait object " + object);
        Count count = new Count();
        count.dom = dom;
        count.counter = program.objects.openCounter(dom.domain, object);
        if (count.counter == null) { return null; }
        state.counts.add(count);
        return count;
    }

    void openAndBind(End end) {
        Count count = program.chance(50) ? open(end.dom) : null;
        if (count != null) { bind(end, count, EnumSet.of(CounterEvent.WRITE, CounterEvent.READ)); }
    }

    void bind(End end) {
        if (state.counts.isEmpty()) { return; }
        Set<CounterEvent> events = EnumSet.of(program.chance(50) ? CounterEvent.WRITE : CounterEvent.READ);
        if (program.chance(30)) { events.add(CounterEvent.READ); }
        if (program.chance(10)) {
            events.add(program.chance(50) ? CounterEvent.REMOTE_WRITE : CounterEvent.REMOTE_READ);
        }
        bind(end, program.pick(state.counts), events);
    }

    private void bind(End end, Count count, Set<CounterEvent> events) {
        program.note(
                "bind endpoint " + state.ends.indexOf(end) + " to counter " + state.counts.indexOf(count) + events);
        boolean remote = events.stream()
                .anyMatch(event -> event == CounterEvent.REMOTE_READ || event == CounterEvent.REMOTE_WRITE);
        boolean offered = end.endpoint.info().capabilities().contains(Capability.RMA_EVENT)
                && !program.info.provider().matches("net|tcp");
        if (new Expect("bind(counter)").refused(!end.open || !count.open, IllegalStateException.class)
                .refused(end.dom != count.dom, IllegalArgumentException.class)
                .refused(end.enabled, IllegalStateException.class)
                .refused(remote && !offered, UnsupportedOperationException.class)
                .refused(events.stream().anyMatch(end.counts::containsKey), IllegalStateException.class)
                .run(() -> end.endpoint.bind(count.counter, events.toArray(CounterEvent[]::new)))) {
            events.forEach(event -> end.counts.put(event, count));
            count.uncertain |= remote;
        }
    }

    void use() {
        if (state.counts.isEmpty()) { return; }
        Count count = program.pick(state.counts);
        String name = " counter " + state.counts.indexOf(count);
        switch (program.random.nextInt(7)) {
            case 0 -> {
                long more = program.random.nextInt(3);
                program.note("add " + more + " to" + name);
                if (expect("add", count).run(() -> count.counter.add(more))) { count.expected.addAndGet(more); }
            }
            case 1 -> {
                program.note("add an error to" + name);
                if (expect("addErrors", count).run(() -> count.counter.addErrors(1))) { count.errors++; }
            }
            case 2, 3 -> await(count, name);
            case 4 -> addUnder(count, name);
            default -> {
                program.note("read" + name);
                expect("read", count).run(() -> check(count));
            }
        }
    }

    private static Expect expect(String call, Count count) {
        return new Expect(call).refused(!count.open, IllegalStateException.class);
    }

    private void check(Count count) {
        long now = count.counter.read();
        long errors = count.counter.readErrors();
        boolean counted = !count.uncertain && !program.ledger.isSpoiled();
        if (now > count.expected.get() && counted || errors < count.errors || counted && errors > count.errors) {
            throw new AssertionError("counter " + state.counts.indexOf(count) + " stands at " + now + " and " + errors
                    + " errors, expected are at most " + count.expected + " and " + count.errors);
        }
    }

    private void await(Count count, String name) {
        long ahead = program.random.nextInt(2);
        program.note("wait for" + name + " to reach what it is" + (ahead == 0 ? "" : " and one more"));
        expect("await", count).tolerated(count.errors > 0 || program.ledger.isSpoiled(), FabricException.class)
                .run(() -> await(count, count.counter.read() + ahead));
    }

    private static void await(Count count, long target) {
        long start = System.nanoTime();
        try {
            count.counter.await(target, SHORT);
            if (count.counter.read() < target) {
                throw new AssertionError("a wait for " + target + " ended at " + count.counter.read());
            }
        } catch (FabricTimeoutException e) {
            if (System.nanoTime() - start < SHORT.toNanos()) { throw new AssertionError("a wait gave up early", e); }
        }
    }

    /** Another thread waits while this one adds. */
    private void addUnder(Count count, String name) {
        if (!count.open || program.info.domain().threading() != ThreadingModel.SAFE) { return; }
        program.note("add to" + name + " while another thread waits for it");
        long target = count.counter.read() + 1;
        Elsewhere waiting = Elsewhere.start(() -> count.counter.await(target, ENDLESS));
        count.counter.add(1);
        count.expected.incrementAndGet();
        Throwable thrown = waiting.await();
        if (thrown != null
                && !(thrown instanceof FabricException && (count.errors > 0 || program.ledger.isSpoiled()))) {
            throw new AssertionError("a wait that an addition should end", thrown);
        }
    }

    void close(Count count) {
        program.note("close counter " + state.counts.indexOf(count));
        boolean used = count.open && state.ends.stream().anyMatch(end -> end.open && end.counts.containsValue(count));
        if (new Expect("close(counter)").refused(used, IllegalStateException.class).run(count.counter::close)) {
            count.open = false;
        }
    }

    /** Counters that have not come to what they should. */
    List<String> behind() {
        if (program.ledger.isSpoiled()) { return List.of(); }
        return state.counts.stream().filter(count -> count.open && !count.uncertain)
                .filter(count -> count.counter.read() != count.expected.get())
                .map(count -> "counter " + state.counts.indexOf(count) + " stands at " + count.counter.read() + ", not "
                        + count.expected)
                .toList();
    }
}
