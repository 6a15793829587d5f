package io.ofi4j.faults;

import io.ofi4j.CompletionError;
import io.ofi4j.Messages;
import io.ofi4j.info.Capability;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Mailbox;
import java.util.stream.Stream;

/**
 * Receives from one peer beside those from any: a message comes, one is canceled, and the endpoint closes with another.
 */
public final class DirectedReceives {
    private DirectedReceives() {}

    public static void main(String[] arguments) {
        try (Mailbox box = new Mailbox(arguments[0], Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV)) {
            Messages receiver = box.pair.farEndpoint.messages();
            try {
                receiver.receive(box.far.slice(0, 8), box.back, 1);
            } catch (UnsupportedOperationException e) {
                System.out.println("refused: " + e.getMessage());
                return;
            }
            receiver.receive(box.far.slice(8, 8), 2);
            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, 3);
            box.await(1, 1);
            receiver.prepare().local(box.far, 16, 8).peer(box.back).receive(4);
            receiver.receive(box.far.slice(24, 8), box.back, 5);
            receiver.cancel(4);
            box.await(1, 2);
            box.pair.farEndpoint.close();
            box.await(1, 4);
            Stream<Long> canceled = box.farDone.errors.stream().filter(error -> error.errno() == Errno.ECANCELED)
                    .map(CompletionError::token);
            System.out.println("received " + box.farDone.tokens() + " canceled " + canceled.toList());
        }
        System.out.println("closed");
    }
}
