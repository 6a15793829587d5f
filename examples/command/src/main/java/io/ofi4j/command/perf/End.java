package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** One end of the transfers: what posts them, with its queue and its memory. */
abstract class End implements AutoCloseable {
    static final int BATCH = 64;

    final Plan plan;
    final boolean isTarget;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    /** Of messages: the answers at the measuring end, and what the target does with messages. */
    private Receives receives;
    private Responder responder;

    End(Plan plan, boolean isTarget) {
        this.plan = plan;
        this.isTarget = isTarget;
    }

    /** Posts the receives of an end that can take them, before any message can come. */
    final void receive(Poster poster) {
        plan.conversation().ifPresent(conversation -> {
            if (isTarget) {
                responder = new Responder(poster, conversation);
            } else {
                receives = new Receives(poster, conversation.answers(), answers(), Conversation.ANSWER_TAGS);
            }
        });
    }

    final void onMessage(long token) {
        if (responder != null) {
            responder.onMessage(token);
        } else {
            receives.onMessage(token);
        }
    }

    final <T extends AutoCloseable> T keep(T object) {
        opened.push(object);
        return object;
    }

    /** A peer has written here, with this data. */
    final void onWritten(long data) {
        if (plan.answersWrites()) { onMessage(Receives.TOKEN | data); }
    }

    /** Closes this after all else. */
    final void closeAfterwards(AutoCloseable below) { opened.addLast(below); }

    /** {@return how many bytes its memory has} */
    final long length() {
        return plan.length() * (!isTarget && plan.hasAnswers() ? 2 : 1);
    }

    /** {@return where it can be reached} */
    abstract byte[] address();

    /** {@return what it says of itself to the end that it will reach} */
    abstract byte[] introduction();

    /** {@return its memory, for the end that reaches it} */
    abstract byte[] remote();

    /** Lets another end reach this one, by what that says of itself and of its memory. */
    abstract void admit(byte[] introduction, byte[] remote);

    /** Reaches the end at this address, with this memory; something is done meanwhile, again and again. */
    abstract void reach(byte[] address, byte[] remote, Runnable meanwhile, Duration deadline);

    /** {@return what operations are posted with, once another end is reached} */
    abstract Poster poster();

    /** {@return its memory, or a copy of it in the host's where it is on a device} */
    abstract MemorySegment memory();

    /** Brings the copy to the device; nothing to do where there is none. */
    void store() {
        // the memory itself
    }

    /** Brings the device's memory to the copy; nothing to do where there is none. */
    void load() {
        // the memory itself
    }

    /** {@return whether there was anything in its queue} */
    abstract boolean take(Completions completions);

    /** {@return whether there was anything} */
    boolean poll(Completions completions) {
        boolean any = take(completions);
        if (responder != null) {
            responder.work();
        } else if (receives != null) { receives.renew(); }
        return any;
    }

    /** {@return where answers begin in the region of a measuring end} */
    final long answers() { return plan.length(); }

    final Receives receives() { return receives; }

    /** Closes everything, the last opened first. */
    @Override
    public final void close() {
        RuntimeException failure = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException e) {
                failure = e;
            } catch (Exception e) {
                throw new AssertionError(e); // nothing that is kept throws any other
            }
        }
        if (failure != null) { throw failure; }
    }
}
