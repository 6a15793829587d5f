package io.ofi4j.command.perf;

import io.ofi4j.Waiting;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** One end of the transfers: what posts them, with its queue and its memory. */
abstract class End implements AutoCloseable {
    static final int BATCH = 64;
    private static final Duration LONGEST_WAY = Duration.ofSeconds(2);
    private static final int POLLS = 64;

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

    /**
     * {@return how many slots do not hold the seed's bytes, once all do or time is up} A completion says that a write
     * has left; it may need some progress more until it has arrived.
     */
    final int damaged(Layout layout, long seed, Runnable progress, Duration timeout) {
        int[] damaged = {damaged(layout, seed)};
        Waiting.YIELD.tryUntil(() -> {
            for (int poll = 0; poll < POLLS && damaged[0] > 0; poll++) {
                progress.run();
            }
            damaged[0] = damaged[0] == 0 ? 0 : damaged(layout, seed);
            return damaged[0] == 0;
        }, timeout.compareTo(LONGEST_WAY) < 0 ? timeout : LONGEST_WAY);
        return damaged[0];
    }

    private int damaged(Layout layout, long seed) {
        load();
        return Pattern.damaged(memory(), layout, seed);
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

    /** Receives messages, and answers them as the conversation has it. */
    private static final class Responder {
        private final Poster poster;
        private final Conversation conversation;
        private final Receives receives;
        private long answered;

        Responder(Poster poster, Conversation conversation) {
            this.poster = poster;
            this.conversation = conversation;
            this.receives = new Receives(poster, conversation.layout(), 0, 0);
        }

        void onMessage(long token) {
            receives.onMessage(token);
            work();
        }

        /** Posts what found no room, and sends the answers that are due. */
        void work() {
            receives.renew();
            while (answered < receives.arrived() / conversation.interval() && tryAnswer()) {
                answered++;
            }
        }

        /** In a ping-pong, the slot of the message is free until the answer to it is answered. */
        private boolean tryAnswer() {
            Layout layout = conversation.layout();
            Layout answers = conversation.answers();
            int slot = (int) (answered % answers.slots());
            long offset = layout.offset(conversation.isPingPong() ? slot : 0);
            return poster.trySend(offset, answers.size(), Conversation.ANSWER_TAGS + slot, 0);
        }
    }
}
