package io.ofi4j.command.verify;

import io.ofi4j.command.Interrupt;
import io.ofi4j.command.control.ControlChannel;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.ControlException.Reason;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.run.FarRunner;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * One client of {@code ofi4j verify --server}: runs the far halves of its trials. It takes what {@link FarRunner}
 * takes, and nothing else.
 */
final class FarSession implements AutoCloseable {
    /** Another process of trials begins; the quirks that are on follow, or nothing. */
    static final String OPEN = "open ";
    /** A process of trials has ended. */
    static final String CLOSE = "close";
    static final int LONGEST_LINE = 8000;

    private static final long MIN_NAP_NANOS = 200_000;
    private static final long MAX_NAP_NANOS = 5_000_000;
    /** A nap takes this part of the silence before it at most. */
    private static final int PART = 16;
    private static final int LOOKS_BEFORE_NAP = 200;
    private static final Duration BEAT = Duration.ofSeconds(1);
    /** Clients say every second that they are there. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(15);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String QUIRKS = "[a-z0-9,_-]*";

    private final ControlChannel channel;
    private final Subject subject;
    private final PrintWriter out;
    private FarRunner runner;
    private FindingKind last;

    FarSession(ControlChannel channel, Subject subject, PrintWriter out) {
        this.channel = channel;
        this.subject = subject;
        this.out = out;
    }

    /** Until the client says good bye. {@return what it has found; null if it did not say} */
    FindingKind run(Interrupt interrupt) throws ControlException {
        long heard = System.nanoTime();
        long beat = heard;
        for (int look = 1; !interrupt.isAsked(); look++) {
            Optional<Frame> frame = channel.poll();
            long now = System.nanoTime();
            if (frame.isPresent()) {
                heard = now;
                look = 0;
                if (frame.get().type() == FrameType.BYE) { return last; }
                take(frame.get());
            } else if (now - heard > LONGEST_SILENCE.toNanos()) {
                throw new ControlException(Reason.SILENT, "has said nothing for " + LONGEST_SILENCE.toSeconds() + " s");
            } else if (look > LOOKS_BEFORE_NAP) {
                LockSupport.parkNanos(napNanos(now - heard));
            } else {
                Thread.yield();
            }
            if (now - beat > BEAT.toNanos()) {
                channel.send(FrameType.ALIVE, new PayloadWriter(), TIMEOUT);
                beat = now;
            }
        }
        return FindingKind.INTERRUPTED;
    }

    /** {@return how long to nap} Trials of this machine need its processors, and have much to do between two lines. */
    static long napNanos(long silenceNanos) {
        return Math.clamp(silenceNanos / PART, MIN_NAP_NANOS, MAX_NAP_NANOS);
    }

    private void take(Frame frame) throws ControlException {
        PayloadReader fields = frame.reader();
        switch (frame.type()) {
            case ALIVE -> {
                return;
            }
            case FAR -> far(fields.number(0, Long.MAX_VALUE), fields.text(LONGEST_LINE));
            case FINDING -> {
                FindingKind kind = FindingKind.values()[(int) fields.number(0, FindingKind.values().length - 1)];
                out.println(fields.text(LONGEST_LINE));
                out.flush();
                if (kind != FindingKind.LINE) { last = kind; }
            }
            default -> throw new ControlException(Reason.GARBAGE,
                    "sent " + frame.type() + ", which 'verify --server' does not take");
        }
    }

    private void far(long session, String line) throws ControlException {
        if (line.startsWith(OPEN)) {
            String quirks = line.substring(OPEN.length());
            if (!quirks.matches(QUIRKS)) { throw damaged(); }
            close();
            List<String> properties = quirks.isEmpty() ? List.of() : List.of("-Dio.ofi4j.quirks=" + quirks);
            runner = new FarRunner(subject, properties, answer -> tell(session, answer));
        } else if (line.equals(CLOSE)) {
            close();
        } else {
            try {
                if (runner != null) { runner.accept(line); }
            } catch (IllegalArgumentException e) {
                throw damaged();
            }
        }
    }

    private static ControlException damaged() { return new ControlException(Reason.GARBAGE, "sent a damaged message"); }

    private void tell(long session, String answer) {
        try {
            channel.send(FrameType.FAR, new PayloadWriter().number(session).text(answer), TIMEOUT);
        } catch (ControlException e) {
            return; // the thread that reads finds out by itself
        }
    }

    @Override
    public void close() {
        if (runner != null) { runner.close(); }
        runner = null;
    }
}
