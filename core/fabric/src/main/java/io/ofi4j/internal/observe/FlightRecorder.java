package io.ofi4j.internal.observe;

import io.ofi4j.internal.ffi.FabricCalls;
import java.util.function.Supplier;
import jdk.jfr.Event;

/**
 * Reports to the JDK Flight Recorder. While it does not record, events cost nothing, and no text is made for them.
 * Before it has ever recorded, the classes of events are not loaded: that takes a tenth of the time in which a small
 * program starts.
 */
public final class FlightRecorder extends EventRecorder {
    private static boolean isOff() { return !jdk.jfr.FlightRecorder.isInitialized(); }

    /** Begins an event. Returns null if nothing has ever been recorded. */
    private static Event begin(Supplier<Event> event) {
        if (isOff()) { return null; }
        Event begun = event.get();
        begun.begin();
        return begun;
    }

    /** Ends an event, if it was begun. Returns whether it is recorded. */
    private static boolean shouldRecord(Event event) {
        if (event == null) { return false; }
        event.end();
        return event.shouldCommit();
    }

    private static void commit(FlightEvents.OfProvider event, String provider) {
        event.provider = provider;
        event.commit();
    }

    @Override
    public Object registering() { return begin(FlightEvents.Registration::new); }

    @Override
    public Object deregistering() { return begin(FlightEvents.Deregistration::new); }

    @Override
    public void regionChanged(Object begun, String provider, long length, Object access) {
        FlightEvents.OfRegion event = (FlightEvents.OfRegion) begun;
        if (shouldRecord(event)) {
            event.length = length;
            event.access = access.toString();
            commit(event, provider);
        }
    }

    @Override
    public void enabled(String provider, Object type) {
        if (!isOff()) { commit(new FlightEvents.Enabled(), provider, type); }
    }

    @Override
    public Object closing() { return begin(FlightEvents.Closed::new); }

    @Override
    public void closed(Object begun, String provider, Object type) {
        commit((FlightEvents.Closed) begun, provider, type);
    }

    private static void commit(FlightEvents.OfEndpoint event, String provider, Object type) {
        if (shouldRecord(event)) {
            event.type = type.toString();
            commit(event, provider);
        }
    }

    @Override
    public void canceled(String provider, int operations) {
        if (isOff()) { return; }
        FlightEvents.Canceled event = new FlightEvents.Canceled();
        event.operations = operations;
        commit(event, provider);
    }

    @Override
    public void connected(String provider) { if (!isOff()) { commit(new FlightEvents.Connected(), provider); } }

    @Override
    public void disconnected(String provider) { if (!isOff()) { commit(new FlightEvents.Disconnected(), provider); } }

    @Override
    public void refused(String provider, int errno) {
        if (!isOff()) { commit(new FlightEvents.Refused(), provider, errno, ""); }
    }

    @Override
    public void failed(String provider, long token, int errno, String text) {
        if (isOff()) { return; }
        FlightEvents.OperationFailed event = new FlightEvents.OperationFailed();
        event.token = token;
        commit(event, provider, errno, text);
    }

    private static void commit(FlightEvents.OfError event, String provider, int errno, String text) {
        if (event.shouldCommit()) {
            event.errno = errno;
            event.text = text.isEmpty() ? FabricCalls.fi_strerror(errno) : text;
            commit(event, provider);
        }
    }

    @Override
    public void failed(String operation, int errno, String message) {
        if (isOff()) { return; }
        FlightEvents.CallFailed event = new FlightEvents.CallFailed();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.errno = errno;
            event.message = message;
            event.commit();
        }
    }

    @Override
    public Object posting() { return begin(FlightEvents.SlowPost::new); }

    @Override
    public void posted(Object begun, String provider, String operation, int turns, boolean accepted) {
        FlightEvents.SlowPost event = (FlightEvents.SlowPost) begun;
        if (shouldRecord(event)) {
            event.operation = operation;
            event.attempts = turns;
            event.accepted = accepted;
            commit(event, provider);
        }
    }

    @Override
    public Object waiting() { return begin(FlightEvents.SlowWait::new); }

    @Override
    public void waited(Object begun, String operation, boolean found) {
        FlightEvents.SlowWait event = (FlightEvents.SlowWait) begun;
        if (shouldRecord(event)) {
            event.operation = operation;
            event.found = found;
            event.commit();
        }
    }
}
