package io.ofi4j.jmh.compare;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** Exchanges of letters with another process, through the public API; line for line what {@code exchange.c} does. */
final class Exchange {
    private static final VarHandle MAILBOX = JAVA_LONG.varHandle();

    private final World world;
    private final MemorySegment letter;
    private final MemorySegment mailbox;
    private long sequence;

    Exchange(World world) {
        this.world = world;
        this.letter = world.letter.segment();
        this.mailbox = world.mailbox.segment();
    }

    /**
     * Begins so many exchanges, one at each interval, and takes their times from when each was due, and not from when it could
     * begin: a delay counts for all that waited for it. With an interval of 0 each begins when the one before has ended.
     */
    void ping(String work, long unmeasured, long interval, long[] samples) {
        boolean data = withData(work);
        for (long done = 0; done < unmeasured; done++) {
            exchange(data);
        }
        long due = System.nanoTime();
        for (int done = 0; done < samples.length; done++) {
            long begun;
            while ((begun = System.nanoTime()) - due < 0) {
                world.pollQueue();
            }
            exchange(data);
            samples[done] = System.nanoTime() - (interval == 0 ? begun : due);
            due += interval;
        }
        finish();
    }

    /** The other side of that. */
    void pong(String work, long count) {
        boolean data = withData(work);
        for (long done = 0; done < count; done++) {
            long number = ++sequence;
            if (data) {
                receiveData(world.arrived + 1);
                sendData(number);
            } else {
                receiveWrite(number);
                sendWrite(number);
            }
        }
        finish();
    }

    private static boolean withData(String work) {
        return switch (work) {
            case "writedata" -> true;
            case "write" -> false;
            default -> throw new IllegalArgumentException("there is no exchange called " + work);
        };
    }

    private void exchange(boolean data) {
        long number = ++sequence;
        if (data) {
            long goal = world.arrived + 1;
            sendData(number);
            receiveData(goal);
        } else {
            sendWrite(number);
            receiveWrite(number);
        }
    }

    /** Writes the letter into the other's mailbox, once the letter before has left. */
    private void sendWrite(long number) {
        finish();
        letter.set(JAVA_LONG, 0, number);
        while (!world.rma.tryWrite(world.letter, 0, Long.BYTES, world.other, world.otherMailbox, 0, number)) {
            world.pollQueue();
        }
        world.posted++;
    }

    private void sendData(long number) {
        finish();
        letter.set(JAVA_LONG, 0, number);
        while (!world.rma.tryWriteData(world.letter, 0, Long.BYTES, number & 0xff, world.other, world.otherMailbox, 0,
                number)) {
            world.pollQueue();
        }
        world.posted++;
    }

    private void receiveWrite(long number) {
        while ((long) MAILBOX.getAcquire(mailbox, 0L) != number) {
            world.pollQueue();
        }
    }

    private void receiveData(long goal) {
        while (world.arrived < goal) {
            world.pollQueue();
        }
    }

    private void finish() {
        while (world.completed < world.posted) {
            world.pollQueue();
        }
    }
}
