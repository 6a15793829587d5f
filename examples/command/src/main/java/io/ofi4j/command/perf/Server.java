package io.ofi4j.command.perf;

import io.ofi4j.command.control.Listener;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.control.ControlChannel;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.ControlException.Reason;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Serves clients, several at once. Who does not speak the protocol is told off and forgotten. */
final class Server {
    private static final Duration LOOK = Duration.ofMillis(20);
    /** Others wait until one of these is gone. */
    private static final int MOST_AT_ONCE = 64;

    private final Device device;
    private final Terms terms;
    private final Duration timeout;
    private final PrintWriter out;
    private final PrintWriter err;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private volatile boolean served;
    private volatile Throwable failure;

    Server(Device device, Terms terms, Duration timeout, PrintWriter out, PrintWriter err) {
        this.device = device;
        this.terms = terms;
        this.timeout = timeout;
        this.out = out;
        this.err = err;
    }

    /**
     * Serves until a client is served and no other is there; without any in time, that is an error. Or for ever: then
     * what goes wrong with one client ends that client alone.
     */
    void run(Listener listener, Duration patience, boolean keep) {
        out.printf("serving %s at %s: provider %s, domain %s%n", terms.operation(), listener,
                device.traits().provider(), device.traits().domain());
        out.flush();
        long lastBusy = System.nanoTime();
        while (keep || !served || sessions.stream().anyMatch(Session::hasBegun)) {
            if (sessions.size() < MOST_AT_ONCE) { accept(listener, keep); }
            requireNoFailure();
            if (!sessions.isEmpty()) { lastBusy = System.nanoTime(); }
            if (!keep && System.nanoTime() - lastBusy > patience.toNanos()) {
                throw new CommandFailure("No client came to " + listener + " within " + patience.toSeconds()
                        + " s: start one, or give a longer --timeout.");
            }
        }
    }

    private void requireNoFailure() {
        switch (failure) {
            case null -> {
            }
            case RuntimeException e -> throw e;
            default -> throw (Error) failure;
        }
    }

    private void accept(Listener listener, boolean keep) {
        Listener.Caller caller = listener.accept(LOOK, this::complain).orElse(null);
        if (caller == null) { return; }
        try {
            begin(caller, keep);
        } catch (OutOfMemoryError e) { // no thread for it
            if (!keep) { throw e; }
            giveUp(caller.channel(), caller.name(), e);
            caller.channel().close();
        }
    }

    /** Each has a thread and a device of its own. */
    private void begin(Listener.Caller caller, boolean keep) {
        Watchdog watchdog = keep
                ? Watchdog.start(timeout, most -> abandon(caller, most))
                : Watchdog.start(timeout, err, "the client at " + caller.name());
        Session session = new Session(device, terms, caller.channel(), timeout, null, watchdog);
        Thread thread = Thread.ofPlatform().daemon().name("serving " + caller.name()).unstarted(() -> {
            try (watchdog; ControlChannel channel = caller.channel()) {
                try {
                    serve(session, channel, caller.name(), keep);
                } catch (RuntimeException | OutOfMemoryError e) {
                    if (!keep) { throw e; }
                    giveUp(channel, caller.name(), e);
                }
            } catch (RuntimeException | Error e) {
                failure = e;
            } finally {
                sessions.remove(session);
            }
        });
        sessions.add(session);
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) {
                sessions.remove(session);
                watchdog.close();
            }
        }
    }

    /** A client whose messages, connection or memory the provider or this process cannot take. */
    private void giveUp(ControlChannel channel, String name, Throwable why) {
        String sentence = "it cannot be served: " + (why.getMessage() == null ? why.toString() : why.getMessage());
        complain("The client at " + name + " is no longer served; " + sentence);
        channel.refuse(new ControlException(Reason.REFUSED, "the server says: " + sentence));
    }

    private void complain(String sentence) {
        err.println("ofi4j: " + sentence);
        err.flush();
    }

    /** The thread stays where it is; other clients are served. */
    private void abandon(Listener.Caller caller, Duration most) {
        complain("Nothing moved for " + most.toSeconds() + " s for the client at " + caller.name()
                + ", and a call of the provider does not return: it is no longer served.");
        sessions.removeIf(session -> session.speaksOver(caller.channel()));
        caller.channel().close();
    }

    private void serve(Session session, ControlChannel channel, String name, boolean keep) {
        try {
            session.run(name);
            out.println("served the client at " + name);
            out.flush();
            served = true;
        } catch (ControlException e) {
            channel.refuse(e);
            String sentence = "The client at " + name
                    + (e.reason() == Reason.REFUSED
                            ? " was refused: " + e.getMessage()
                            : " " + e.getMessage() + (session.hasBegun() ? " before it was done." : "."));
            boolean isClient = session.hasBegun() || e.reason() == Reason.REFUSED || e.reason() == Reason.VERSION;
            if (isClient && !keep) { throw new CommandFailure(sentence, e); }
            complain(sentence + (isClient ? "" : " It is ignored."));
        } catch (CommandFailure e) { // of what it was to measure
            if (!keep) { throw e; }
            complain(e.getMessage());
        }
    }
}
