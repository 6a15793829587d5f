package io.ofi4j.command.perf;

/** Messages from slot after slot, never more than the peer has receives for. */
final class MessageTransfer implements Transfer {
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

    MessageTransfer(End here, Conversation conversation) {
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
