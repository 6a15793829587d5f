package io.ofi4j.command.perf;

import io.ofi4j.command.control.Connection;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;
import java.time.Duration;

/** The server's end, which makes progress by itself. */
final class RemoteTarget implements Target {
    private final Connection connection;
    private final End here;
    private final Watchdog watchdog;
    private final Completions none;

    RemoteTarget(Connection connection, End here, Setup setup, Duration timeout, Watchdog watchdog) {
        this.watchdog = watchdog;
        this.connection = connection;
        this.here = here;
        this.none = new Completions(here);
        Ready ready = connection.read(ask(FrameType.SETUP, setup.encode(), FrameType.READY), Ready::decode);
        reach(ready, timeout);
        long offered = here.poster().targetLength();
        if (offered < setup.regionLength()) {
            throw new CommandFailure(connection + " offers " + offered + " bytes where " + setup.regionLength()
                    + " are needed: run the same release at both ends.");
        }
        watchdog.rest();
    }

    private void reach(Ready ready, Duration timeout) {
        watchdog.watch();
        try {
            here.reach(ready.address(), ready.region(), connection::watch, timeout);
        } catch (IllegalArgumentException | ConnectionException e) {
            throw new CommandFailure(connection + " cannot be reached: " + e.getMessage(), e);
        }
    }

    /** Asks and waits for the answer; what this side still has to send goes on meanwhile. */
    private Frame ask(FrameType question, PayloadWriter payload, FrameType answer) {
        watchdog.watch();
        Frame frame = connection.ask(question, payload, answer, () -> here.poll(none));
        watchdog.watchSlow();
        return frame;
    }

    @Override
    public boolean progress() { return false; }

    @Override
    public void watch() { connection.watch(); }

    @Override
    public void prepare(Layout layout, boolean fill, long seed) {
        ask(FrameType.PREPARE, new Slots(layout, fill, seed).encode(), FrameType.PREPARED);
    }

    @Override
    public int damaged(Layout layout, long seed) {
        Frame result = ask(FrameType.CHECK, new Slots(layout, true, seed).encode(), FrameType.RESULT);
        return connection.read(result, frame -> (int) frame.reader().number(0, layout.slots()));
    }

    @Override
    public void close() {
        // the connection outlives it
    }
}
