package io.ofi4j.internal.engine;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;
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
    /** Instead of a context. */
    public static final long NONE = 0;
    /** Set in an endpoint's number: the success of the operation is not reported. Without {@link #MANY}, that is. */
    public static final long SILENT = 1L << 62;
    /** Set in an endpoint's number: the operation is a read. */
    public static final long READ = 1L << 61;
    /** Set in an endpoint's number: the operation is a receive, which waits for a peer. */
    public static final long RECEIVE = 1L << 60;
    /** Set in an endpoint's number: the operation is a receive of many messages, and completes with each of them. */
    public static final long MANY = SILENT | RECEIVE | 1L << 59;
    /** Set in an endpoint's number: the operation looks for a message, and its context holds what it finds. */
    public static final long CLAIM = SILENT | RECEIVE | 1L << 58;
    /** The largest number of an endpoint or region; the smallest is 1. */
    public static final int LARGEST_NUMBER = (1 << 24) - 1;
    /** The number of regions that one operation may use beside the first. */
    public static final int FURTHER = 15;

    private static final int CONTEXT_SHIFT = 6;
    private static final int NO_SLOT = -1;
    private static final long LOWER = (1L << 32) - 1;
    private static final long UPPER = ~LOWER;
    /** The notes of a slot. */
    private static final int NOTES = 2;
    private static final int TOKEN = 0;
    /**
     * The endpoint's number in the upper half and the region's in the lower; in a free slot, {@link #FREE} and what
     * {@link #free} was before.
     */
    private static final int OWNER = 1;
    /** The sign bit: marks a free slot. */
    private static final long FREE = Long.MIN_VALUE;
    /** Beside the number of an endpoint: it was closed before the operation completed. */
    private static final long ABANDONED = SILENT | 1L << 56;
    /** Adds one to the count of free slots. */
    private static final long ONE = 1L << 32;
    /** In the place of {@link #CLAIM}: the look has completed, and the context holds a message. */
    private static final long CLAIMED = SILENT | RECEIVE | 1L << 57;
    /** Every mark of an endpoint's number. */
    private static final long MARKS = READ | MANY | CLAIM | CLAIMED;
    /** Set in the lower half of an owner: the operation uses further regions. */
    private static final long SEVERAL = 0x8000_0000L;

    /**
     * The context of the first slot, which is taken whenever it is free: with one operation in flight no list is kept.
     */
    private final long base;
    private final int slots;
    /**
     * Token and owner of each slot. An array, because the compiler spends ten times the work on native memory, and
     * stops inlining in methods that become too large.
     */
    private final long[] notes;
    /** Further regions, {@link #FURTHER} numbers a slot; allocated when first needed. */
    private int[] further;
    /**
     * Of all slots but the first: the next one in the lower half, the number of free ones in the upper, and
     * {@link #FREE}.
     */
    private long free;
    /** How often no slot was free. */
    private long timesFull;
    /** Null until it is first wanted. */
    private LatencyRecording latencies;
    /** The tokens of operations whose contexts are elsewhere. Any thread may use it. */
    private final Map<Long, Long> outside = new ConcurrentHashMap<>();
    /** Whether there ever was one: most programs have none, and then nothing is looked up. */
    private volatile boolean hasOutside;

    /** The memory must live until no provider can write to it. */
    public ContextSlab(Arena memory, int slots) {
        this.base = memory.allocate(slots * CONTEXT_SIZE, CONTEXT_SIZE).address();
        this.slots = slots;
        this.notes = new long[slots * NOTES];
        this.free = FREE | NO_SLOT & LOWER;
        for (int slot = slots - 1; slot >= 0; slot--) {
            release(context(slot)); // the last freed is taken first: few cache lines
        }
    }

    /**
     * Notes an operation whose context is not in the slab, as of deferred work; it takes no slot. Any thread may call
     * this.
     */
    public void outside(long context, long token) {
        hasOutside = true;
        outside.put(context, token);
    }

    /** Whether it has not been reported. */
    public boolean isOutside(long context) {
        return outside.containsKey(context);
    }

    /** Whether an operation was ever noted by {@link #outside}. */
    public boolean hasOutside() { return hasOutside; }

    /** Forgets it; its token, or null if there is none. */
    public Long endOutside(long context) {
        return hasOutside ? outside.remove(context) : null; // the key is allocated
    }

    /** An endpoint's number as {@link #acquire} takes it. */
    public static long endpoint(int number) {
        return (long) number << 32;
    }

    /** Takes a slot: its context, or {@link #NONE} if none is free. */
    public long acquire(long token, long endpoint, int region) {
        int slot = notes[OWNER] < 0 ? 0 : next();
        if (slot == NO_SLOT) { return NONE; }
        notes[slot * NOTES + TOKEN] = token;
        notes[slot * NOTES + OWNER] = endpoint | region;
        if (latencies != null) { latencies.began(slot, timed(endpoint)); }
        return context(slot);
    }

    /** The number of the endpoint; 0 of a receive, which takes as long as its peer does. */
    private static int timed(long owner) {
        return (owner & RECEIVE) != 0 ? 0 : (int) ((owner & ~MARKS) >>> 32);
    }

    /** Takes the time of an endpoint's operations from now on, or not if the counts are null. */
    public void record(int endpoint, LatencyCounts counts) {
        if (latencies == null) { latencies = new LatencyRecording(slots); }
        latencies.endpoint(endpoint, counts);
    }

    private int next() {
        int slot = (int) free;
        if (slot == NO_SLOT) {
            timesFull++;
        } else {
            free = owner(slot);
        }
        return slot;
    }

    /** Notes the further regions of an operation that was just posted; 0 stands for none. */
    public void alsoConcerns(long context, int[] regions, int count) {
        if (count > FURTHER) { throw new IllegalArgumentException("more than " + (FURTHER + 1) + " regions"); }
        if (further == null) { further = new int[slots * FURTHER]; }
        int slot = slot(context);
        System.arraycopy(regions, 0, further, slot * FURTHER, count);
        Arrays.fill(further, slot * FURTHER + count, (slot + 1) * FURTHER, 0);
        notes[slot * NOTES + OWNER] |= SEVERAL;
    }

    public void release(long context) {
        int slot = slot(context);
        if (slot == 0) {
            notes[OWNER] = FREE;
        } else {
            notes[slot * NOTES + OWNER] = free;
            free = (free & UPPER) + ONE | slot;
        }
    }

    /** Whether a context belongs to an operation in flight whose success is reported. */
    public boolean isWanted(long context) {
        return isOurs(context) && Long.compareUnsigned(owner(slot(context)), SILENT) < 0;
    }

    /** Whether a context belongs to an operation in flight whose success is not reported. */
    public boolean isSilent(long context) {
        return isOurs(context) && owner(slot(context)) >= SILENT && (owner(slot(context)) & RECEIVE) == 0;
    }

    /** Whether a context belongs to an operation in flight. */
    public boolean isInFlight(long context) {
        return isOurs(context) && owner(slot(context)) > 0;
    }

    private boolean isOurs(long context) {
        // in the slab, and the start of a slot
        return Long.compareUnsigned(Long.rotateRight(context - base, CONTEXT_SHIFT), slots) < 0;
    }

    /** Whether a context belongs to a receive of many messages. */
    public boolean isOfMany(long context) {
        return isInFlight(context) && (owner(slot(context)) & MANY) == MANY;
    }

    /** Ends the look for a message: keeps its context, if it is to hold the message. Its token. */
    public long completeLook(long context) {
        int slot = slot(context);
        if ((owner(slot) & CLAIM) != CLAIM) { return complete(context); }
        notes[slot * NOTES + OWNER] ^= CLAIM ^ CLAIMED;
        return token(context);
    }

    /** The context that holds the message found with this token, or {@link #NONE}. */
    public long claimed(int endpoint, long token) {
        return ofEndpoint(endpoint).filter(this::isClaimed).mapToLong(this::context)
                .filter(context -> token(context) == token).findFirst().orElse(NONE);
    }

    private boolean isClaimed(int slot) { return (owner(slot) & CLAIMED) == CLAIMED; }

    /** A receive takes the message that a context holds; {@link #unreceived} undoes it. */
    public void received(long context, long endpoint, int region) {
        notes[slot(context) * NOTES + OWNER] = endpoint | region;
    }

    public void unreceived(long context, long endpoint) { notes[slot(context) * NOTES + OWNER] = endpoint | CLAIMED; }

    /** Frees the slot of an operation in flight that has succeeded; its token. */
    public long complete(long context) {
        if (latencies != null) { latencies.ended(slot(context), timed(owner(slot(context)))); }
        return fail(context);
    }

    /** Frees the slot of an operation in flight; its token. */
    public long fail(long context) {
        long token = token(context);
        release(context);
        return token;
    }

    public long token(long context) { return notes[slot(context) * NOTES + TOKEN]; }

    private long owner(int slot) { return notes[slot * NOTES + OWNER]; }

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

    /** Those that end by themselves. */
    public int transmitsInFlight(int endpoint) {
        return (int) ofEndpoint(endpoint).filter(slot -> (owner(slot) & RECEIVE) == 0).count();
    }

    /** Whether an endpoint has so many of those, or more; allocates nothing. */
    public boolean hasTransmits(int endpoint, int many) {
        int count = 0;
        for (int slot = 0; inFlight() >= many && slot < slots && count < many; slot++) {
            long owner = owner(slot);
            if (owner > 0 && (owner & ~MARKS) >>> 32 == endpoint && (owner & RECEIVE) == 0) { count++; }
        }
        return count >= many;
    }

    /** The contexts of an endpoint's receives with this token. */
    public long[] receives(int endpoint, long token) {
        return Arrays.stream(receives(endpoint)).filter(context -> token(context) == token).toArray();
    }

    /** The contexts of all of an endpoint's receives. */
    public long[] receives(int endpoint) {
        return ofEndpoint(endpoint).filter(slot -> (owner(slot) & RECEIVE) != 0 && !isClaimed(slot))
                .mapToLong(this::context).toArray();
    }

    public int inFlightOfRegion(int region) { return (int) taken().filter(slot -> concerns(slot, region)).count(); }

    private IntStream taken() { return IntStream.range(0, inFlight() > 0 ? slots : 0).filter(slot -> owner(slot) > 0); }

    private IntStream ofEndpoint(int endpoint) {
        return taken().filter(slot -> (owner(slot) & ~MARKS) >>> 32 == endpoint);
    }

    private boolean concerns(int slot, int region) {
        long owner = owner(slot);
        return ((int) owner & LARGEST_NUMBER) == region || (owner & SEVERAL) != 0
                && Arrays.stream(further, slot * FURTHER, (slot + 1) * FURTHER).anyMatch(one -> one == region);
    }

    /** Frees the slots of a closed endpoint; their tokens. */
    public long[] releaseEndpoint(int endpoint) {
        return end(endpoint, this::release);
    }

    /** As {@link #releaseEndpoint}, where operations may still complete: those completions are dropped. */
    public long[] abandonEndpoint(int endpoint) {
        return end(endpoint, context -> notes[slot(context) * NOTES + OWNER] = ABANDONED | endpoint(endpoint));
    }

    /** Frees the slots that {@link #abandonEndpoint} has left: no operation completes any more. */
    public void releaseAbandoned(int endpoint) {
        long abandoned = (ABANDONED | endpoint(endpoint)) >>> 32;
        Arrays.stream(taken().filter(slot -> owner(slot) >>> 32 == abandoned).toArray()).mapToLong(this::context)
                .forEach(this::release);
    }

    private long[] end(int endpoint, LongConsumer ending) {
        if (latencies != null) { latencies.endpoint(endpoint, null); } // its number may be another's later
        // The looks of claimed messages have completed.
        Arrays.stream(ofEndpoint(endpoint).filter(this::isClaimed).toArray()).mapToLong(this::context)
                .forEach(this::release);
        long[] contexts = ofEndpoint(endpoint).mapToLong(this::context).toArray();
        long[] tokens = Arrays.stream(contexts).map(this::token).toArray();
        Arrays.stream(contexts).forEach(ending);
        return tokens;
    }

    /** Whether the endpoint of an operation was closed before it completed. */
    public boolean isAbandoned(long context) {
        return isInFlight(context) && (owner(slot(context)) & ABANDONED) == ABANDONED;
    }
}
