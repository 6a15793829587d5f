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
import java.util.concurrent.locks.LockSupport;

/** The other side of {@code ofi4j verify HOST}: serves one client, and ends with what that has found. */
final class VerifyServer {
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration FIRST_WORD = Duration.ofSeconds(10);
    /** One client is served at a time: the others wait for so long. */
    private static final Duration LONGEST_BEGINNING = Duration.ofSeconds(30);
    private static final long NAP_NANOS = 1_000_000;
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
        long start = System.nanoTime(); // who is none of ours is not waited for
        while (!interrupt.isAsked()) {
            Optional<Listener.Caller> caller = listener.accept(LOOK, this::complain);
            if (caller.isPresent()) {
                Optional<FindingKind> found = serve(caller.get(), interrupt);
                if (found.isPresent()) { return found.get(); }
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
                Introduction client = introduction(channel, interrupt);
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

    /** What a client says first; one that takes long to begin says that it is there. */
    private Introduction introduction(ControlChannel channel, Interrupt interrupt) throws ControlException {
        long start = System.nanoTime();
        long heard = start;
        while (!interrupt.isAsked()) {
            Optional<Frame> frame = channel.poll();
            if (frame.isPresent() && frame.get().type() != FrameType.ALIVE) { return introduction(frame.get()); }
            long now = System.nanoTime();
            if (frame.isPresent()) { heard = now; }
            if (now - heard > FIRST_WORD.toNanos()) {
                throw new ControlException(Reason.SILENT, "did not answer within " + FIRST_WORD.toSeconds() + " s");
            }
            if (now - start > LONGEST_BEGINNING.toNanos()) {
                throw new ControlException(Reason.SILENT, "says that it is there, and not what it wants");
            }
            LockSupport.parkNanos(NAP_NANOS);
        }
        throw new ControlException(Reason.SILENT, "was not waited for after Ctrl-C");
    }

    private Introduction introduction(Frame frame) throws ControlException {
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
