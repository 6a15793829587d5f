package io.ofi4j.command.perf;

/** Receives messages, and answers them as the conversation has it. */
final class Responder {
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
