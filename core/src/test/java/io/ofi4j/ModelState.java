package io.ofi4j;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The objects of one random program and what the model believes of each. */
final class ModelState {
    final List<Dom> domains = new ArrayList<>();
    final List<Queue> queues = new ArrayList<>();
    final List<Vector> vectors = new ArrayList<>();
    final List<End> ends = new ArrayList<>();
    final List<Region> regions = new ArrayList<>();
    final List<Known> peers = new ArrayList<>();
    /** Operations that were accepted and whose token has not come back. */
    final Map<Long, Op> pending = new HashMap<>();

    static class Thing {
        boolean open = true;
        Dom dom;
    }

    static final class Dom extends Thing {
        Domain domain;
    }

    static final class Queue extends Thing {
        CompletionQueue queue;
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
        EndpointAddress address;
        Rma rma;

        /** Whether the endpoint can take part in a transfer. */
        boolean works() {
            return open && enabled;
        }

        boolean uses(Queue queue) {
            return transmit == queue || receive == queue;
        }
    }

    static final class Region extends Thing {
        MemoryRegion region;
        ModelMemory memory;
        RemoteRegion remote;
        long rights;
        /** Whether the memory lives on after the region. */
        boolean ofCaller;
        int value;

        boolean has(Access right) {
            return (rights & right.bit()) != 0;
        }

        @Override
        public String toString() {
            return region + " value " + value;
        }
    }

    /** A peer that was inserted. */
    static final class Known {
        Peer peer;
        Vector vector;
        /** The endpoint behind it; null where the address is made up. */
        End end;
        boolean removed;
    }

    enum Kind {
        WRITE, READ, INJECT
    }

    /** One operation. */
    record Op(long token, Kind kind, End from, End to, Region local, long offset, Region remote, long remoteOffset,
            long length, boolean forged) {
        /** Whether nothing stands in its way: then it must complete by itself. */
        boolean mustComplete() {
            return from.open && to != null && to.works() && !forged && remote.open && remote.dom == to.dom;
        }
    }

    List<End> openEnds() {
        return ends.stream().filter(end -> end.open).toList();
    }
}
