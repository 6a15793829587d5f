package io.ofi4j.command.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Operations of one kind and size. */
interface Transfer {
    /** {@return whether there was room} */
    boolean tryPost(int slot, long token);

    /** Waits until the peer has answered what it answers. */
    default void settle(Pump pump) {
        // nothing is answered
    }

    /** One-sided transfers between the same slots of both regions. */
    final class OfRma implements Transfer {
        /** What every provider that carries data carries: 4 bytes. */
        private static final long DATA = 0xffff_ffffL;

        private final Operation operation;
        private final Poster poster;
        private final long size;
        private final long first;
        private final long stride;

        OfRma(Operation operation, End here, Layout layout) {
            this.operation = operation;
            this.poster = here.poster();
            this.size = layout.size();
            this.first = layout.offset(0);
            this.stride = layout.stride();
        }

        @Override
        public boolean tryPost(int slot, long token) {
            long offset = first + slot * stride;
            return switch (operation) {
                case WRITE -> poster.tryWrite(offset, size, offset, token);
                case WRITEDATA -> poster.tryWriteData(offset, size, token & DATA, offset, token);
                case READ -> poster.tryRead(offset, size, offset, token);
                case INJECT -> poster.tryInject(offset, size, offset);
                default -> throw new AssertionError(operation);
            };
        }
    }

    /** Adds the number in a slot to that in the target's, and fetches what that was into the answers. */
    final class OfAtomics implements Transfer {
        private final Poster poster;
        private final long answers;
        private final long first;
        private final long stride;

        OfAtomics(End here, Layout layout) {
            this.poster = here.poster();
            this.answers = here.answers();
            this.first = layout.offset(0);
            this.stride = layout.stride();
        }

        @Override
        public boolean tryPost(int slot, long token) {
            long offset = first + slot * stride;
            return poster.tryFetchAdd(offset, answers + offset, offset, token);
        }

        /** Fills the slots with what makes the bytes of one seed of those of another. */
        static void fill(MemorySegment local, MemorySegment scratch, Layout layout, long from, long to) {
            Pattern.fill(local, layout, to);
            Pattern.fill(scratch, layout, from);
            for (int slot = 0; slot < layout.slots(); slot++) {
                long at = layout.offset(slot);
                local.set(ValueLayout.JAVA_LONG, at,
                        local.get(ValueLayout.JAVA_LONG, at) - scratch.get(ValueLayout.JAVA_LONG, at));
            }
        }
    }

    /** Messages from slot after slot, never more than the peer has receives for. */
    final class OfMessages implements Transfer {
        private final Conversation conversation;
        private final Poster poster;
        private final Receives answers;
        private final long size;
        private final long first;
        private final long stride;
        private final int slots;
        private final int interval;
        private long sent;
        private int next;

        OfMessages(End here, Conversation conversation) {
            this.conversation = conversation;
            this.poster = here.poster();
            this.answers = here.receives();
            this.size = conversation.layout().size();
            this.first = conversation.layout().offset(0);
            this.stride = conversation.layout().stride();
            this.slots = conversation.layout().slots();
            this.interval = conversation.interval();
        }

        /** The slots are those of the conversation: the peer's receives are in that order. */
        @Override
        public boolean tryPost(int slot, long token) {
            if (sent - answers.arrived() * interval >= slots) { return false; }
            boolean posted = poster.trySend(first + next * stride, size, next, token);
            if (posted) {
                sent++;
                next = next + 1 == slots ? 0 : next + 1;
            }
            return posted;
        }

        long answered() { return answers.arrived(); }

        @Override
        public void settle(Pump pump) {
            pump.reset();
            while (answers.arrived() < sent / interval) {
                pump.poll(answers.arrived());
            }
        }
    }
}
