package io.ofi4j.examples.perf;

import io.ofi4j.examples.CommandFailure;
import io.ofi4j.examples.control.ControlChannel;
import io.ofi4j.examples.control.ControlException;
import io.ofi4j.examples.control.ControlException.Reason;
import io.ofi4j.examples.control.FrameType;
import io.ofi4j.examples.control.PayloadWriter;
import java.io.PrintWriter;
import java.time.Duration;

/** Serves clients, one after the other. Who does not speak the protocol is told off and forgotten. */
final class Server {
    private static final Duration LAST_WORD = Duration.ofMillis(200);

    private final Device device;
    private final Terms terms;
    private final Duration timeout;
    private final PrintWriter out;
    private final PrintWriter err;

    Server(Device device, Terms terms, Duration timeout, PrintWriter out, PrintWriter err) {
        this.device = device;
        this.terms = terms;
        this.timeout = timeout;
        this.out = out;
        this.err = err;
    }

    /** Serves one client, or every client that comes; without any in time, that is an error. */
    void run(Listener listener, Duration patience, boolean keep) {
        out.printf("serving %s at %s: provider %s, domain %s%n", terms.operation(), listener, device.info().provider(),
                device.info().domain().name());
        out.flush();
        boolean served;
        do {
            Listener.Caller caller = listener.accept(patience).orElseThrow(() -> new CommandFailure("No client came to "
                    + listener + " within " + patience.toSeconds() + " s: start one, or give a longer --timeout."));
            try (ControlChannel channel = caller.channel()) {
                served = serve(channel, caller.name(), keep);
            }
        } while (keep || !served);
    }

    /** {@return whether it was a client at all} */
    private boolean serve(ControlChannel channel, String name, boolean keep) {
        Session session = new Session(device, terms, channel, timeout);
        try {
            session.run();
            out.println("served the client at " + name);
            out.flush();
            return true;
        } catch (ControlException e) {
            refuse(channel, e);
            String sentence = "The client at " + name
                    + (e.reason() == Reason.REFUSED
                            ? " was refused: " + e.getMessage()
                            : " " + e.getMessage() + (session.hasBegun() ? " before it was done." : "."));
            boolean isClient = session.hasBegun() || e.reason() == Reason.REFUSED || e.reason() == Reason.VERSION;
            if (isClient && !keep) { throw new CommandFailure(sentence, e); }
            err.println("ofi4j: " + sentence + (isClient ? "" : " It is ignored."));
            err.flush();
            return isClient;
        }
    }

    private void refuse(ControlChannel channel, ControlException why) {
        if (why.reason() == Reason.GONE) { return; }
        try {
            channel.send(FrameType.REFUSED,
                    new PayloadWriter().text(
                            why.reason() == Reason.REFUSED ? why.getMessage() : "the client " + why.getMessage() + "."),
                    LAST_WORD);
        } catch (ControlException e) {
            // it does not listen either
        }
    }
}
