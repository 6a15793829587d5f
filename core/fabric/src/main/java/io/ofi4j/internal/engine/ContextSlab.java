package io.ofi4j.internal.engine;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * The operations in flight on one completion queue: a slab of {@code struct fi_context2} that providers write into, and
 * for each the token, the endpoint and the regions. The context of an operation is an address in the slab, so a
 * completion leads back with two comparisons.
 *
 * <p>Plain numbers are stored, not references: no garbage-collection barrier runs on the data path. Not thread-safe:
 * the queue's guard serialises it.
 */
public final class ContextSlab {
    /** {@code sizeof(struct fi_context2)}. */
    public static final long CONTEXT_SIZE = 64;
    /** Stands for no context. */
    public static final long NONE = 0;
    /**
     * Set in an endpoint's number: the success of the operation is not reported, unless {@link #MULTI_RECEIVE} is set.
     */
    public static final long SILENT = 1L << 62;
    /** Set in an endpoint's number: the operation is a read. */
    public static final long READ = 1L << 61;
    /** Set in an endpoint's number: the operation is a receive, which waits for a peer. */
    public static final long RECEIVE = 1L << 60;
    /** Set in an endpoint's number: the operation is a receive of many messages, and completes with each of them. */
    public static final long MULTI_RECEIVE = SILENT | RECEIVE | 1L << 59;
    /** Set in an endpoint's number: the operation peeks for a message to claim, and its context holds what it finds. */
    public static final long PEEK_TO_CLAIM = SILENT | RECEIVE | 1L << 58;
    /** The largest number of an endpoint or region; the smallest is 1. */
    public static final int MAX_NUMBER = (1 << 24) - 1;
    /** The maximum number of regions that one operation may use in addition to the first. */
    public static final int MAX_EXTRA_REGIONS = 15;

    private static final int CONTEXT_SHIFT = 6;
    private static final int NO_SLOT = -1;
    private static final long LOWER_HALF = (1L << 32) - 1;
    private static final long UPPER_HALF = ~LOWER_HALF;
    /** The words of a slot: {@link #TOKEN} and {@link #OWNER}. */
    private static final int WORDS_PER_SLOT = 2;
    private static final int TOKEN = 0;
    /**
     * The endpoint's number in the upper half and the region's in the lower; in a free slot, {@link #FREE} and the
     * previous value of {@link #free}.
     */
    private static final int OWNER = 1;
    /** The sign bit: marks a free slot. */
    private static final long FREE = Long.MIN_VALUE;
    /** Beside the number of an endpoint: it was closed before the operation completed. */
    private static final long ABANDONED = SILENT | 1L << 56;
    /** The value of one free slot in the upper half of {@link #free}. */
    private static final long ONE_FREE = 1L << 32;
    /** Replaces {@link #PEEK_TO_CLAIM} when the peek has completed: the context holds a message. */
    private static final long CLAIMED = SILENT | RECEIVE | 1L << 57;
    /** All marks that may be set in an endpoint's number. */
    private static final long MARKS = READ | MULTI_RECEIVE | PEEK_TO_CLAIM | CLAIMED;
    /** Set in the lower half of an owner: the operation uses extra regions. */
    private static final long HAS_EXTRA_REGIONS = 0x8000_0000L;

    /**
     * The context of the first slot, which is taken whenever it is free, so that a single operation in flight does not
     * change the list of free slots.
     */
    private final long base;
    private final int slots;
    /**
     * Token and owner of each slot. An array, because the compiler spends ten times the work on native memory, and
     * stops inlining in methods that become too large.
     */
    private final long[] slotWords;
    /** The numbers of the extra regions, {@link #MAX_EXTRA_REGIONS} for each slot; allocated when first needed. */
    private int[] extraRegions;
    /**
     * The free slots except the first: the first of their list in the lower half, their number in the upper half, and
     * {@link #FREE}.
     */
    private long free;
    /** How often no slot was free. */
    private long timesFull;
    /** Null until a recording first begins. */
    private LatencyRecording latencies;
    /** The tokens of operations whose contexts are elsewhere. Any thread may use it. */
    private final Map<Long, Long> externalTokens = new ConcurrentHashMap<>();
    /** Whether {@link #addExternal} was ever called. Most programs never call it, and then no lookup is made. */
    private volatile boolean hasExternal;

    /** The memory must live until no provider can write to it. */
    public ContextSlab(Arena memory, int slots) {
        this.base = memory.allocate(slots * CONTEXT_SIZE, CONTEXT_SIZE).address();
        this.slots = slots;
        this.slotWords = new long[slots * WORDS_PER_SLOT];
        this.free = FREE | NO_SLOT & LOWER_HALF;
        for (int slot = slots - 1; slot >= 0; slot--) {
            release(context(slot)); // the last freed is taken first: few cache lines
        }
    }

    /**
     * Adds an operation whose context is not in the slab, such as deferred work; it takes no slot. Any thread may call
     * this.
     */
    public void addExternal(long context, long token) {
        hasExternal = true;
        externalTokens.put(context, token);
    }

    /** Whether this context was added by {@link #addExternal} and is not removed yet. */
    public boolean isExternal(long context) {
        return externalTokens.containsKey(context);
    }

    /** Whether an operation was ever noted by {@link #addExternal}. */
    public boolean hasExternal() {
        return hasExternal;
    }

    /** Removes a context that {@link #addExternal} has added. Returns its token, or null if there is none. */
    public Long removeExternal(long context) {
        if (!hasExternal || !isExternal(context)) { return null; } // a lookup allocates the key
        StackRoom.require(); // an overflow inside the map would lose the token
        return externalTokens.remove(context);
    }

    /** An endpoint's number as {@link #acquire} takes it. */
    public static long endpoint(int number) {
        return (long) number << 32;
    }

    /** Takes a slot. Returns its context, or {@link #NONE} if no slot is free. */
    public long acquire(long token, long endpoint, int region) {
        int slot = slotWords[OWNER] < 0 ? 0 : takeFreeSlot();
        if (slot == NO_SLOT) { return NONE; }
        slotWords[slot * WORDS_PER_SLOT + TOKEN] = token;
        slotWords[slot * WORDS_PER_SLOT + OWNER] = endpoint | region;
        if (latencies != null) { latencies.began(slot, timedEndpoint(endpoint)); }
        return context(slot);
    }

    /**
     * The number of the endpoint whose latencies include this operation. It is 0 for a receive, whose time depends on
     * the peer.
     */
    private static int timedEndpoint(long owner) {
        return (owner & RECEIVE) != 0 ? 0 : (int) ((owner & ~MARKS) >>> 32);
    }

    /** Starts to record the latencies of an endpoint's operations, or stops if the counts are null. */
    public void record(int endpoint, LatencyHistogram counts) {
        if (latencies == null) { latencies = new LatencyRecording(slots); }
        latencies.endpoint(endpoint, counts);
    }

    private int takeFreeSlot() {
        int slot = (int) free;
        if (slot == NO_SLOT) {
            timesFull++;
        } else {
            free = owner(slot);
        }
        return slot;
    }

    /** Adds the extra regions of an operation that was just posted; 0 stands for none. */
    public void addExtraRegions(long context, int[] regions, int count) {
        if (count > MAX_EXTRA_REGIONS) {
            throw new IllegalArgumentException("more than " + (MAX_EXTRA_REGIONS + 1) + " regions");
        }
        if (extraRegions == null) { extraRegions = new int[slots * MAX_EXTRA_REGIONS]; }
        int slot = slot(context);
        System.arraycopy(regions, 0, extraRegions, slot * MAX_EXTRA_REGIONS, count);
        Arrays.fill(extraRegions, slot * MAX_EXTRA_REGIONS + count, (slot + 1) * MAX_EXTRA_REGIONS, 0);
        slotWords[slot * WORDS_PER_SLOT + OWNER] |= HAS_EXTRA_REGIONS;
    }

    public void release(long context) {
        int slot = slot(context);
        if (slot == 0) {
            slotWords[OWNER] = FREE;
        } else {
            slotWords[slot * WORDS_PER_SLOT + OWNER] = free;
            free = (free & UPPER_HALF) + ONE_FREE | slot;
        }
    }

    /** Whether a context belongs to an operation in flight whose success is reported. */
    public boolean isWanted(long context) {
        return isSlot(context) && Long.compareUnsigned(owner(slot(context)), SILENT) < 0;
    }

    /** Whether a context belongs to an operation in flight whose success is not reported. */
    public boolean isSilent(long context) {
        return isSlot(context) && owner(slot(context)) >= SILENT && (owner(slot(context)) & RECEIVE) == 0;
    }

    /** Whether a context belongs to an operation in flight. */
    public boolean isInFlight(long context) {
        return isSlot(context) && owner(slot(context)) > 0;
    }

    private boolean isSlot(long context) {
        // in the slab, and the start of a slot
        return Long.compareUnsigned(Long.rotateRight(context - base, CONTEXT_SHIFT), slots) < 0;
    }

    /** Whether a context belongs to a receive of many messages. */
    public boolean isMultiReceive(long context) {
        return isInFlight(context) && (owner(slot(context)) & MULTI_RECEIVE) == MULTI_RECEIVE;
    }

    /** Completes a peek, and keeps its context if that holds a claimed message. Returns its token. */
    public long completePeek(long context) {
        int slot = slot(context);
        if ((owner(slot) & PEEK_TO_CLAIM) != PEEK_TO_CLAIM) { return complete(context); }
        slotWords[slot * WORDS_PER_SLOT + OWNER] ^= PEEK_TO_CLAIM ^ CLAIMED;
        return token(context);
    }

    /** The context that holds the message found with this token, or {@link #NONE}. */
    public long claimed(int endpoint, long token) {
        return ofEndpoint(endpoint).filter(this::isClaimed).mapToLong(this::context)
                .filter(context -> token(context) == token).findFirst().orElse(NONE);
    }

    private boolean isClaimed(int slot) { return (owner(slot) & CLAIMED) == CLAIMED; }

    /** Begins a receive of the message that a context holds. {@link #undoReceive} undoes it. */
    public void beginReceive(long context, long endpoint, int region) {
        slotWords[slot(context) * WORDS_PER_SLOT + OWNER] = endpoint | region;
    }

    public void undoReceive(long context, long endpoint) {
        slotWords[slot(context) * WORDS_PER_SLOT + OWNER] = endpoint | CLAIMED;
    }

    /**
     * Frees the slot of an operation in flight that has succeeded. Returns its token or, if an error is thrown, changes
     * nothing.
     */
    public long complete(long context) {
        if (latencies != null) { latencies.ended(slot(context), timedEndpoint(owner(slot(context)))); }
        long token = token(context);
        release(context);
        return token;
    }

    /** The token of an operation in flight, or of one that {@link #addExternal} has added; null if there is none. */
    public Long find(long context) {
        return isInFlight(context) ? (Long) token(context) : hasExternal ? externalTokens.get(context) : null;
    }

    /** Ends an operation that {@link #find} finds, and that has failed. */
    public void fail(long context) {
        if (isInFlight(context)) {
            release(context);
        } else {
            removeExternal(context);
        }
    }

    public long token(long context) { return slotWords[slot(context) * WORDS_PER_SLOT + TOKEN]; }

    private long owner(int slot) { return slotWords[slot * WORDS_PER_SLOT + OWNER]; }

    private long context(int slot) { return base + ((long) slot << CONTEXT_SHIFT); }

    private int slot(long context) { return (int) (context - base >> CONTEXT_SHIFT); }

    public int inFlight() {
        int freeSlots = (int) (free >>> 32 & Integer.MAX_VALUE) + (owner(0) < 0 ? 1 : 0);
        return slots - freeSlots;
    }

    public int capacity() { return slots; }

    public long timesFull() { return timesFull; }

    public int inFlightOfEndpoint(int endpoint) { return (int) ofEndpoint(endpoint).count(); }

    public int readsInFlight(int endpoint) {
        return (int) ofEndpoint(endpoint).filter(slot -> (owner(slot) & READ) != 0).count();
    }

    /** The number of an endpoint's operations in flight that are not receives: they end without a message of a peer. */
    public int transmitsInFlight(int endpoint) {
        return (int) ofEndpoint(endpoint).filter(slot -> (owner(slot) & RECEIVE) == 0).count();
    }

    /** Whether an endpoint has at least this number of transmits in flight; allocates nothing. */
    public boolean hasTransmits(int endpoint, int limit) {
        int count = 0;
        for (int slot = 0; inFlight() >= limit && slot < slots && count < limit; slot++) {
            long owner = owner(slot);
            if (owner > 0 && (owner & ~MARKS) >>> 32 == endpoint && (owner & RECEIVE) == 0) { count++; }
        }
        return count >= limit;
    }

    /** The contexts of an endpoint's receives with this token. */
    public long[] postedReceives(int endpoint, long token) {
        return Arrays.stream(postedReceives(endpoint)).filter(context -> token(context) == token).toArray();
    }

    /** The contexts of all of an endpoint's receives. */
    public long[] postedReceives(int endpoint) {
        return ofEndpoint(endpoint).filter(slot -> (owner(slot) & RECEIVE) != 0 && !isClaimed(slot))
                .mapToLong(this::context).toArray();
    }

    public int inFlightOfRegion(int region) { return (int) taken().filter(slot -> usesRegion(slot, region)).count(); }

    private IntStream taken() { return IntStream.range(0, inFlight() > 0 ? slots : 0).filter(slot -> owner(slot) > 0); }

    private IntStream ofEndpoint(int endpoint) {
        return taken().filter(slot -> (owner(slot) & ~MARKS) >>> 32 == endpoint);
    }

    private boolean usesRegion(int slot, int region) {
        long owner = owner(slot);
        return ((int) owner & MAX_NUMBER) == region || (owner & HAS_EXTRA_REGIONS) != 0
                && Arrays.stream(extraRegions, slot * MAX_EXTRA_REGIONS, (slot + 1) * MAX_EXTRA_REGIONS)
                        .anyMatch(one -> one == region);
    }

    /** Ends what an endpoint that closes has begun, and returns the contexts of its operations, which are in flight. */
    public long[] closeEndpoint(int endpoint) {
        if (latencies != null) { latencies.endpoint(endpoint, null); } // its number may be another's later
        // The peeks of claimed messages have completed.
        Arrays.stream(ofEndpoint(endpoint).filter(this::isClaimed).toArray()).mapToLong(this::context)
                .forEach(this::release);
        return ofEndpoint(endpoint).mapToLong(this::context).toArray();
    }

    /** The numbers of the regions that an operation uses; 0 stands for none. */
    public IntStream regions(long context) {
        int slot = slot(context);
        long owner = owner(slot);
        IntStream first = IntStream.of((int) owner & MAX_NUMBER);
        return (owner & HAS_EXTRA_REGIONS) == 0
                ? first
                : IntStream.concat(first,
                        Arrays.stream(extraRegions, slot * MAX_EXTRA_REGIONS, (slot + 1) * MAX_EXTRA_REGIONS));
    }

    /**
     * Keeps the slot of an operation that may still complete after its endpoint: that completion is dropped. Its
     * regions are forgotten.
     */
    public void abandon(long context) {
        int owner = slot(context) * WORDS_PER_SLOT + OWNER;
        slotWords[owner] = ABANDONED | endpoint((int) ((slotWords[owner] & ~MARKS) >>> 32));
    }

    /** Frees the slots that {@link #abandon} has left: no operation completes any more. */
    public void releaseAbandoned(int endpoint) {
        long abandoned = (ABANDONED | endpoint(endpoint)) >>> 32;
        Arrays.stream(taken().filter(slot -> owner(slot) >>> 32 == abandoned).toArray()).mapToLong(this::context)
                .forEach(this::release);
    }

    /** Whether the endpoint of an operation was closed before it completed. */
    public boolean isAbandoned(long context) {
        return isInFlight(context) && (owner(slot(context)) & ABANDONED) == ABANDONED;
    }
}
