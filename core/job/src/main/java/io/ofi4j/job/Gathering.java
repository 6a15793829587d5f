package io.ofi4j.job;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The values that a number of places bring to a rendezvous under one name, until each place has got all of them. Used
 * inside the server's monitor.
 */
final class Gathering {
    private static final int MAX_NAMED = 16;

    private final byte[][] values;
    private final BitSet taken = new BitSet();
    private int arrived;
    private int bytes;

    Gathering(int count) { values = new byte[count][]; }

    int count() { return values.length; }

    int bytes() { return bytes; }

    boolean has(int place) { return values[place] != null; }

    void put(int place, ByteBuffer value) {
        values[place] = new byte[value.remaining()];
        value.get(values[place]);
        bytes += values[place].length;
        arrived++;
    }

    boolean isComplete() { return arrived == values.length; }

    /** Notes that a place has got all values; whether all places have now. */
    boolean take(int place) {
        taken.set(place);
        return taken.cardinality() == values.length;
    }

    /** The places that have not come, as text; the first of them if there are many. */
    byte[] missing() {
        int count = values.length - arrived;
        String first = IntStream.range(0, values.length).filter(place -> !has(place)).limit(MAX_NAMED)
                .mapToObj(Integer::toString).collect(Collectors.joining(", "));
        return (first + (count > MAX_NAMED ? " and " + (count - MAX_NAMED) + " more" : ""))
                .getBytes(StandardCharsets.UTF_8);
    }

    /** {@return for each place the length of its value in 4 bytes, and the value} */
    byte[] encoded() {
        ByteBuffer all = ByteBuffer.allocate(bytes + values.length * Integer.BYTES);
        for (byte[] value : values) {
            all.putInt(value.length).put(value);
        }
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
