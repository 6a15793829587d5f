package io.ofi4j.internal.engine;

import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.internal.ffi.AtomicOps;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/** The largest number of elements of each atomic operation of an endpoint. The provider is asked once. */
public final class AtomicLimits {
    private static final AtomicOperation[] OPERATIONS = AtomicOperation.values();
    private static final Datatype[] DATATYPES = Datatype.values();
    private static final Set<Datatype> LONGS = EnumSet.of(Datatype.INT64, Datatype.UINT64);
    private static final Set<Datatype> FLOATS = EnumSet.of(Datatype.FLOAT, Datatype.DOUBLE);
    private static final Set<Datatype> WIDE_INTEGERS = EnumSet.of(Datatype.INT128, Datatype.UINT128);
    private static final Set<AtomicOperation> COPIES = EnumSet.of(AtomicOperation.ATOMIC_READ,
            AtomicOperation.ATOMIC_WRITE);

    private final String provider;
    private final String copiesOnly;
    private final String noFloats;
    private final String noWideIntegers;
    private final String noReads;
    private final long[] maxCounts = new long[AtomicForm.values().length * DATATYPES.length * OPERATIONS.length];

    /** {@return the call of a form} */
    public static String call(AtomicForm form) {
        return switch (form) {
            case EXECUTE -> "fi_atomic";
            case FETCH -> "fi_fetch_atomic";
            case COMPARE -> "fi_compare_atomic";
        };
    }

    /** {@return the call with a struct and flags, or that with vectors} */
    public static String call(AtomicForm form, boolean hasFlags) {
        return switch (form) {
            case EXECUTE -> hasFlags ? "fi_atomicmsg" : "fi_atomicv";
            case FETCH -> hasFlags ? "fi_fetch_atomicmsg" : "fi_fetch_atomicv";
            case COMPARE -> hasFlags ? "fi_compare_atomicmsg" : "fi_compare_atomicv";
        };
    }

    /**
     * @param copiesOnly why all but reads and writes of integers of 64 bits is refused, or null
     * @param noFloats why FLOAT and DOUBLE are refused, or null
     * @param noWideIntegers why integers of 128 bits are refused, or null
     * @param noReads why ATOMIC_READ is refused, or null
     */
    public AtomicLimits(AtomicOps ops, String copiesOnly, String noFloats, String noWideIntegers, String noReads,
            String provider) {
        this.copiesOnly = copiesOnly;
        this.noFloats = noFloats;
        this.noWideIntegers = noWideIntegers;
        this.noReads = noReads;
        this.provider = provider;
        for (Datatype datatype : DATATYPES) {
            for (AtomicOperation operation : OPERATIONS) {
                boolean isRefused = quirk(operation, datatype) != null;
                for (AtomicForm form : AtomicForm.values()) {
                    maxCounts[index(form, operation, datatype)] = isRefused ? 0 : query(ops, form, operation, datatype);
                }
            }
        }
    }

    /** Why the quirks refuse an operation; null where they do not. */
    private String quirk(AtomicOperation operation, Datatype datatype) {
        if (copiesOnly != null && !(LONGS.contains(datatype) && COPIES.contains(operation))) { return copiesOnly; }
        if (operation == AtomicOperation.ATOMIC_READ && noReads != null) { return noReads; }
        if (FLOATS.contains(datatype)) { return noFloats; }
        return WIDE_INTEGERS.contains(datatype) ? noWideIntegers : null;
    }

    private static long query(AtomicOps ops, AtomicForm form, AtomicOperation operation, Datatype datatype) {
        return switch (form) {
            case EXECUTE -> ops.fi_atomicvalid(datatype.value(), operation.value());
            case FETCH -> ops.fi_fetch_atomicvalid(datatype.value(), operation.value());
            case COMPARE -> ops.fi_compare_atomicvalid(datatype.value(), operation.value());
        };
    }

    private static int index(AtomicForm form, AtomicOperation operation, Datatype datatype) {
        return (form.ordinal() * DATATYPES.length + datatype.ordinal()) * OPERATIONS.length + operation.ordinal();
    }

    /** Whether there is any operation. */
    public boolean isEmpty() {
        return Arrays.stream(maxCounts).allMatch(count -> count == 0);
    }

    /** The largest number of elements; 0 where the provider does not have the operation. */
    public long maxCount(AtomicForm form, AtomicOperation operation, Datatype datatype) {
        return maxCounts[index(form, operation, datatype)];
    }

    /**
     * The length in bytes of a number of elements.
     *
     * @throws UnsupportedOperationException if the provider does not have the operation
     * @throws IllegalArgumentException if there are too few elements, or too many
     */
    public long bytes(AtomicForm form, AtomicOperation operation, Datatype datatype, long count) {
        if (count < 1 || count > maxCounts[index(form, operation, datatype)]) {
            throw refusal(form, operation, datatype, count);
        }
        return count * datatype.size();
    }

    private RuntimeException refusal(AtomicForm form, AtomicOperation operation, Datatype datatype, long count) {
        String what = call(form) + " with " + operation + " of " + datatype;
        long limit = maxCount(form, operation, datatype);
        if (limit > 0) {
            return new IllegalArgumentException(
                    what + " takes 1 to " + limit + " elements on provider " + provider + ", not " + count);
        }
        String quirk = quirk(operation, datatype);
        if (quirk != null) { return new UnsupportedOperationException(what + ": " + quirk); }
        for (AtomicForm other : AtomicForm.values()) {
            if (maxCount(other, operation, datatype) > 0) {
                return new UnsupportedOperationException(
                        what + " is not offered by the provider " + provider + "; " + call(other) + " is");
            }
        }
        return new UnsupportedOperationException(what + " is not offered by the provider " + provider
                + ", nor in another form: ask valid(...), or use another provider");
    }
}
