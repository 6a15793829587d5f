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

    /** So many exchanges, one after the other; what each took goes to the samples, in nanoseconds. */
    void ping(String work, long unmeasured, long[] samples) {
        boolean data = withData(work);
        for (long done = 0; done < unmeasured; done++) {
            exchange(data);
        }
        for (int done = 0; done < samples.length; done++) {
            long begun = System.nanoTime();
            exchange(data);
            samples[done] = System.nanoTime() - begun;
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
