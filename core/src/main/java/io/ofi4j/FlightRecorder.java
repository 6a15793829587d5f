package io.ofi4j;

import io.ofi4j.internal.FabricCalls;
import jdk.jfr.Event;

/** Tells the JDK Flight Recorder. While it does not record, the events cost nothing, and no text is made for them. */
final class FlightRecorder extends Recorder {
    private static <E extends Event> E begun(E event) {
        event.begin();
        return event;
    }

    @Override
    Object registering() {
        return begun(new FlightEvents.Registration());
    }

    @Override
    void registered(Object begun, MemoryRegion region) {
        commit((FlightEvents.Registration) begun, region);
    }

    @Override
    Object deregistering() {
        return begun(new FlightEvents.Deregistration());
    }

    @Override
    void deregistered(Object begun, MemoryRegion region) {
        commit((FlightEvents.Deregistration) begun, region);
    }

    private static void commit(FlightEvents.OfRegion event, MemoryRegion region) {
        event.end();
        if (event.shouldCommit()) {
            event.length = region.length();
            event.access = region.access().toString();
            commit(event, region.domain.info());
        }
    }

    private static void commit(FlightEvents.OfProvider event, FabricInfo info) {
        event.provider = info.provider();
        event.commit();
    }

    @Override
    void enabled(Endpoint endpoint) {
        FlightEvents.Enabled event = new FlightEvents.Enabled();
        if (event.shouldCommit()) {
            event.type = endpoint.info().endpoint().type().toString();
            commit(event, endpoint.info());
        }
    }

    @Override
    Object closing() {
        return begun(new FlightEvents.Closed());
    }

    @Override
    void closed(Object begun, Endpoint endpoint) {
        FlightEvents.Closed event = (FlightEvents.Closed) begun;
        event.end();
        if (event.shouldCommit()) {
            event.type = endpoint.info().endpoint().type().toString();
            commit(event, endpoint.info());
        }
    }

    @Override
    void canceled(Endpoint endpoint, int operations) {
        FlightEvents.Canceled event = new FlightEvents.Canceled();
        event.operations = operations;
        commitIfWanted(event, endpoint);
    }

    @Override
    void connected(Endpoint endpoint) {
        commitIfWanted(new FlightEvents.Connected(), endpoint);
    }

    @Override
    void disconnected(Endpoint endpoint) {
        commitIfWanted(new FlightEvents.Disconnected(), endpoint);
    }

    private static void commitIfWanted(FlightEvents.OfProvider event, Endpoint endpoint) {
        if (event.shouldCommit()) {
            commit(event, endpoint.info());
        }
    }

    @Override
    void refused(Endpoint endpoint, int errno) {
        FlightEvents.Refused event = new FlightEvents.Refused();
        if (event.shouldCommit()) {
            event.errno = errno;
            event.text = FabricCalls.fi_strerror(errno);
            commit(event, endpoint.info());
        }
    }

    @Override
    void failed(CompletionError error) {
        FlightEvents.OperationFailed event = new FlightEvents.OperationFailed();
        if (event.shouldCommit()) {
            event.provider = error.provider();
            event.token = error.token();
            event.errno = error.errno();
            event.text = error.providerText().isEmpty() ? error.text() : error.providerText();
            event.commit();
        }
    }

    @Override
    void failed(String operation, int errno, String message) {
        FlightEvents.CallFailed event = new FlightEvents.CallFailed();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.errno = errno;
            event.message = message;
            event.commit();
        }
    }

    @Override
    Object posting() {
        return begun(new FlightEvents.SlowPost());
    }

    @Override
    void posted(Object begun, Endpoint endpoint, String operation, int turns, boolean accepted) {
        FlightEvents.SlowPost event = (FlightEvents.SlowPost) begun;
        event.end();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.attempts = turns;
            event.accepted = accepted;
            commit(event, endpoint.info());
        }
    }

    @Override
    Object waiting() {
        return begun(new FlightEvents.SlowWait());
    }

    @Override
    void waited(Object begun, String operation, boolean found) {
        FlightEvents.SlowWait event = (FlightEvents.SlowWait) begun;
        event.end();
        if (event.shouldCommit()) {
            event.operation = operation;
            event.found = found;
            event.commit();
        }
    }
}
