package io.ofi4j.command.verify;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Loopback;
import io.ofi4j.command.control.Connection;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.ControlException.Reason;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.run.FarHost;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The machine where {@code ofi4j verify --server} runs the far halves of the trials, over one connection. What goes
 * wrong with the connection ends the run; {@link #failure} says what it was.
 */
final class OtherMachine implements FarHost, AutoCloseable {
    private static final int LOOKS_BEFORE_NAP = 200;
    /** Servers say every second that they are there. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(15);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String QUIRKS = "-Dio.ofi4j.quirks=";

    private final Connection connection;
    private final Thread reader = Thread.ofPlatform().daemon().name("server").unstarted(this::read);
    private Introduction server;
    private volatile CommandFailure failure;
    private volatile Session session = new Session(0, line -> {});

    /** The far halves for one process of trials; what was said for an earlier one is dropped. */
    private final class Session implements Line {
        final long number;
        final Consumer<String> lines;

        Session(long number, Consumer<String> lines) {
            this.number = number;
            this.lines = lines;
        }

        @Override
        public void accept(String line) { send(FrameType.FAR, new PayloadWriter().number(number).text(line)); }

        @Override
        public void close() { accept(FarSession.CLOSE); }
    }

    private OtherMachine(Connection connection) { this.connection = connection; }

    /** {@return the machine of a server, which has let nobody in yet} */
    static OtherMachine at(String host, int port, Duration timeout, PrintWriter err) {
        return new OtherMachine(Connection.open(host, port, timeout, err));
    }

    /** {@return this machine's address, as the server sees it} */
    String ownAddress() {
        return connection.channel().localAddress().getHostAddress();
    }

    /** {@return whether the server runs on this machine} */
    boolean isThisMachine() {
        return Loopback.isOwn(connection.channel().remoteAddress());
    }

    /** Asks to be let in. {@return what the server says of itself} */
    Introduction join(Subject subject, Libfabric libfabric) {
        Introduction own = Introduction.of(subject, libfabric.version().toString());
        Frame ready = connection.ask(FrameType.VERIFY, own.encode(), FrameType.READY, Thread::yield);
        server = connection.read(ready, Introduction::decode);
        reader.start();
        return server;
    }

    /** {@return what has gone wrong with the connection} */
    Optional<CommandFailure> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public boolean isHere() { return false; }

    @Override
    public Line open(List<String> properties, Consumer<String> lines) {
        String quirks = properties.stream().filter(property -> property.startsWith(QUIRKS))
                .map(property -> property.substring(QUIRKS.length())).findFirst().orElse("");
        Session next = new Session(session.number + 1, lines);
        session = next;
        next.accept(FarSession.OPEN + quirks);
        return next;
    }

    /**
     * Tells the server what came of trials.
     *
     * @param kind what it is
     * @param text a line for a person
     */
    void tell(FindingKind kind, String text) {
        send(FrameType.FINDING, new PayloadWriter().number(kind.ordinal()).text(text));
    }

    private void send(FrameType type, PayloadWriter payload) {
        if (failure != null) { return; }
        try {
            connection.channel().send(type, payload, TIMEOUT);
        } catch (ControlException e) {
            fail(e);
        }
    }

    private void fail(ControlException e) { if (failure == null) { failure = connection.failure(e); } }

    private void read() {
        long heard = System.nanoTime();
        try {
            for (int look = 1; !Thread.currentThread().isInterrupted(); look++) {
                Optional<Frame> frame = connection.channel().poll();
                if (frame.isPresent()) {
                    heard = System.nanoTime();
                    look = 0;
                    take(frame.get());
                } else if (System.nanoTime() - heard > LONGEST_SILENCE.toNanos()) {
                    throw new ControlException(Reason.SILENT,
                            "has said nothing for " + LONGEST_SILENCE.toSeconds() + " s");
                } else if (look > LOOKS_BEFORE_NAP) {
                    LockSupport.parkNanos(FarSession.napNanos(System.nanoTime() - heard));
                } else {
                    Thread.yield();
                }
            }
        } catch (ControlException e) {
            fail(e);
        }
    }

    private void take(Frame frame) throws ControlException {
        if (frame.type() == FrameType.ALIVE) { return; }
        if (frame.type() == FrameType.STOP) { throw new ControlException(Reason.GONE, "was ended by Ctrl-C"); }
        var fields = frame.require(FrameType.FAR).reader();
        long number = fields.number(0, Long.MAX_VALUE);
        String line = fields.text(FarSession.LONGEST_LINE);
        Session current = session;
        if (number == current.number) { current.lines.accept(line); }
    }

    /** Ends the run at the server, too. */
    @Override
    public void close() {
        if (failure == null && server != null) { send(FrameType.BYE, new PayloadWriter()); }
        reader.interrupt();
        connection.close();
    }
}
