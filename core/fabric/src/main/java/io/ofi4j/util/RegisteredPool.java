package io.ofi4j.util;

import io.ofi4j.MemoryRegion;
import java.util.Arrays;

/**
 * Divides a registered region into pieces, which are taken and given back: to register memory takes microseconds to
 * milliseconds, to take a piece some tens of nanoseconds. Any thread may call any method, and give back what another
 * thread has taken. After construction nothing is allocated.
 *
 * <pre>{@code
 * MemoryRegion region = domain.allocate(64 << 20, Access.SEND, Access.RECEIVE);
 * RegisteredPool pool = new RegisteredPool(region, 256);
 *
 * long offset = pool.take(1500);
 * if (offset != RegisteredPool.NONE) {
 *     endpoint.messages().trySend(region, offset, 1500, peer, offset); // its completion gives it back
 * }
 * }</pre>
 *
 * <p><b>Memory by address.</b> {@link #contains} says whether bytes are in the region, whoever has them, and
 * {@link #offset} where. A program finds out in this way whether it can post a buffer of another library as it is; the
 * pool of that library may take its memory from here.
 *
 * <p><b>Pieces.</b> A piece has the smallest number of bytes, or twice, four times, … as many: the first of these
 * numbers that is enough. It starts at a multiple of its size from the start of the region. Neighbours that are free
 * become one again. The contents are what was there before. Give a piece back only when its operations have completed:
 * nothing else keeps the next taker from the same bytes.
 *
 * <p><b>Closing.</b> The pool does not own the region and has nothing to close. A closed region refuses posts, and is
 * freed when its last operation has completed, as {@link MemoryRegion#close} says. {@link #take} then throws
 * IllegalStateException, and {@link #give} goes on working.
 */
public final class RegisteredPool {
    /** What {@link #take} returns if there is no free piece of that size. */
    public static final long NONE = -1;

    private static final int NO_UNIT = -1;
    /** Of a unit: it is inside a piece, and not its first. */
    private static final byte INSIDE = -1;
    /** Added to the order of a piece that is taken. */
    private static final byte TAKEN = 64;

    private final MemoryRegion region;
    private final long address;
    private final long length;
    /** The bytes of a unit, the smallest piece, are 2 to the power of this. */
    private final int unitShift;
    private final int units;
    /** Of the first unit of each piece: its order, which says that it has 2^order units, and {@link #TAKEN}. */
    private final byte[] orders;
    /** The first free piece of each order, or {@link #NO_UNIT}. This and all that follows is used in the monitor. */
    private final int[] firstFree;
    private final int[] nextFree;
    private final int[] previousFree;
    private final int maxOrder;
    private long taken;

    /**
     * Makes a pool of a whole region.
     *
     * @param region a region of one segment, of any kind of memory
     * @param smallest the bytes of the smallest piece, a power of two
     * @throws IllegalArgumentException if the smallest piece has not 1, 2, 4, … bytes, or more than the region, or
     *         there would be more than 2^30 of them
     * @throws IllegalStateException if the region is closed, or has several segments
     */
    public RegisteredPool(MemoryRegion region, long smallest) {
        if (region.parts().size() != 1) {
            throw new IllegalStateException(region + " has several segments: make a pool of one of its parts()");
        }
        requireOpen(region);
        if (Long.bitCount(smallest) != 1 || smallest < 0 || smallest > region.length()
                || region.length() / smallest > 1 << 30) {
            throw new IllegalArgumentException("the smallest piece of a region of " + region.length()
                    + " bytes is a power of two, at most the region and at least a 2^30th of it, not " + smallest);
        }
        this.region = region;
        this.address = region.segments().getFirst().address();
        this.length = region.length();
        this.unitShift = Long.numberOfTrailingZeros(smallest);
        this.units = (int) (length >>> unitShift);
        this.orders = new byte[units];
        this.nextFree = new int[units];
        this.previousFree = new int[units];
        this.maxOrder = floorOrder(units);
        this.firstFree = new int[maxOrder + 1];
        Arrays.fill(firstFree, NO_UNIT);
        Arrays.fill(orders, INSIDE);
        for (int unit = 0; unit < units;) {
            int order = Math.min(unit == 0 ? maxOrder : Integer.numberOfTrailingZeros(unit), floorOrder(units - unit));
            addFree(unit, order);
            unit += 1 << order;
        }
    }

    private static int floorOrder(int count) { return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(count); }

    private static void requireOpen(MemoryRegion region) {
        if (!region.isOpen()) { throw new IllegalStateException(region + " takes no more operations"); }
    }

    /** {@return the region, whose offsets the pieces have} */
    public MemoryRegion region() { return region; }

    /** {@return the bytes of the largest piece} */
    public long largest() { return 1L << maxOrder + unitShift; }

    /** {@return the bytes of all pieces that are taken now} */
    public synchronized long taken() {
        return taken << unitShift;
    }

    /**
     * Takes a piece.
     *
     * @param bytes how many bytes it must have, 0 to {@link #largest}
     * @return the offset of its first byte in the region, or {@link #NONE} if no free piece has so many bytes
     * @throws IllegalArgumentException if no piece can ever have so many bytes
     * @throws IllegalStateException if the region is closed
     */
    public long take(long bytes) {
        if (bytes < 0 || bytes > largest()) {
            throw new IllegalArgumentException("a piece of this pool has 0 to " + largest() + " bytes, not " + bytes);
        }
        requireOpen(region);
        long needed = Math.max(1, Math.ceilDiv(bytes, 1L << unitShift));
        int order = Long.SIZE - Long.numberOfLeadingZeros(needed - 1);
        synchronized (this) {
            int from = order;
            while (from <= maxOrder && firstFree[from] == NO_UNIT) {
                from++;
            }
            if (from > maxOrder) { return NONE; }
            int unit = firstFree[from];
            removeFree(unit, from);
            while (from > order) { // the upper half stays free
                from--;
                addFree(unit + (1 << from), from);
            }
            orders[unit] = (byte) (order + TAKEN);
            taken += 1L << order;
            return (long) unit << unitShift;
        }
    }

    /**
     * Gives a piece back, whose operations have all completed.
     *
     * @param offset what {@link #take} has returned
     * @throws IllegalArgumentException if no piece that is taken begins there: it was given back already, or is another
     *         pool's
     */
    public synchronized void give(long offset) {
        long first = offset >>> unitShift;
        if (offset < 0 || first >= units || first << unitShift != offset || orders[(int) first] < TAKEN) {
            throw new IllegalArgumentException(
                    "no piece that is taken begins at offset " + offset + ": was it given back before?");
        }
        int unit = (int) first;
        int order = orders[unit] - TAKEN;
        taken -= 1L << order;
        orders[unit] = INSIDE;
        while (order < maxOrder) {
            int neighbour = unit ^ 1 << order;
            if (neighbour >= units || orders[neighbour] != order) { break; }
            removeFree(neighbour, order);
            unit &= ~(1 << order);
            order++;
        }
        addFree(unit, order);
    }

    private void addFree(int unit, int order) {
        int next = firstFree[order];
        orders[unit] = (byte) order;
        nextFree[unit] = next;
        previousFree[unit] = NO_UNIT;
        if (next != NO_UNIT) { previousFree[next] = unit; }
        firstFree[order] = unit;
    }

    private void removeFree(int unit, int order) {
        int previous = previousFree[unit];
        int next = nextFree[unit];
        if (previous == NO_UNIT) {
            firstFree[order] = next;
        } else {
            nextFree[previous] = next;
        }
        if (next != NO_UNIT) { previousFree[next] = previous; }
        orders[unit] = INSIDE;
    }

    /**
     * {@return whether all these bytes are in the region, which is open} An operation on them can be posted with
     * {@link #region} and {@link #offset}.
     *
     * @param start the address of the first byte, for example of a native segment
     * @param bytes the number of bytes
     */
    public boolean contains(long start, long bytes) {
        long offset = start - address;
        return (offset | bytes) >= 0 && bytes <= length && offset <= length - bytes && region.isOpen();
    }

    /**
     * {@return the offset in the region of an address}
     *
     * @param start an address inside the region, or just behind it
     * @throws IllegalArgumentException if it is outside
     */
    public long offset(long start) {
        long offset = start - address;
        if (offset < 0 || offset > length) {
            throw new IllegalArgumentException("the address 0x" + Long.toHexString(start) + " is not in the region of "
                    + length + " bytes at 0x" + Long.toHexString(address));
        }
        return offset;
    }

    @Override
    public String toString() { return "RegisteredPool of " + region; }
}
