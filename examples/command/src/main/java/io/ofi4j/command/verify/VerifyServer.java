package io.ofi4j.command.verify;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Interrupt;
import io.ofi4j.command.control.ControlChannel;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.ControlException.Reason;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.Listener;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.conformance.Subject;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;

/** The other side of {@code ofi4j verify HOST}: serves one client, and ends with what that has found. */
final class VerifyServer {
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration FIRST_WORD = Duration.ofSeconds(10);

    private static final Duration LAST_WORD = Duration.ofSeconds(5);

    private final Subject subject;
    private final Introduction own;
    private final PrintWriter out;
    private final PrintWriter err;

    VerifyServer(Subject subject, String libfabric, PrintWriter out, PrintWriter err) {
        this.subject = subject;
        this.own = Introduction.of(subject, libfabric);
        this.out = out;
        this.err = err;
    }

    /**
     * Waits for a client and serves it. Who does not speak the protocol is told off and forgotten.
     *
     * @param patience how long a client is waited for
     * @return what the client has found
     */
    FindingKind run(Listener listener, Duration patience, Interrupt interrupt) {
        out.println("serving verify at " + listener + ": provider " + subject.label() + ", libfabric " + own.libfabric()
                + ", ofi4j " + own.release());
        out.flush();
        long start = System.nanoTime();
        while (!interrupt.isAsked()) {
            Optional<Listener.Caller> caller = listener.accept(LOOK, this::complain);
            if (caller.isPresent()) {
                Optional<FindingKind> found = serve(caller.get(), interrupt);
                if (found.isPresent()) { return found.get(); }
                start = System.nanoTime();
            } else if (System.nanoTime() - start > patience.toNanos()) {
                throw new CommandFailure("No client came to " + listener + " within " + patience.toSeconds()
                        + " s: start one, or give a longer --timeout.");
            }
        }
        return FindingKind.INTERRUPTED;
    }

    /** Empty if it was none of ours. */
    private Optional<FindingKind> serve(Listener.Caller caller, Interrupt interrupt) {
        boolean hasBegun = false;
        try (ControlChannel channel = caller.channel()) {
            try {
                Introduction client = introduction(channel);
                channel.send(FrameType.READY, own.encode(), FIRST_WORD);
                hasBegun = true;
                out.println("serving the client at " + caller.name() + ", which has libfabric " + client.libfabric());
                out.flush();
                Subject asked = subject.within(Duration.ofMillis(client.deadline()));
                try (FarSession session = new FarSession(channel, asked, out)) {
                    FindingKind found = session.run(interrupt);
                    if (found == null) { throw new ControlException(Reason.GONE, "said no last line"); }
                    if (interrupt.isAsked()) { sayStop(channel); }
                    return Optional.of(found);
                }
            } catch (ControlException e) {
                channel.refuse(e);
                if (interrupt.isAsked()) { return Optional.of(FindingKind.INTERRUPTED); }
                String sentence = "The client at " + caller.name()
                        + (e.reason() == Reason.REFUSED
                                ? " was refused: " + e.getMessage()
                                : " " + e.getMessage() + (hasBegun ? " before it was done." : "."));
                if (hasBegun || e.reason() == Reason.REFUSED || e.reason() == Reason.VERSION) {
                    throw new CommandFailure(sentence, e);
                }
                complain(sentence + " It is ignored.");
                return Optional.empty();
            }
        }
    }

    /** Waits until the client has gone: what was said last could be lost with the connection. */
    private static void sayStop(ControlChannel channel) throws ControlException {
        channel.send(FrameType.STOP, new PayloadWriter(), LAST_WORD);
        long start = System.nanoTime();
        while (System.nanoTime() - start < LAST_WORD.toNanos()) {
            if (channel.poll().filter(frame -> frame.type() == FrameType.BYE).isPresent()) { return; }
            Thread.yield();
        }
    }

    private Introduction introduction(ControlChannel channel) throws ControlException {
        Frame frame = channel.await(FIRST_WORD, Thread::yield);
        while (frame.type() == FrameType.ALIVE) {
            frame = channel.await(FIRST_WORD, Thread::yield);
        }
        if (frame.type() == FrameType.SETUP || frame.type() == FrameType.REVERSE) {
            throw new ControlException(Reason.REFUSED,
                    "the client measures, this server verifies: start 'ofi4j perf' with --server here.");
        }
        Introduction client = Introduction.decode(frame.require(FrameType.VERIFY));
        client.require(own);
        return client;
    }

    private void complain(String sentence) {
        err.println("ofi4j: " + sentence);
        err.flush();
    }
}
