package io.ofi4j.examples.perf;

import io.ofi4j.Endpoint;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Tagged;

/** Receives messages, and answers them as the conversation has it. */
final class Responder {
    private final End end;
    private final Conversation conversation;
    private final Messages messages;
    private final Tagged tagged;
    private final Receives receives;
    private long answered;

    Responder(Operation operation, End end, Endpoint endpoint, Conversation conversation) {
        this.end = end;
        this.conversation = conversation;
        this.messages = operation == Operation.MSG ? endpoint.messages() : null;
        this.tagged = operation == Operation.TAGGED ? endpoint.tagged() : null;
        this.receives = new Receives(operation, endpoint, end.region(), conversation.layout(), 0, 0);
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
        Peer peer = end.peer();
        return messages != null
                ? messages.trySend(end.region(), offset, answers.size(), peer, 0)
                : tagged.trySend(end.region(), offset, answers.size(), peer, Conversation.ANSWER_TAGS + slot, 0);
    }
}
