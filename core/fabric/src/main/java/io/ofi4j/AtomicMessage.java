package io.ofi4j;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DomainAttributes;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.TransmitAttributes;
import io.ofi4j.internal.engine.AtomicLimits.Form;
import io.ofi4j.internal.engine.ContextSlab;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.ffi.AtomicMessageStruct;
import io.ofi4j.internal.ffi.DeferredWorkStruct;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.quirks.Fact;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * A prepared atomic operation on elements of one type: segments of operands, comparands, results and the target, peer, flags and
 * completion data, which can be changed and posted again; {@code struct fi_msg_atomic}, fi_atomic(3). Made by
 * {@link Atomics#message}, for one endpoint. Offsets are in bytes, counts in elements. Changes allocate nothing. Only the thread that
 * made it may change and post it; others get WrongThreadException. Setters return this message. Methods without {@code try} wait
 * for room as those of {@link Atomics} do.
 *
 * <p>Setters throw IndexOutOfBoundsException if a segment is not all inside its region, and IllegalArgumentException if it has no
 * element, there are too many segments, a region belongs to another domain, a peer to another vector, a target is not aligned, or the
 * data is too long. Posting methods throw what those of {@link Atomics} throw; IllegalArgumentException also if there are too many
 * bytes for {@link OperationFlag#INJECT}, or the flags do not suit the call; IllegalStateException also if the peer or segments are
 * missing, or the numbers of elements differ.
 */
public final class AtomicMessage {
    private static final int OPERANDS = 0;
    private static final int RESULTS = 1;
    private static final int COMPARANDS = 2;
    private static final int LISTS = 3;
    private static final String[] NAMES = {"operand", "result", "comparand"};
    private static final long ONE_SIDE = OperationFlag.REMOTE_CQ_DATA.bit() | OperationFlag.INJECT.bit();

    private final AtomicMessageStruct struct;
    private final Atomics atomics;
    private final Datatype datatype;
    /** Who made it: another thread could change it under a post. */
    private final Thread owner = Thread.currentThread();
    private final MemoryRegion[][] regions;
    private final int[] counts = new int[LISTS];
    private final long[] elements = new long[LISTS];
    private final RemoteRegion[] remotes;
    private int remoteCount;
    private long remoteElements;
    private long flags;
    private Peer peer;

    AtomicMessage(Atomics atomics, TransmitAttributes limits, Datatype datatype) {
        this.atomics = atomics;
        this.datatype = datatype;
        int localLimit = (int) Math.min(limits.iovLimit(), ContextSlab.FURTHER / LISTS);
        this.regions = new MemoryRegion[LISTS][localLimit];
        this.remotes = new RemoteRegion[(int) Math.min(limits.rmaIovLimit(), Byte.MAX_VALUE)];
        this.struct = new AtomicMessageStruct(localLimit, remotes.length, datatype.value());
    }

    /** {@return the largest number of segments of operands, as of comparands and of results} */
    public int localLimit() {
        return regions[OPERANDS].length;
    }

    /** {@return the largest number of remote segments} */
    public int remoteLimit() { return remotes.length; }

    /** Removes every segment; flags, data and peer stay. */
    public AtomicMessage clear() {
        requireOwner();
        for (int list = 0; list < LISTS; list++) {
            counts[list] = 0;
            elements[list] = 0;
        }
        remoteCount = 0;
        remoteElements = 0;
        return this;
    }

    /** Adds a segment of operands, which needs {@link Access#WRITE}. */
    public AtomicMessage operand(MemoryRegion region, long offset, long count) {
        return add(OPERANDS, struct.operand, region, offset, count);
    }

    /** Adds a segment for previous values, which needs {@link Access#READ}. */
    public AtomicMessage result(MemoryRegion region, long offset, long count) {
        return add(RESULTS, struct.result, region, offset, count);
    }

    /** Adds a segment of comparands, which needs {@link Access#WRITE}. */
    public AtomicMessage comparand(MemoryRegion region, long offset, long count) {
        return add(COMPARANDS, struct.compare, region, offset, count);
    }

    private AtomicMessage add(int list, AtomicMessageStruct.Vector vector, MemoryRegion region, long offset,
            long count) {
        requireOwner();
        requireInside("", offset, count, region.length);
        requireRoom(counts[list], localLimit(), NAMES[list]);
        atomics.checks.requireDomain(region);
        regions[list][counts[list]] = region;
        vector.set(counts[list]++, region.address + offset, count, region.descriptor);
        elements[list] = sum(elements[list], count);
        return this;
    }

    /** Adds a segment of the target. */
    public AtomicMessage remote(RemoteRegion region, long offset, long count) {
        requireOwner();
        requireInside("remote ", offset, count, region.length());
        requireRoom(remoteCount, remotes.length, "remote");
        Atomics.requireAligned(region, offset, datatype);
        remotes[remoteCount] = region;
        struct.remote(remoteCount++, region.base() + offset, count, region.key());
        remoteElements = sum(remoteElements, count);
        return this;
    }

    private void requireInside(String where, long offset, long count, long length) {
        if (count < 1) { throw new IllegalArgumentException("a segment has at least one element, not " + count); }
        if (offset < 0 || count > (length - offset) / datatype.size()) {
            throw new IndexOutOfBoundsException(count + " elements of " + datatype + " at " + where + "offset " + offset
                    + " are not inside a region of " + length + " bytes");
        }
    }

    private void requireRoom(int count, int limit, String what) {
        if (count == limit) {
            throw new IllegalArgumentException("provider " + atomics.checks.provider + " takes at most " + limit + " "
                    + what + " segments per operation: post several operations");
        }
    }

    /** Saturates: a sum that wrapped around could equal another one. */
    private static long sum(long count, long more) {
        return count > Long.MAX_VALUE - more ? Long.MAX_VALUE : count + more;
    }

    /** Sets the peer whose memory it is for, one of the endpoint's vector. */
    public AtomicMessage peer(Peer whose) {
        requireOwner();
        atomics.checks.requireVector(whose);
        peer = whose;
        struct.peer(whose.fabricAddress);
        return this;
    }

    /**
     * Sets the flags, instead of all that were set before. If it throws, nothing is changed.
     *
     * @throws UnsupportedOperationException if the endpoint lacks the capability that a flag needs, or the provider does not do with
     *         atomic operations what the flag says
     */
    public AtomicMessage flags(OperationFlag... how) {
        requireOwner();
        long wanted = 0;
        for (OperationFlag flag : how) {
            atomics.checks.requireOffered(flag);
            boolean isBroken = switch (flag) {
                case INJECT -> atomics.endpoint.quirks.has(Fact.ATOMIC_INJECTS_ARE_SILENT);
                case REMOTE_CQ_DATA -> atomics.endpoint.quirks.has(Fact.ATOMICS_CARRY_NO_DATA);
                default -> false;
            };
            if (isBroken) {
                throw new UnsupportedOperationException(
                        "atomic operations with " + flag + " do not work on provider " + atomics.checks.provider
                                + (flag == OperationFlag.INJECT
                                        ? ": use Atomics.inject"
                                        : ": tell the peer with a write that has data, or a message"));
            }
            wanted |= flag.bit();
        }
        flags = wanted;
        return this;
    }

    /**
     * Sets the data of the peer's completion, for {@link OperationFlag#REMOTE_CQ_DATA}.
     *
     * @param data up to {@link DomainAttributes#completionDataSize} bytes
     * @throws UnsupportedOperationException if the provider carries no data
     */
    public AtomicMessage data(long data) {
        requireOwner();
        atomics.checks.requireData(data);
        struct.data(data);
        return this;
    }

    /**
     * Starts changing the remote segments if there is room; fi_atomicmsg.
     *
     * @param operation what happens to each element
     * @param token comes back with the completion
     * @return whether it was accepted
     */
    public boolean tryExecute(AtomicOperation operation, long token) {
        return tryPost(Form.BASE, true, operation, token);
    }

    /** As {@link #tryExecute}, but waits for room. */
    public void execute(AtomicOperation operation, long token) {
        post(Form.BASE, true, operation, token);
    }

    /** As {@link #tryExecute}, and also brings the previous values; fi_fetch_atomicmsg. */
    public boolean tryFetch(AtomicOperation operation, long token) {
        return tryPost(Form.FETCH, true, operation, token);
    }

    /** As {@link #tryFetch}, but waits for room. */
    public void fetch(AtomicOperation operation, long token) {
        post(Form.FETCH, true, operation, token);
    }

    /** As {@link #tryFetch}, and also takes comparands; fi_compare_atomicmsg. */
    public boolean tryCompare(AtomicOperation operation, long token) {
        return tryPost(Form.COMPARE, true, operation, token);
    }

    /** As {@link #tryCompare}, but waits for room. */
    public void compare(AtomicOperation operation, long token) {
        post(Form.COMPARE, true, operation, token);
    }

    /** As {@link #tryExecute}, but with one remote segment and without flags; fi_atomicv. */
    public boolean tryExecuteVector(AtomicOperation operation, long token) {
        return tryPost(Form.BASE, false, operation, token);
    }

    /** As {@link #tryExecuteVector}, but waits for room. */
    public void executeVector(AtomicOperation operation, long token) {
        post(Form.BASE, false, operation, token);
    }

    /** As {@link #tryFetch}, but with one remote segment and without flags; fi_fetch_atomicv. */
    public boolean tryFetchVector(AtomicOperation operation, long token) {
        return tryPost(Form.FETCH, false, operation, token);
    }

    /** As {@link #tryFetchVector}, but waits for room. */
    public void fetchVector(AtomicOperation operation, long token) {
        post(Form.FETCH, false, operation, token);
    }

    /** As {@link #tryCompare}, but with one remote segment and without flags; fi_compare_atomicv. */
    public boolean tryCompareVector(AtomicOperation operation, long token) {
        return tryPost(Form.COMPARE, false, operation, token);
    }

    /** As {@link #tryCompareVector}, but waits for room. */
    public void compareVector(AtomicOperation operation, long token) {
        post(Form.COMPARE, false, operation, token);
    }

    private void post(Form form, boolean hasFlags, AtomicOperation operation, long token) {
        if (!tryPost(form, hasFlags, operation, token)) {
            PostRetry.until(atomics.endpoint, form.call(hasFlags), peer,
                    () -> tryPost(form, hasFlags, operation, token));
        }
    }

    private boolean tryPost(Form form, boolean hasFlags, AtomicOperation operation, long token) {
        requireOwner();
        requireComplete(form);
        requireSuits(form, hasFlags, atomics.limits.bytes(form, operation, datatype, remoteElements));
        boolean entered = ThreadGuard.enter(atomics.guard, atomics.unlocked);
        try {
            requireRights(form, operation);
            long as = hasFlags ? atomics.slots.numberFor(flags) : atomics.number;
            long context = atomics.contexts.acquire(token, as, regions[OPERANDS][0].number);
            if (context == ContextSlab.NONE) { return false; }
            noteRegions(context, lists(form));
            struct.prepare(operation.value(), context);
            long status = submit(form, hasFlags, operation.value(), context);
            return status == 0 || atomics.slots.refused(context, status, form.call(hasFlags), peer);
        } finally {
            ThreadGuard.exit(atomics.guard, entered);
        }
    }

    /** How many lists of segments it uses. */
    private static int lists(Form form) { return form.ordinal() + 1; }

    private long submit(Form form, boolean hasFlags, int operation, long context) {
        long how = flags | FabricConstants.FI_COMPLETION;
        return switch (form) {
            case BASE ->
                hasFlags ? atomics.ops.fi_atomicmsg(struct, how) : atomics.ops.fi_atomicv(struct, operation, context);
            case FETCH -> hasFlags
                    ? atomics.ops.fi_fetch_atomicmsg(struct, how)
                    : atomics.ops.fi_fetch_atomicv(struct, operation, context);
            case COMPARE -> hasFlags
                    ? atomics.ops.fi_compare_atomicmsg(struct, how)
                    : atomics.ops.fi_compare_atomicv(struct, operation, context);
        };
    }

    private void noteRegions(long context, int lists) {
        int more = 0;
        for (int list = 0; list < lists; list++) {
            for (int i = list == OPERANDS ? 1 : 0; i < counts[list]; i++) {
                atomics.further[more++] = regions[list][i].number;
            }
        }
        if (more > 0) { atomics.contexts.alsoConcerns(context, atomics.further, more); }
    }

    Endpoint endpoint() { return atomics.endpoint; }

    Peer peer() { return peer; }

    long flags() { return flags; }

    MemoryRegion[] regionsInUse(Form form) {
        return IntStream.range(0, lists(form)).boxed().flatMap(list -> Arrays.stream(regions[list], 0, counts[list]))
                .toArray(MemoryRegion[]::new);
    }

    /** What starts it later, checked as {@link #tryPost} does before the guard. */
    DeferredWorkStruct deferred(Form form, AtomicOperation operation) {
        requireOwner();
        requireComplete(form);
        requireSuits(form, true, atomics.limits.bytes(form, operation, datatype, remoteElements));
        if (remoteCount > counts[OPERANDS] && atomics.endpoint.quirks.has(Fact.DEFERRED_ATOMICS_LOSE_TARGETS)) {
            throw new UnsupportedOperationException("deferred atomic operations with more remote segments than operand"
                    + " segments do not work on provider " + atomics.checks.provider + ": queue several");
        }
        struct.prepare(operation.value(), 0);
        return switch (form) {
            case BASE -> DeferredWorkStruct.execute(atomics.endpoint.handle, struct, flags);
            case FETCH -> DeferredWorkStruct.fetch(atomics.endpoint.handle, struct, flags);
            case COMPARE -> DeferredWorkStruct.compare(atomics.endpoint.handle, struct, flags);
        };
    }

    private void requireOwner() {
        if (owner != Thread.currentThread()) {
            throw new WrongThreadException("this message was made by thread '" + owner.getName()
                    + "', which alone may change and post it: let thread '" + Thread.currentThread().getName()
                    + "' make one of its own with Atomics.message(...)");
        }
    }

    private void requireComplete(Form form) {
        if (peer == null) { throw new IllegalStateException("the message has no peer: set one with peer(...)"); }
        for (int list = 0; list < lists(form); list++) {
            if (elements[list] != remoteElements || remoteElements == 0) {
                throw new IllegalStateException("the message has " + elements[list] + " elements in " + NAMES[list]
                        + " segments and " + remoteElements + " in remote ones: it needs both, of the same number");
            }
        }
    }

    private void requireSuits(Form form, boolean hasFlags, long bytes) {
        if (!hasFlags && (flags != 0 || remoteCount != 1)) {
            throw new IllegalArgumentException(
                    "the vectored calls take no flags and one remote segment, not " + remoteCount + ": use the others");
        }
        if (form != Form.BASE && (flags & ONE_SIDE) != 0) {
            throw new IllegalArgumentException("a fetch or compare takes neither REMOTE_CQ_DATA nor INJECT");
        }
        if ((flags & OperationFlag.INJECT.bit()) != 0) { atomics.checks.requireInjectable(bytes); }
    }

    /** Each region's rights, and those of the targets; bounds were checked when the segments were added. */
    void requireRights(Form form, AtomicOperation operation) {
        long remoteRight = operation == AtomicOperation.ATOMIC_READ
                ? Access.REMOTE_READ.bit()
                : Access.REMOTE_WRITE.bit();
        for (int list = 0; list < lists(form); list++) {
            long right = list == RESULTS ? Access.READ.bit() : Access.WRITE.bit();
            for (int i = 0; i < counts[list]; i++) {
                atomics.checks.require(regions[list][i], right, 0, 0, peer, remotes[0], remoteRight, 0);
            }
        }
        for (int i = 0; i < remoteCount; i++) {
            MemoryRegion operand = regions[OPERANDS][0];
            atomics.checks.require(operand, Access.WRITE.bit(), 0, 0, peer, remotes[i], remoteRight, 0);
            if (form != Form.BASE) {
                atomics.checks.require(operand, Access.WRITE.bit(), 0, 0, peer, remotes[i], Access.REMOTE_READ.bit(),
                        0);
            }
        }
    }
}
