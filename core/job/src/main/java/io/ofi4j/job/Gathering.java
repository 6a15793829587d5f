package io.ofi4j.job;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The values that a number of places bring to a rendezvous under one name, until each place has got all of them. Used
 * inside the server's monitor.
 */
final class Gathering {
    /** The approximate number of bytes of an entry beside its value. */
    private static final int ENTRY_BYTES = 64;

    /** Only places that have come have an entry, because the number of places is only the claim of one member. */
    private final Map<Integer, byte[]> values = new TreeMap<>();
    private final BitSet taken = new BitSet();
    /** The places that have come and no longer wait. */
    private final BitSet withdrawn = new BitSet();
    private final int count;
    private long bytes;
    /** What each place gets; null before all have come. */
    private byte[] answer;

    Gathering(int count) { this.count = count; }

    int count() { return count; }

    /** {@return the approximate number of bytes that the values take} */
    long bytes() { return bytes; }

    /** {@return the approximate number of bytes that a value of this length takes} */
    static long bytes(int length) {
        return length + ENTRY_BYTES;
    }

    boolean has(int place) { return values.containsKey(place); }

    void put(int place, byte[] value) {
        values.put(place, value);
        withdrawn.clear(place);
        bytes += bytes(value.length);
    }

    /** Removes the value of a place that no longer waits. */
    void withdraw(int place) {
        byte[] value = values.remove(place);
        if (value != null) { bytes -= bytes(value.length); }
        withdrawn.set(place);
    }

    boolean isEmpty() { return values.isEmpty(); }

    boolean isComplete() { return values.size() == count; }

    /** Records that a place has got all values. Returns whether all places have. */
    boolean take(int place) {
        taken.set(place);
        return taken.cardinality() == count;
    }

    /** {@return the places that have never come, each in 4 bytes} */
    byte[] missing() {
        int[] missing = IntStream.range(0, count).filter(place -> !has(place) && !withdrawn.get(place)).toArray();
        ByteBuffer all = ByteBuffer.allocate(missing.length * Integer.BYTES);
        all.asIntBuffer().put(missing);
        return all.array();
    }

    /**
     * {@return the answer to each place once all have come: for each of them the length of its value in 4 bytes, and
     * the value} All get the same array.
     */
    byte[] answer() {
        if (answer == null) {
            int length = values.values().stream().mapToInt(value -> Integer.BYTES + value.length).sum();
            ByteBuffer all = ByteBuffer.allocate(1 + length).put(RendezvousRequest.DONE);
            values.values().forEach(value -> all.putInt(value.length).put(value));
            answer = all.array();
        }
        return answer;
    }

    static List<byte[]> decode(ByteBuffer encoded) {
        List<byte[]> all = new ArrayList<>();
        while (encoded.hasRemaining()) {
            byte[] value = new byte[encoded.getInt()];
            encoded.get(value);
            all.add(value);
        }
        return all;
    }
}
