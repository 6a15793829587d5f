package io.ofi4j.internal.observe;

import io.ofi4j.internal.ffi.FabricCalls;
import jdk.jfr.Event;

/** Reports to the JDK Flight Recorder. While it does not record, events cost nothing, and no text is made for them. */
public final class FlightRecorder extends EventRecorder {
    private static <E extends Event> E begun(E event) {
        event.begin();
        return event;
    }

    @Override
    public Object registering() { return begun(new FlightEvents.Registration()); }

    @Override
    public void registered(Object begun, String provider, long length, Object access) {
        commit((FlightEvents.Registration) begun, provider, length, access);
    }

    @Override
    public Object deregistering() { return begun(new FlightEvents.Deregistration()); }

    @Override
    public void deregistered(Object begun, String provider, long length, Object access) {
        commit((FlightEvents.Deregistration) begun, provider, length, access);
    }

    private static void commit(FlightEvents.OfRegion event, String provider, long length, Object access) {
        event.end();
        if (event.shouldCommit()) {
            event.length = length;
            event.access = access.toString();
            commit(event, provider);
        }
    }

    private static void commit(FlightEvents.OfProvider event, String provider) {
        event.provider = provider;
        event.commit();
    }

    @Override
    public void enabled(String provider, Object type) {
        FlightEvents.Enabled event = new FlightEvents.Enabled();
        if (event.shouldCommit()) {
            event.type = type.toString();
            commit(event, provider);
        }
    }

    @Override
    public Object closing() { return begun(new FlightEvents.Closed()); }

    @Override
    public void closed(Object begun, String provider, Object type) {
        FlightEvents.Closed event = (FlightEvents.Closed) begun;
        event.end();
        if (event.shouldCommit()) {
            event.type = type.toString();
            commit(event, provider);
        }
    }

    @Override
    public void canceled(String provider, int operations) {
        FlightEvents.Canceled event = new FlightEvents.Canceled();
        event.operations = operations;
        commitIfWanted(event, provider);
    }

    @Override
    public void connected(String provider) { commitIfWanted(new FlightEvents.Connected(), provider); }

    @Override
    public void disconnected(String provider) { commitIfWanted(new FlightEvents.Disconnected(), provider); }

    private static void commitIfWanted(FlightEvents.OfProvider event, String provider) {
        if (event.shouldCommit()) { commit(event, provider); }
    }

    @Override
    public void refused(String provider, int errno) {
        FlightEvents.Refused event = new FlightEvents.Refused();
        if (event.shouldCommit()) {
            event.errno = errno;
            event.text = FabricCalls.fi_strerror(errno);
            commit(event, provider);
        }
    }

    @Override
    public void failed(String provider, long token, int errno, String text) {
        FlightEvents.OperationFailed event = new FlightEvents.OperationFailed();
        if (event.shouldCommit()) {
            event.token = token;
            event.errno = errno;
            event.text = text.isEmpty() ? FabricCalls.fi_strerror(errno) : text;
            commit(event, provider);
        }
    }

    @Override
    public void failed(String operation, int errno, String message) {
        FlightEvents.CallFailed event = new FlightEvents.CallFailed();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.errno = errno;
            event.message = message;
            event.commit();
        }
    }

    @Override
    public Object posting() { return begun(new FlightEvents.SlowPost()); }

    @Override
    public void posted(Object begun, String provider, String operation, int turns, boolean accepted) {
        FlightEvents.SlowPost event = (FlightEvents.SlowPost) begun;
        event.end();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.attempts = turns;
            event.accepted = accepted;
            commit(event, provider);
        }
    }

    @Override
    public Object waiting() { return begun(new FlightEvents.SlowWait()); }

    @Override
    public void waited(Object begun, String operation, boolean found) {
        FlightEvents.SlowWait event = (FlightEvents.SlowWait) begun;
        event.end();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.found = found;
            event.commit();
        }
    }
}
