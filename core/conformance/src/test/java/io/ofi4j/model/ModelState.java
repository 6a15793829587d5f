package io.ofi4j.model;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.info.EndpointAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The objects of one random program and what the model believes of each. */
final class ModelState {
    final List<Dom> domains = new ArrayList<>();
    final List<Queue> queues = new ArrayList<>();
    final List<Vector> vectors = new ArrayList<>();
    final List<End> ends = new ArrayList<>();
    final List<Region> regions = new ArrayList<>();
    final List<Known> peers = new ArrayList<>();
    final List<Count> counts = new ArrayList<>();
    final List<Events> events = new ArrayList<>();

    static class Thing {
        volatile boolean open = true;
        Dom dom;
    }

    static final class Dom extends Thing {
        Domain domain;
    }

    static final class Queue extends Thing {
        CompletionQueue queue;
        /** Of every endpoint that received with it. */
        final Set<EndpointAddress> addresses = ConcurrentHashMap.newKeySet();
        int threshold = 1;
        boolean hasDescriptor;
        /** Whether a signal ends the next wait at once. */
        boolean signaled;
        /** How many waits are under way, each in the handler of another. */
        int waiting;
        /** Whether it is an endpoint's own, which nobody reads. */
        boolean isHidden;

        static Queue hidden() {
            Queue queue = new Queue();
            queue.isHidden = true;
            return queue;
        }
    }

    static final class Events extends Thing {
        EventQueue queue;
        /** By the application, and not read yet. */
        final Deque<Event> written = new ArrayDeque<>();
    }

    static final class Vector extends Thing {
        AddressVector vector;
        /** Queues of endpoints that were enabled with it. */
        final Set<Queue> prepared = new HashSet<>();
    }

    static final class End extends Thing {
        Endpoint endpoint;
        Vector vector;
        Queue transmit;
        Queue receive;
        boolean enabled;
        /** Whether only operations that ask for a completion give one. */
        boolean selective;
        volatile EndpointAddress address;
        Rma rma;
        final Map<CounterEvent, Count> counts = new EnumMap<>(CounterEvent.class);
        final List<Alias> aliases = new ArrayList<>();
        final List<ModelMessage> messages = new ArrayList<>();
        /** Whom it is connected to; null where it is not of a connection. */
        Known connected;

        /** What every endpoint has from being enabled on. */
        void becomeEnabled() {
            enabled = true;
            address = endpoint.address();
            receive.addresses.add(address);
            rma = endpoint.rma();
        }

        /** What those of a connection have once it is there. */
        void becomeConnected(End other) {
            becomeEnabled();
            connected = new Known();
            connected.end = other;
            connected.peer = endpoint.connection().peer();
        }

        /** Whether the endpoint can take part in a transfer. */
        boolean works() { return open && enabled; }

        /** Whether anything tells of its operations. */
        boolean isReported() {
            return transmit != null || receive != null || !counts.isEmpty();
        }

        /** Whether an operation gives no completion when it goes well. */
        boolean isSilent(boolean asked) {
            return transmit.isHidden || selective && !asked;
        }

        boolean uses(Queue queue) { return transmit == queue || receive == queue; }
    }

    static final class Alias extends Thing {
        Endpoint endpoint;
        Rma rma;
    }

    /** A counter, and how far it must have come when everything is at rest. */
    static final class Count extends Thing {
        Counter counter;
        /** Whose endpoints it counts for, where it can be one queue's only. */
        Queue queue;
        final AtomicLong expected = new AtomicLong();
        long errors;
        /** Whether it may have less than that: an endpoint was closed over what it had to count. */
        volatile boolean uncertain;
    }

    static final class Region extends Thing {
        MemoryRegion region;
        ModelMemory memory;
        RemoteRegion remote;
        long rights;
        /** Whether the memory lives on after the region. */
        boolean ofCaller;
        int value;

        boolean has(Access right) { return (rights & right.bit()) != 0; }

        @Override
        public String toString() { return region + " value " + value; }
    }

    /** A peer that was inserted. */
    static final class Known {
        /** Which it is in the notes. */
        int number;
        Peer peer;
        Vector vector;
        /** The endpoint behind it; null where the address is made up. */
        End end;
        /** By the program. */
        boolean removed;
        /** Removed, or its endpoint is closed, over a provider where ofi4j refuses operations then. */
        boolean unreachable;
    }

    enum Kind {
        WRITE, READ, INJECT, WRITE_DATA, INJECT_DATA;

        boolean isRead() { return this == READ; }

        boolean isInject() { return this == INJECT || this == INJECT_DATA; }

        boolean hasData() { return this == WRITE_DATA || this == INJECT_DATA; }

        Access here() { return isRead() ? Access.READ : Access.WRITE; }

        Access there() { return isRead() ? Access.REMOTE_READ : Access.REMOTE_WRITE; }
    }

    /** Bytes that an operation copies. */
    record Piece(Region local, long offset, Region remote, long remoteOffset, long length) {}

    /** One operation. A silent one gives no completion when it goes well. */
    record Op(long token, Kind kind, End from, End to, List<Piece> pieces, boolean forged, boolean silent, long data) {
        /** Whether nothing stands in its way: then it must complete by itself. */
        boolean mustComplete() {
            return from.open && to != null && to.works() && !forged
                    && pieces.stream().allMatch(piece -> piece.remote.open && piece.remote.dom == to.dom);
        }

        boolean writesTo(Region region) { return pieces.stream().anyMatch(piece -> piece.remote == region); }

        CounterEvent event() { return kind.isRead() ? CounterEvent.READ : CounterEvent.WRITE; }
    }

    List<End> openEnds() { return ends.stream().filter(end -> end.open).toList(); }
}
