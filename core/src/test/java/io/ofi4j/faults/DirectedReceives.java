package io.ofi4j.faults;

import io.ofi4j.CompletionError;
import io.ofi4j.info.Capability;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Mailbox;
import java.util.List;

/** Posts receives from one peer, cancels one, and closes their endpoint while the other is posted. */
public final class DirectedReceives {
    private DirectedReceives() {}

    public static void main(String[] arguments) {
        try (Mailbox box = new Mailbox(arguments[0], Capability.MSG, Capability.RMA, Capability.DIRECTED_RECV)) {
            try {
                box.pair.farEndpoint.messages().receive(box.far, 0, 8, box.back, 1);
                box.pair.farEndpoint.messages().message().segment(box.far, 8, 8).peer(box.back).receive(2);
            } catch (UnsupportedOperationException e) {
                System.out.println("receives refused");
                return;
            }
            try {
                box.pair.farEndpoint.messages().cancel(1);
                box.await(0, 1);
                System.out.println("canceled");
            } catch (UnsupportedOperationException e) {
                System.out.println("cancel refused: " + e.getMessage());
            }
            box.pair.farEndpoint.close();
            box.await(0, 2);
            List<Long> back = box.farDone.errors.stream().filter(error -> error.errno() == Errno.ECANCELED)
                    .map(CompletionError::token).sorted().toList();
            System.out.println("came back " + back);
        }
        System.out.println("closed");
    }
}
