package io.ofi4j.faults;

import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Libfabric;
import io.ofi4j.Scope;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.util.Optional;

/**
 * Reads events at each of the last frames of a stack, and then with a whole stack until all are back. Run where
 * everything is interpreted: there what happens with an event that was read needs less stack than its reading.
 *
 * <p>Arguments: a provider whose event queues can be written.
 */
final class EventsAtStackEnd {
    private static final int STACK = 256 << 10;
    private static final int DIVES = 8;
    /** The frames above the end of the stack in which an event is read; an event for each is written before. */
    private static final int FRAMES = 300;
    /** Reads with a whole stack: a first use at its end fails in the JDK. */
    private static final int FIRST = 200;

    private final EventQueue queue;
    private final byte[] returned = new byte[FIRST + DIVES * FRAMES];
    private int written;
    private int overflows;
    private int above;
    private Throwable failure;

    private EventsAtStackEnd(EventQueue queue) { this.queue = queue; }

    public static void main(String[] arguments) throws InterruptedException {
        try (Scope scope = Libfabric.load().openScope()) {
            EventQueue queue = scope.openFabric(TestProviders.info(arguments[0]))
                    .openEventQueue(EventQueueAttributes.defaults().writable());
            EventsAtStackEnd all = new EventsAtStackEnd(queue);
            Thread thread = new Thread(null, all::run, "diver", STACK);
            thread.setUncaughtExceptionHandler((_, thrown) -> all.failure = thrown);
            thread.start();
            if (!thread.join(Patience.seconds(60)) || all.failure != null) {
                throw new AssertionError("the diver failed", all.failure);
            }
        }
        System.out.println("all events came back");
    }

    private void run() {
        for (int i = 0; i < FIRST; i++) {
            queue.write(0, written++);
            read();
        }
        for (int i = 0; i < DIVES; i++) {
            for (int frame = 0; frame < FRAMES; frame++) {
                queue.write(0, written++);
            }
            above = 0;
            dive();
            while (read()) {
                // the rest
            }
        }
        for (int event = 0; event < written; event++) {
            if (returned[event] != 1) {
                throw new AssertionError("event " + event + " came back " + returned[event] + " times");
            }
        }
        if (overflows == 0) { throw new AssertionError("no call ended the stack"); }
    }

    /** Goes to the end of the stack, and reads on the way back from there. */
    private void dive() {
        try {
            dive();
        } catch (StackOverflowError e) {
            above = 0;
        }
        if (++above < FRAMES) {
            try {
                read();
            } catch (StackOverflowError e) {
                overflows++;
            }
        }
    }

    private boolean read() {
        Optional<Event> event = queue.read();
        if (event.isPresent()) { returned[(int) ((Event.Notification) event.get()).data()]++; }
        return event.isPresent();
    }
}
