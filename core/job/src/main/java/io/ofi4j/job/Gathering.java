package io.ofi4j.job;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The values that a number of places bring to a rendezvous under one name, until each place has got all of them. Used
 * inside the server's monitor.
 */
final class Gathering {
    private static final int MAX_NAMED = 16;
    /** What an entry takes beside the bytes of its value, about. */
    private static final int ENTRY_BYTES = 64;

    /** Only of places that have come: the number of places is what one member says. */
    private final Map<Integer, byte[]> values = new TreeMap<>();
    private final BitSet taken = new BitSet();
    /** The places that came and wait no longer. */
    private final BitSet withdrawn = new BitSet();
    private final int count;
    private long bytes;

    Gathering(int count) { this.count = count; }

    int count() { return count; }

    /** {@return what it takes to keep the values, in bytes, about} */
    long bytes() { return bytes; }

    /** {@return what it would take to keep a value of this length} */
    static long bytes(int length) {
        return length + ENTRY_BYTES;
    }

    boolean has(int place) { return values.containsKey(place); }

    void put(int place, byte[] value) {
        values.put(place, value);
        withdrawn.clear(place);
        bytes += bytes(value.length);
    }

    /** Takes the value of a place back, which waits no longer. */
    void withdraw(int place) {
        byte[] value = values.remove(place);
        if (value != null) { bytes -= bytes(value.length); }
        withdrawn.set(place);
    }

    boolean isEmpty() { return values.isEmpty(); }

    boolean isComplete() { return values.size() == count; }

    /** Notes that a place has got all values; whether all places have now. */
    boolean take(int place) {
        taken.set(place);
        return taken.cardinality() == count;
    }

    /** The places that have never come, as text; the first of them if there are many. */
    byte[] missing() {
        int missing = count - values.size() - withdrawn.cardinality();
        if (missing == 0) { return "none, but some wait no longer".getBytes(StandardCharsets.UTF_8); }
        String first = IntStream.range(0, count).filter(place -> !has(place) && !withdrawn.get(place)).limit(MAX_NAMED)
                .mapToObj(Integer::toString).collect(Collectors.joining(", "));
        return (first + (missing > MAX_NAMED ? " and " + (missing - MAX_NAMED) + " more" : ""))
                .getBytes(StandardCharsets.UTF_8);
    }

    /** {@return for each place the length of its value in 4 bytes, and the value} */
    byte[] encoded() {
        int length = values.values().stream().mapToInt(value -> Integer.BYTES + value.length).sum();
        ByteBuffer all = ByteBuffer.allocate(length);
        values.values().forEach(value -> all.putInt(value.length).put(value));
        return all.array();
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
