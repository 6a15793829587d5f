package io.ofi4j.conformance;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** What a trial states. What is not so is a {@link Wrong}, which says what came and what was expected. */
public final class Check {
    private Check() {}

    /**
     * States that two values are equal. Arrays are, if their elements are; a 1 is, whatever its type.
     *
     * @param what a noun for the value, such as "the result"
     */
    public static void equal(String what, Object came, Object expected) {
        if (!Arrays.deepEquals(new Object[]{widened(came)}, new Object[]{widened(expected)})) {
            throw new Wrong(what, text(came), text(expected));
        }
    }

    /**
     * States that something is so.
     *
     * @param what a sentence that is true, such as "the operation was canceled"
     */
    public static void holds(String what, boolean isSo) {
        if (!isSo) { throw new Wrong("'" + what + "'", "false", "true"); }
    }

    /**
     * States that there is nothing.
     *
     * @param what a noun, such as "the errors"
     */
    public static void none(String what, Collection<?> came) {
        if (!came.isEmpty()) { throw new Wrong(what, text(came), "none"); }
    }

    /**
     * {@return the only element}
     *
     * @param what a noun, such as "the errors"
     */
    public static <T> T single(String what, List<T> came) {
        if (came.size() != 1) { throw new Wrong(what, text(came), "one"); }
        return came.getFirst();
    }

    /**
     * {@return what the code throws, which is of this type}
     *
     * @param what a noun for the code, such as "a write to a peer that was removed"
     */
    public static <T extends Throwable> T thrown(String what, Class<T> type, Runnable code) {
        try {
            code.run();
        } catch (Throwable e) {
            if (type.isInstance(e)) { return type.cast(e); }
            throw new Wrong(what, e.toString(), type.getSimpleName());
        }
        throw new Wrong(what, "no exception", type.getSimpleName());
    }

    /**
     * States that memory has certain bytes.
     *
     * @param what a noun for the memory, such as "the target of a write"
     */
    public static void bytes(String what, MemorySegment came, MemorySegment expected) {
        long at = came.mismatch(expected);
        if (at >= 0) {
            throw new Wrong("byte " + at + " of " + what, text(came.get(ValueLayout.JAVA_BYTE, at)),
                    text(expected.get(ValueLayout.JAVA_BYTE, at)));
        }
    }

    private static Object widened(Object value) {
        return value instanceof Integer || value instanceof Byte ? ((Number) value).longValue() : value;
    }

    private static String text(Object value) {
        String quoted = Arrays.deepToString(new Object[]{value});
        return quoted.substring(1, quoted.length() - 1);
    }
}
