package io.ofi4j.model;

import io.ofi4j.Event;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.WaitObject;
import io.ofi4j.model.ModelState.Events;
import io.ofi4j.support.Expect;
import java.time.Duration;

/** Steps that open, write, read, wait for and close event queues; what was written comes back in its order. */
final class ModelEvents {
    private static final int MAX_QUEUES = 3;
    private static final int SHORT_NANOS = 1_000_000;

    private final ModelProgram program;
    private final ModelState state;

    ModelEvents(ModelProgram program) {
        this.program = program;
        this.state = program.state;
    }

    void step() {
        if (state.events.isEmpty() || state.events.size() < MAX_QUEUES && program.chance(25)) {
            open();
            return;
        }
        Events events = program.pick(state.events);
        switch (program.random.nextInt(7)) {
            case 0, 1 -> write(events);
            case 2 -> read(events);
            case 3 -> await(events);
            case 4 -> block(events);
            case 5 -> progress(events);
            default -> close(events);
        }
    }

    private void open() {
        Events events = new Events();
        EventQueueAttributes attributes = EventQueueAttributes.defaults().waitObject(program.objects.any());
        if (program.chance(80)) { attributes = attributes.writable(); }
        if (program.chance(50)) { attributes = attributes.size(1 + program.random.nextInt(8)); }
        program.note("open event queue " + state.events.size() + " with wait object " + attributes.waitObject());
        events.queue = program.objects.open(program.fabric, attributes);
        if (events.queue != null) { state.events.add(events); }
    }

    private String name(Events events) { return " event queue " + state.events.indexOf(events); }

    private void write(Events events) {
        Event.Notification event = new Event.Notification(program.random.nextLong(), program.random.nextLong());
        program.note("write to" + name(events));
        if (new Expect("write").refused(!events.open, IllegalStateException.class)
                .refused(!events.queue.attributes().isWritable(), UnsupportedOperationException.class)
                .run(() -> events.queue.write(event.context(), event.data()))) {
            events.written.add(event);
        }
    }

    private void read(Events events) {
        program.note("read" + name(events));
        new Expect("read").refused(!events.open, IllegalStateException.class)
                .run(() -> require(events, events.queue.read().orElse(null)));
    }

    private static void require(Events events, Event read) {
        Event expected = events.written.poll();
        if (expected == null ? read != null : !expected.equals(read)) {
            throw new AssertionError(events.queue + " told " + read + ", expected was " + expected);
        }
    }

    private void await(Events events) {
        program.note("await" + name(events));
        Duration deadline = Duration.ofNanos(program.random.nextInt(SHORT_NANOS));
        long start = System.nanoTime();
        boolean none = events.written.isEmpty();
        new Expect("read(deadline)").refused(!events.open, IllegalStateException.class)
                .refused(none, FabricTimeoutException.class).run(() -> require(events, events.queue.read(deadline)));
        if (events.open && none && System.nanoTime() - start < deadline.toNanos()) {
            throw new AssertionError("a read of events gave up early");
        }
    }

    /** Rule: where something was written, a thread does not block. */
    private void block(Events events) {
        program.note("block on" + name(events));
        boolean refused = !events.open || events.queue.attributes().waitObject() != WaitObject.FD;
        new Expect("block(events)").refused(refused, IllegalStateException.class).run(() -> {
            Duration deadline = Duration.ofNanos(program.random.nextInt(SHORT_NANOS));
            if (!Waiting.block(deadline, events.queue) && !events.written.isEmpty()) {
                throw new AssertionError("blocking finds nothing where there is " + events.written);
            }
        });
    }

    private void progress(Events events) {
        program.note("progress" + name(events));
        new Expect("progress(events)").refused(!events.open, IllegalStateException.class).run(events.queue::progress);
    }

    void close(Events events) {
        program.note("close" + name(events));
        events.queue.close();
        events.open = false;
    }
}
