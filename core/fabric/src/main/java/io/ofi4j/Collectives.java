package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Collective;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.CollectiveOps;
import io.ofi4j.internal.ffi.EqOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;

/**
 * Libfabric's own operations of several endpoints; fi_collective(3). Returned by {@link Endpoint#collectives}; ask for
 * them with {@link FabricHints#collectives}. An endpoint {@link #join joins} a group, and then takes part in the
 * group's operations. Every member posts each operation, in the same order, with the same count, datatype, operation
 * and root. Neither ofi4j nor libfabric checks that they agree.
 *
 * <p>Few providers have them; {@code io.ofi4j.job.JobCollectives} works over every provider with tags.
 *
 * <p><b>Errors.</b> Methods throw IllegalStateException if the endpoint is closed, WrongThreadException where the
 * domain's threading model gives the endpoint to another thread, FabricException if the provider reports an error, and
 * UnsupportedOperationException for what the table of refusals in {@code core/guide/REFUSALS.md} lists. If a member
 * has ended or does not post an operation, that operation stays in flight at the other members: close the endpoint,
 * which cancels it.
 */
public final class Collectives extends PostPath {
    /**
     * The largest number of groups. Each takes one of the provider's 256 numbers at every member while the endpoint is
     * open.
     */
    static final int MAX_GROUPS = 64;
    private static final int OPERATIONS = AtomicOperation.values().length;
    private static final int DATATYPES = Datatype.values().length;

    final CollectiveOps ops;
    /** The longest message between two members. */
    final long maxMessage;
    /** Why longer messages are refused, or null. */
    final String longMessageRefusal;
    /** The largest number of operations in flight: each needs a receive, and so does a join. */
    private final int maxInFlight;
    /** Why a broadcast of elements that the members cannot share evenly is refused, or null. */
    final String unevenBroadcastRefusal;
    private final EqOps events;
    /** The provider's answer plus one, by collective, operation and datatype; 0 if it was not asked. */
    private final long[] memberLimits = new long[Collective.values().length * OPERATIONS * DATATYPES];
    /** The group whose join is under way, or null; used inside the guard. */
    private CollectiveGroup joining;
    private int groups;

    Collectives(Endpoint endpoint, Handle events) {
        super(endpoint);
        this.ops = new CollectiveOps(endpoint.handle);
        this.events = new EqOps(events);
        this.longMessageRefusal = endpoint.quirks.refusal(Fact.LONG_COLLECTIVES_BREAK);
        this.maxMessage = longMessageRefusal == null ? Integer.MAX_VALUE : Fact.MAX_COLLECTIVE_MESSAGE;
        this.maxInFlight = endpoint.quirks.has(Fact.COLLECTIVES_NEED_RECEIVES)
                ? Math.clamp(endpoint.info().receive().size() - 1, 1, Integer.MAX_VALUE)
                : Integer.MAX_VALUE;
        this.unevenBroadcastRefusal = endpoint.quirks.refusal(Fact.UNEVEN_BROADCASTS_OVERRUN);
    }

    /**
     * {@return the largest number of members of an operation that reduces nothing, or 0 if the provider does not have
     * it; fi_query_collective}
     */
    public long valid(Collective collective, Datatype datatype) {
        return valid(collective, AtomicOperation.MIN, datatype);
    }

    /** As {@link #valid(Collective, Datatype)}, for an operation that reduces. */
    public long valid(Collective collective, AtomicOperation operation, Datatype datatype) {
        Objects.requireNonNull(datatype, "datatype");
        return endpoint.whileOpen(true, handle -> maxMembers(collective, operation, datatype));
    }

    /** As {@link #valid}, for an endpoint that is open. The provider is asked once. */
    long maxMembers(Collective collective, AtomicOperation operation, Datatype datatype) {
        int at = (collective.ordinal() * OPERATIONS + operation.ordinal()) * DATATYPES + datatype.ordinal();
        if (memberLimits[at] == 0) {
            memberLimits[at] = 1 + CollectiveOps.fi_query_collective(endpoint.domain.handle(), collective.value(),
                    operation.value(), datatype.value());
        }
        return memberLimits[at] - 1;
    }

    /**
     * Begins to join a group; fi_av_set, fi_av_set_insert and fi_join_collective, fi_collective(3). Every member calls
     * this with the same list of members, in the same order. If there are several groups, every member joins them in
     * the same order, each after the join before it has completed. Call {@link CollectiveGroup#awaitJoined} next. A
     * group ends with its endpoint. From the first join on, the provider keeps the addresses of peers that are removed
     * from the vector.
     *
     * @param members the group, by rank; one of them is this endpoint itself, under its own {@link Endpoint#address}
     * @return the group, which may be used once the join has completed
     * @throws IllegalArgumentException if a member is of another vector or in the list twice, or this endpoint is not
     *         in the list
     * @throws IllegalStateException if a member was removed, another join is under way, or there are 64 groups
     */
    public CollectiveGroup join(List<Peer> members) {
        List<Peer> ranks = List.copyOf(members);
        int rank = rankOf(ranks);
        return endpoint.whileOpen(true, handle -> joinLocked(handle, ranks, rank));
    }

    private int rankOf(List<Peer> ranks) {
        HashSet<Long> numbers = new HashSet<>();
        int rank = -1;
        for (int i = 0; i < ranks.size(); i++) {
            Peer peer = ranks.get(i);
            requireVector(peer);
            if (peer.isContext() || !numbers.add(peer.fabricAddress)) {
                throw new IllegalArgumentException(peer + " is in the group already, or is a receive context");
            }
            if (peer.entry.address.equals(endpoint.address())) { rank = i; }
        }
        if (rank < 0) {
            throw new IllegalArgumentException(endpoint + " is not among the members: insert its own address into its "
                    + "vector, and put that peer at its rank");
        }
        return rank;
    }

    private CollectiveGroup joinLocked(Handle handle, List<Peer> ranks, int rank) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            ranks.forEach(this::requireReachable);
            if (joining != null) {
                throw new IllegalStateException(joining + " is still joining: call its awaitJoined first");
            }
            if (groups == MAX_GROUPS) {
                throw new IllegalStateException(endpoint + " has joined " + groups + " groups: open another endpoint");
            }
            Handle set = opened(CollectiveOps.fi_av_set(endpoint.bindings.vector().handle(), ranks.size()),
                    "fi_av_set");
            endpoint.lifeCycle.own(set);
            endpoint.bindings.vector().noteGroup();
            for (Peer peer : ranks) {
                check(CollectiveOps.fi_av_set_insert(set, peer.fabricAddress), "fi_av_set_insert");
            }
            Handle group = opened(CollectiveOps.fi_join_collective(handle, set), "fi_join_collective");
            endpoint.lifeCycle.own(group);
            groups++;
            joining = new CollectiveGroup(this, CollectiveOps.fi_mc_addr(group), rank, ranks.size());
            return joining;
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    /** Takes a slot, inside the guard; {@link ContextSlab#NONE} if there is no room for the operation. */
    long acquire(long token, int region) {
        return contexts.hasTransmits(endpoint.number, maxInFlight)
                ? ContextSlab.NONE
                : contexts.acquire(token, number, region);
    }

    /** Checks a buffer, which needs all of these rights; inside the guard. */
    void requireBuffer(MemoryRegion local, long rights, long offset, long length) {
        requireInside(local, offset, length);
        requireDomain(local);
        if ((local.accessBits & rights) != rights) { throw lacking(local, rights & ~local.accessBits); }
        if (local.rights == 0 || !local.isMemoryAlive()) { throw closed(local); }
        if (local.kind() == MemoryKind.DEVICE) {
            throw new UnsupportedOperationException(
                    "a collective operation needs system memory: copy the device's bytes there first");
        }
    }

    private Handle opened(OpenResult out, String call) {
        Status.checkOffered(out.status(), call, provider);
        return out.handle();
    }

    private void check(int status, String call) { Status.check(status, call, provider); }

    /** Reads the event of a group's join, if it is under way and the event has come, which does not name its group. */
    void readJoin(CollectiveGroup group) {
        boolean entered = ThreadGuard.enter(guard, unlockedThread);
        try {
            if (endpoint.isClosed()) { throw endpoint.closed(); }
            if (joining == group) { readJoinEvent(); }
            if (group.failure != 0) { throw Status.exception(group.failure, "fi_join_collective", provider); }
        } finally {
            ThreadGuard.exit(guard, entered);
        }
    }

    private void readJoinEvent() {
        long status = events.fi_eq_read();
        if (status == -Errno.EAVAIL) {
            EqOps.ErrorEntry error = events.fi_eq_readerr();
            joining.failure = error == null ? -Errno.EIO : -Math.max(error.errno(), 1);
            joining = null; // it must not block the next join
        } else if (status > 0 && events.code() == FabricConstants.FI_JOIN_COMPLETE) {
            joining.joined = true;
            joining = null;
        }
    }
}
