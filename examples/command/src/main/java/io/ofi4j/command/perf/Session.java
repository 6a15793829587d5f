package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.control.Connection;
import io.ofi4j.command.control.ControlChannel;
import io.ofi4j.command.control.ControlException.Reason;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.FrameType;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.errors.FabricException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One client, served: memory for it to write and read, progress while it does, and verification. */
final class Session {
    private static final int POLLS_PER_LOOK = 512;
    private static final int POLLS_PER_YIELD = 256;
    /** For which a client may prepare itself before it says what it wants. */
    private static final int MOST_TIMEOUTS = 10;
    /** Clients say every second that they are there. */
    private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(5);

    /** Others of the same are opened. */
    private final Device like;
    private final Terms terms;
    private final ControlChannel channel;
    private final Duration timeout;
    /** Of whom the client is one that this side has asked to measure; null where the client asks. */
    private final Team team;
    private final Watchdog watchdog;
    private Completions none;
    private End end;
    private volatile boolean begun;
    private boolean stopTold;
    private long lastHeard;

    Session(Device like, Terms terms, ControlChannel channel, Duration timeout, Team team, Watchdog watchdog) {
        this.like = like;
        this.terms = terms;
        this.channel = channel;
        this.timeout = timeout;
        this.team = team;
        this.watchdog = watchdog;
    }

    /** {@return whether a client was let in} */
    boolean hasBegun() { return begun; }

    /** {@return whether its client speaks over this channel} */
    boolean speaksOver(ControlChannel other) {
        return channel == other;
    }

    /** Serves until the client says good bye. */
    void run(String name) throws ControlException {
        Frame frame = firstFrame();
        if (frame.type() == FrameType.REVERSE && team == null) {
            measure(name, Reverse.decode(frame));
            return;
        }
        if (frame.type() == FrameType.REFUSED && team == null) { throw notTaken(frame); } // only clients take those
        if (frame.type() == FrameType.VERIFY) {
            throw new ControlException(Reason.REFUSED,
                    "the client verifies, this server measures: start 'ofi4j verify --server' here.");
        }
        frame.require(FrameType.SETUP);
        watchdog.watchSlow();
        try (Device device = like.again()) {
            while (frame.type() == FrameType.SETUP) {
                frame = serve(device, Setup.decode(frame));
            }
        }
        watchdog.rest();
    }

    /** Measures towards the client, in step with what it measures. */
    private void measure(String name, Reverse reverse) throws ControlException {
        reverse.require(terms.operation());
        watchdog.watchSlow();
        try (Device device = like.again(); Connection client = Connection.of(channel, name, timeout)) {
            Settings settings = reverse.settings(terms.operation(), like.traits(), timeout);
            terms.requireRoom(Plan.longest(settings));
            begun = true;
            new Client(settings, null).measure(device, client, new FarTeam(client), Progress.hidden(), watchdog,
                    Report.NONE);
            watchdog.watchSlow();
        } catch (FabricException | IllegalArgumentException | UnsupportedOperationException e) {
            throw new ControlException(Reason.REFUSED, e.getMessage());
        }
    }

    /** {@return what ends it: another setup, or good bye} */
    private Frame serve(Device device, Setup setup) throws ControlException {
        terms.require(setup);
        try (End opened = open(device, setup)) {
            channel.send(FrameType.READY, new Ready(opened.address(), opened.remote()).encode(), timeout);
            end = opened;
            begun = true;
            none = new Completions(end);
            Frame frame;
            do {
                lastHeard = System.nanoTime();
                watchdog.watch();
                frame = awaitFrame();
                watchdog.watchSlow();
            } while (answer(frame));
            return frame;
        }
    }

    /** What a client says first; one that takes long to begin says that it is there. */
    private Frame firstFrame() throws ControlException {
        long start = System.nanoTime();
        Frame frame = channel.await(timeout, Thread::yield);
        while (frame.type() == FrameType.ALIVE) {
            if (System.nanoTime() - start > MOST_TIMEOUTS * timeout.toNanos()) {
                throw new ControlException(Reason.SILENT, "says that it is there, and not what it wants");
            }
            frame = channel.await(timeout, Thread::yield);
        }
        return frame;
    }

    private End open(Device device, Setup setup) throws ControlException {
        End opened = null;
        try {
            opened = device.open(new Plan(terms.operation(), 1, List.of(), setup.regionLength(), setup.conversation()),
                    true);
            opened.admit(setup.introduction(), setup.region());
            return opened;
        } catch (FabricException | IllegalArgumentException | CommandFailure e) {
            if (opened != null) { opened.close(); }
            throw new ControlException(Reason.REFUSED, e.getMessage());
        }
    }

    private Frame awaitFrame() throws ControlException {
        while (true) {
            for (int poll = 1; poll <= POLLS_PER_LOOK; poll++) {
                if (!end.poll(none) && poll % POLLS_PER_YIELD == 0) { Thread.yield(); }
            }
            watchdog.beat();
            Optional<Frame> frame = channel.poll();
            if (frame.isPresent()) { return frame.get(); }
            if (team != null && team.isAsked()) { tellStop(); }
            requireHeard();
        }
    }

    private void tellStop() throws ControlException {
        if (!stopTold) { channel.send(FrameType.STOP, new PayloadWriter(), timeout); }
        stopTold = true;
    }

    private void requireHeard() throws ControlException {
        long silence = Math.max(timeout.toNanos(), SHORTEST_SILENCE.toNanos());
        if (System.nanoTime() - lastHeard > silence) {
            throw new ControlException(Reason.SILENT, "has said nothing for " + silence / 1_000_000_000 + " s");
        }
    }

    /** What the other side asks a team that it belongs to. */
    private boolean answerMember(Frame frame) throws ControlException {
        watchdog.rest();
        if (frame.type() == FrameType.ROW) {
            team.add(Row.decode(frame));
            if (team.isStopped()) { tellStop(); }
        } else {
            team.meet();
        }
        channel.send(FrameType.MET, new PayloadWriter(), timeout);
        return true;
    }

    private static ControlException notTaken(Frame frame) {
        return new ControlException(Reason.GARBAGE, "sent " + frame.type() + ", which servers do not take");
    }

    /** {@return whether to go on} */
    private boolean answer(Frame frame) throws ControlException {
        if (team != null && (frame.type() == FrameType.MEET || frame.type() == FrameType.ROW)) {
            return answerMember(frame);
        }
        MemorySegment memory = end.memory();
        switch (frame.type()) {
            case ALIVE -> {
                return true;
            }
            case PREPARE -> {
                Slots slots = Slots.decode(frame, memory.byteSize());
                if (slots.fill()) {
                    Pattern.fill(memory, slots.layout(), slots.seed());
                } else {
                    Pattern.clear(memory, slots.layout());
                }
                end.store();
                channel.send(FrameType.PREPARED, new PayloadWriter(), timeout);
            }
            case CHECK -> {
                Slots slots = Slots.decode(frame, memory.byteSize());
                int damaged = end.damaged(slots.layout(), slots.seed(), () -> end.poll(none), timeout);
                channel.send(FrameType.RESULT, new PayloadWriter().number(damaged), timeout);
            }
            case SETUP, BYE -> {
                return false;
            }
            default -> throw notTaken(frame);
        }
        return true;
    }

    /** The team of a client, of which its server is one: it measures the other direction. */
    private record FarTeam(Connection connection) implements Team {
        @Override
        public void meet() { ask(FrameType.MEET, new PayloadWriter()); }

        /** {@return its own: the client has the sum} */
        @Override
        public Row add(Row own) {
            ask(FrameType.ROW, own.encode());
            return own;
        }

        private void ask(FrameType what, PayloadWriter payload) {
            connection.ask(what, payload, FrameType.MET, () -> {});
        }

        @Override
        public boolean isAsked() {
            connection.watch();
            return connection.isStopAsked();
        }

        /** The client says so before it answers. */
        @Override
        public boolean isStopped() { return connection.isStopAsked(); }
    }
}
