package io.ofi4j.model;

import io.ofi4j.Connection;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Rma;
import io.ofi4j.info.EndpointAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The objects of one random program about connections, and what the model believes of each. */
final class ModelLinks {
    final List<Passive> passives = new ArrayList<>();
    final List<Link> links = new ArrayList<>();
    final List<EventQueue> events = new ArrayList<>();
    final List<ModelState.Queue> queues = new ArrayList<>();

    /** Where clients ask. */
    static final class Passive {
        PassiveEndpoint endpoint;
        EndpointAddress address;
        boolean open = true;
    }

    /** One connection, from the client that may ask for it on. */
    static final class Link {
        final int number;
        final Passive to;
        byte[] asked;
        /** What the client is told when it is accepted. */
        byte[] answered;
        /** What the client is told when it is rejected. */
        byte[] reason;
        ConnectionRequest request;
        /** Whether the request is over: rejected, closed, or of no use to an endpoint. */
        boolean rejected;
        boolean accepted;
        /** Whether an operation of it may have found its target closed. */
        boolean spoiled;
        End client;
        End server;

        Link(int number, Passive to) {
            this.number = number;
            this.to = to;
        }

        Stream<End> ends() { return Stream.of(client, server).filter(Objects::nonNull); }

        /** Whether an end has gone, or a target: then much may fail, at both. */
        boolean isDisturbed() {
            return spoiled || ends().anyMatch(end -> !end.open || end.ended);
        }

        boolean isPending() { return request != null && !rejected && server == null; }

        /** Whether an endpoint has the request and has not accepted. */
        boolean isTaken() {
            return server != null && server.open && !accepted;
        }

        @Override
        public String toString() { return "link " + number; }
    }

    static final class End {
        Link link;
        Endpoint endpoint;
        ModelState.Queue queue;
        boolean isServer;
        boolean open = true;
        boolean enabled;
        /** Whether its operations are counted. */
        boolean counted;
        /** Whether it has connected or accepted, or failed to at once. */
        boolean begun;
        boolean connected;
        boolean failed;
        /** Whether it was shut down. */
        boolean ended;
        Rma rma;

        Connection.State state() { return endpoint.connection().state(); }

        boolean is(Connection.State state) { return state() == state; }

        @Override
        public String toString() { return (isServer ? "server" : "client") + " of " + link; }
    }

    Stream<End> ends() { return links.stream().flatMap(Link::ends); }
}
