package io.ofi4j.command.perf;

import io.ofi4j.command.control.Connection;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;

/** The team of a client, of which its server is one: it measures the other direction. */
record FarTeam(Connection connection) implements Team {
    @Override
    public void meet() { ask(FrameType.MEET, new PayloadWriter()); }

    /** {@return its own: the client has the sum} */
    @Override
    public Row add(Row own) {
        ask(FrameType.ROW, own.encode());
        return own;
    }

    private void ask(FrameType what, PayloadWriter payload) { connection.ask(what, payload, FrameType.MET, () -> {}); }

    @Override
    public boolean isAsked() {
        connection.watch();
        return connection.isStopAsked();
    }

    /** The client says so before it answers. */
    @Override
    public boolean isStopped() { return connection.isStopAsked(); }
}
