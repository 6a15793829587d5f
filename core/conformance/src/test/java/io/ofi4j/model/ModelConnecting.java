package io.ofi4j.model;

import io.ofi4j.Connection;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventError;
import io.ofi4j.EventQueue;
import io.ofi4j.Waiting;
import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.WaitObject;
import io.ofi4j.model.ModelLinks.End;
import io.ofi4j.model.ModelLinks.Link;
import io.ofi4j.model.ModelLinks.Passive;
import io.ofi4j.support.Expect;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Steps that listen, connect, accept, reject, read events, shut down and close. */
final class ModelConnecting {
    private static final int MAX_PASSIVES = 3;
    private static final int MAX_LINKS = 12;
    private static final int SHORT_NANOS = 1_000_000;
    private static final byte[] NOTHING = {};

    private final ModelConnections program;
    private final ModelLinks state;

    ModelConnecting(ModelConnections program) {
        this.program = program;
        this.state = program.state;
    }

    void step() {
        switch (program.random.nextInt(20)) {
            case 0 -> listen();
            case 1, 2 -> openClient();
            case 3, 4, 5 -> pick(end -> !end.isServer && !end.begun).ifPresent(this::connect);
            case 6, 7, 8 -> answer();
            case 9, 10 -> pick(end -> end.isServer && !end.begun).ifPresent(this::accept);
            case 11 -> pick(end -> true).ifPresent(program.chance(50) ? this::connect : this::accept);
            case 12, 13 -> pick(end -> end.begun).ifPresent(this::await);
            case 14 -> pick(end -> true).ifPresent(this::shutDown);
            case 15 -> pick(end -> true).ifPresent(this::close);
            case 16 -> closeSomething();
            case 17 -> pick(end -> !end.enabled).ifPresent(this::enable);
            case 18 -> read(program.pick(state.events));
            default -> goOn();
        }
    }

    /** An end like that, or where there is none, perhaps any. */
    private Optional<End> pick(Predicate<End> which) {
        List<End> some = state.ends().filter(which).toList();
        return some.isEmpty() ? Optional.empty() : Optional.of(program.pick(some));
    }

    void listen() {
        if (state.passives.size() >= MAX_PASSIVES) { return; }
        program.note("listen with passive endpoint " + state.passives.size());
        Passive passive = new Passive();
        passive.endpoint = program.fabric.openPassiveEndpoint(program.info).bind(program.pick(state.events)).listen();
        passive.address = passive.endpoint.address();
        state.passives.add(passive);
    }

    void openClient() {
        Passive passive = program.pick(state.passives);
        if (!passive.open || state.links.size() >= MAX_LINKS) { return; }
        Link link = new Link(state.links.size(), passive);
        program.note("open client of " + link + " to passive endpoint " + state.passives.indexOf(passive));
        link.client = bind(link, program.domain.openEndpoint(program.domain.info().withDestination(passive.address)));
        state.links.add(link);
        if (program.chance(90)) { enable(link.client); }
    }

    /** Makes a connection, or comes near it, from which more goes on. */
    void begin() {
        openClient();
        Link link = state.links.getLast();
        if (!link.client.enabled) { enable(link.client); }
        while (!link.client.begun) { // some have too much to say
            connect(link.client);
        }
        await(() -> link.request != null, link);
        take(link);
        if (program.chance(90)) { accept(link.server); }
        if (link.accepted && program.chance(80)) {
            await(() -> link.ends().allMatch(end -> end.is(Connection.State.CONNECTED)), link);
        }
    }

    private void await(BooleanSupplier happened, Link link) {
        if (!Waiting.YIELD.tryUntil(() -> {
            goOn();
            return happened.getAsBoolean();
        }, ModelConnections.DEADLINE)) { throw new AssertionError(link + " does not get on"); }
    }

    /** Reads all that is there, everywhere. */
    private void goOn() {
        program.traffic.pollAll();
        state.events.forEach(this::readAll);
    }

    private End bind(Link link, Endpoint endpoint) {
        End end = new End();
        end.link = link;
        end.queue = program.pick(state.queues);
        end.endpoint = endpoint.postTimeout(Duration.ofMillis(5)).bind(program.pick(state.events))
                .bind(end.queue.queue);
        program.traffic.count(end);
        return end;
    }

    private void enable(End end) {
        program.note("enable " + end);
        end.enabled |= new Expect("enable").refused(!end.open || end.enabled, IllegalStateException.class)
                .run(end.endpoint::enable);
    }

    private byte[] random(int prefix, int most) {
        byte[] bytes = new byte[prefix + program.random.nextInt(program.chance(50) ? 2 : most - prefix + 1)];
        program.random.nextBytes(bytes);
        return bytes;
    }

    private void connect(End end) {
        Connection connection = end.endpoint.connection();
        int most = connection.maximumDataSize();
        boolean tooMuch = program.chance(3);
        byte[] asked = ByteBuffer.wrap(tooMuch ? new byte[most + 1] : random(Integer.BYTES, most))
                .putInt(end.link.number).array();
        if (!end.link.to.open) {
            return; // somebody else may listen there by now
        }
        program.note("connect " + end + " with " + asked.length + " bytes");
        if (new Expect("connect")
                .refused(end.isServer || end.begun || !end.enabled || !end.open, IllegalStateException.class)
                .refused(tooMuch, IllegalArgumentException.class)
                .run(() -> connection.connect(end.link.to.address, asked))) {
            end.begun = true;
            end.link.asked = asked;
        }
    }

    /** Takes, rejects or closes a request. */
    private void answer() {
        List<Link> asking = state.links.stream()
                .filter(link -> link.request != null && (link.isPending() || program.chance(5))).toList();
        if (asking.isEmpty()) { return; }
        Link link = program.pick(asking);
        switch (program.random.nextInt(6)) {
            case 0 -> reject(link);
            case 1 -> {
                program.note("close the request of " + link);
                new Expect("close(request)").tolerated(link.isDisturbed(), FabricException.class)
                        .run(link.request::close);
                over(link, NOTHING);
            }
            default -> take(link);
        }
    }

    private void over(Link link, byte[] reason) {
        if (link.isPending()) {
            link.rejected = true;
            link.reason = reason;
        }
    }

    private void reject(Link link) {
        int most = link.to.endpoint.maximumDataSize();
        boolean tooMuch = program.chance(10);
        byte[] reason = tooMuch ? new byte[most + 1] : random(0, most);
        program.note("reject " + link + " with " + reason.length + " bytes");
        boolean pending = link.isPending();
        Expect expect = new Expect("reject").refused(!pending, IllegalStateException.class)
                .refused(tooMuch, IllegalArgumentException.class).tolerated(link.isDisturbed(), FabricException.class);
        expect.run(() -> link.request.reject(reason));
        if (!expect.isRefused()) { over(link, reason); }
    }

    private void take(Link link) {
        program.note("open server of " + link);
        Endpoint[] opened = new Endpoint[1];
        boolean pending = link.isPending();
        if (new Expect("openEndpoint(request)").refused(!pending, IllegalStateException.class)
                .tolerated(link.isDisturbed(), FabricException.class)
                .run(() -> opened[0] = program.domain.openEndpoint(link.request))) {
            link.server = bind(link, opened[0]);
            link.server.isServer = true;
            if (program.chance(90)) { enable(link.server); }
        } else {
            over(link, NOTHING);
        }
    }

    private void accept(End end) {
        Connection connection = end.endpoint.connection();
        int most = connection.maximumDataSize();
        boolean tooMuch = program.chance(3);
        byte[] answered = tooMuch ? new byte[most + 1] : random(0, most);
        program.note("accept with " + end + " and " + answered.length + " bytes");
        Expect expect = new Expect("accept")
                .refused(!end.isServer || end.begun || !end.enabled || !end.open, IllegalStateException.class)
                .refused(tooMuch, IllegalArgumentException.class)
                .tolerated(end.link.isDisturbed(), ConnectionException.class);
        if (expect.run(() -> connection.accept(answered))) {
            end.begun = true;
            end.link.accepted = true;
            end.link.answered = answered;
        } else if (!expect.isRefused()) {
            end.begun = true;
            end.failed = true;
        }
    }

    /** Waits for the outcome, which may not be there yet. */
    private void await(End end) {
        program.note("await connection of " + end);
        Connection.State before = end.state();
        new Expect("awaitConnected").refused(!end.open, IllegalStateException.class)
                .tolerated(end.failed, IllegalStateException.class).tolerated(true, ConnectionException.class)
                .run(() -> {
                    byte[] data = end.endpoint.connection()
                            .awaitConnected(Duration.ofNanos(program.random.nextInt(SHORT_NANOS)));
                    if (before != Connection.State.SHUT_DOWN
                            && !end.is(Connection.State.SHUT_DOWN)) { connected(end, data); }
                });
    }

    private void connected(End end, byte[] data) {
        byte[] expected = end.isServer ? NOTHING : end.link.answered;
        if (!end.begun || !end.link.accepted || !Arrays.equals(data, expected)) {
            throw new AssertionError(end + " is connected with " + Arrays.toString(data) + ", expected was "
                    + Arrays.toString(expected));
        }
        end.connected = true;
    }

    private void shutDown(End end) {
        program.note("shut down " + end);
        Connection.State before = end.state();
        boolean early = before == Connection.State.IDLE || before == Connection.State.CONNECTING;
        if (new Expect("shutdown").refused(!end.open || !end.enabled || early, IllegalStateException.class)
                .tolerated(end.link.isDisturbed(), FabricException.class)
                .run(() -> end.endpoint.connection().shutdown())) {
            end.ended |= before == Connection.State.CONNECTED;
        }
    }

    void close(End end) {
        program.note("close " + end);
        end.endpoint.close();
        end.open = false;
    }

    private void closeSomething() {
        switch (program.random.nextInt(4)) {
            case 0, 1 -> close(program.pick(state.passives));
            case 2 -> {
                program.note("close a parent");
                boolean bound = state.ends().anyMatch(end -> end.open) || state.passives.stream().anyMatch(p -> p.open);
                new Expect("Fabric.close").refused(true, IllegalStateException.class).run(program.fabric::close);
                new Expect("Domain.close").refused(true, IllegalStateException.class).run(program.domain::close);
                if (!bound) { listen(); }
            }
            default -> pick(end -> end.open).ifPresent(end -> {
                program.note("close the queue of " + end);
                new Expect("close(queue)").refused(true, IllegalStateException.class).run(end.queue.queue::close);
            });
        }
    }

    void close(Passive passive) {
        program.note("close passive endpoint " + state.passives.indexOf(passive));
        List<Link> its = state.links.stream().filter(link -> link.to == passive).toList();
        boolean taken = passive.open && its.stream().anyMatch(Link::isTaken);
        if (new Expect("close(passive)").refused(taken, IllegalStateException.class)
                .tolerated(its.stream().anyMatch(Link::isDisturbed), FabricException.class)
                .run(passive.endpoint::close)) {
            its.forEach(link -> over(link, NOTHING));
            passive.open = false;
        }
    }

    private void read(EventQueue events) {
        program.note("read event queue " + state.events.indexOf(events));
        if (program.chance(60)) {
            events.read().ifPresent(this::told);
        } else if (program.chance(30) && events.attributes().waitObject() == WaitObject.FD) {
            Waiting.block(Duration.ofNanos(program.random.nextInt(SHORT_NANOS)), events);
        } else {
            Duration deadline = Duration.ofNanos(program.random.nextInt(SHORT_NANOS));
            new Expect("read(deadline)").tolerated(true, FabricTimeoutException.class)
                    .run(() -> told(events.read(deadline)));
        }
    }

    void readAll(EventQueue events) {
        for (Optional<Event> next = events.read(); next.isPresent(); next = events.read()) {
            told(next.get());
        }
    }

    private void told(Event event) {
        program.note("told " + event);
        switch (event) {
            case Event.ConnectionRequested(ConnectionRequest request) -> asked(request);
            case Event.Connected connected -> connectedTold(end(connected.endpoint()), connected.data());
            case Event.ShutDown(Endpoint endpoint) -> {
                if (!end(endpoint).link.isDisturbed()) {
                    throw new AssertionError(end(endpoint) + " was shut down by nobody");
                }
            }
            case Event.Failed(EventError error) -> error.endpoint().ifPresent(endpoint -> failed(end(endpoint), error));
            default -> throw new AssertionError("nobody expects " + event);
        }
    }

    private End end(Endpoint endpoint) {
        return state.ends().filter(end -> end.endpoint == endpoint).findFirst().orElseThrow();
    }

    private void asked(ConnectionRequest request) {
        Link link = state.links.get(ByteBuffer.wrap(request.data()).getInt());
        if (link.request != null || !Arrays.equals(request.data(), link.asked)
                || request.passiveEndpoint() != link.to.endpoint || !link.to.open || !request.isPending()) {
            throw new AssertionError(request + " with " + Arrays.toString(request.data()) + " for " + link);
        }
        link.request = request;
    }

    private void connectedTold(End end, byte[] data) {
        if (end.connected) { throw new AssertionError(end + " is connected again"); }
        connected(end, data);
    }

    private static void failed(End end, EventError error) {
        Link link = end.link;
        if (!end.begun || !link.rejected && !link.isDisturbed() && link.to.open) {
            throw new AssertionError(end + " failed for no reason: " + error);
        }
        if (link.rejected && !link.isDisturbed() && !Arrays.equals(error.errorData(), link.reason)) {
            throw new AssertionError(end + " was rejected with " + Arrays.toString(link.reason) + ", told "
                    + Arrays.toString(error.errorData()));
        }
    }
}
