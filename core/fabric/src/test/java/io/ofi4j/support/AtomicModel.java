package io.ofi4j.support;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;

/** What atomic operations do, as Java computes it: elements are bytes in the machine's order. */
public final class AtomicModel {
    private static final Set<Datatype> UNSIGNED = EnumSet.of(Datatype.UINT8, Datatype.UINT16, Datatype.UINT32,
            Datatype.UINT64, Datatype.UINT128);
    private static final Set<Datatype> FLOATING = EnumSet.of(Datatype.FLOAT, Datatype.DOUBLE);

    private AtomicModel() {}

    /** An element that is at a border, a neighbour of one, or random. */
    public static byte[] random(Datatype datatype, Random random) {
        ByteBuffer bytes = buffer(datatype.size());
        switch (datatype) {
            case FLOAT -> bytes.putFloat(small(random));
            case DOUBLE -> bytes.putDouble(small(random));
            case FLOAT_COMPLEX -> bytes.putFloat(small(random)).putFloat(small(random));
            default -> {
                byte[] any = new byte[datatype.size()];
                switch (random.nextInt(4)) {
                    case 0 -> any[0] = (byte) random.nextInt(3);
                    case 1 -> java.util.Arrays.fill(any, (byte) -1);
                    case 2 -> any[any.length - 1] = Byte.MIN_VALUE;
                    default -> random.nextBytes(any);
                }
                bytes.put(any);
            }
        }
        return bytes.array();
    }

    /** Sums and products are exact. */
    private static float small(Random random) { return random.nextInt(-8, 8) / 2f; }

    private static ByteBuffer buffer(int size) { return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder()); }

    /** What the target becomes. */
    public static byte[] apply(AtomicOperation operation, Datatype datatype, byte[] target, byte[] operand,
            byte[] comparand) {
        if (datatype == Datatype.FLOAT_COMPLEX) { return complex(operation, target, operand, comparand); }
        if (FLOATING.contains(datatype)) {
            double result = floating(operation, number(datatype, target), number(datatype, operand),
                    number(datatype, comparand));
            ByteBuffer bytes = buffer(datatype.size());
            return (datatype == Datatype.FLOAT ? bytes.putFloat((float) result) : bytes.putDouble(result)).array();
        }
        boolean signed = !UNSIGNED.contains(datatype);
        BigInteger result = integer(operation, integer(target, signed), integer(operand, signed),
                integer(comparand, signed));
        return bytes(result, datatype.size());
    }

    private static double number(Datatype datatype, byte[] element) {
        ByteBuffer bytes = ByteBuffer.wrap(element).order(ByteOrder.nativeOrder());
        return datatype == Datatype.FLOAT ? bytes.getFloat() : bytes.getDouble();
    }

    private static BigInteger integer(byte[] element, boolean signed) {
        byte[] bigEndian = turned(element);
        return signed ? new BigInteger(bigEndian) : new BigInteger(1, bigEndian);
    }

    private static byte[] bytes(BigInteger value, int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[size - 1 - i] = value.shiftRight(i * Byte.SIZE).byteValue();
        }
        return turned(bytes);
    }

    /** Between the machine's order and big-endian. */
    private static byte[] turned(byte[] element) {
        if (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN) { return element; }
        byte[] turned = new byte[element.length];
        for (int i = 0; i < element.length; i++) {
            turned[i] = element[element.length - 1 - i];
        }
        return turned;
    }

    private static BigInteger integer(AtomicOperation operation, BigInteger target, BigInteger operand,
            BigInteger comparand) {
        return switch (operation) {
            case MIN -> target.min(operand);
            case MAX -> target.max(operand);
            case SUM -> target.add(operand);
            case PROD -> target.multiply(operand);
            case DIFF -> target.subtract(operand);
            case BOR -> target.or(operand);
            case BAND -> target.and(operand);
            case BXOR -> target.xor(operand);
            case MSWAP -> operand.and(comparand).or(target.andNot(comparand));
            case LOR, LAND, LXOR ->
                BigInteger.valueOf(truth(operation, target.signum() != 0, operand.signum() != 0) ? 1 : 0);
            case ATOMIC_READ -> target;
            case ATOMIC_WRITE -> operand;
            default -> swaps(operation, comparand.compareTo(target)) ? operand : target;
        };
    }

    private static double floating(AtomicOperation operation, double target, double operand, double comparand) {
        return switch (operation) {
            case MIN -> operand < target ? operand : target;
            case MAX -> operand > target ? operand : target;
            case SUM -> target + operand;
            case PROD -> target * operand;
            case DIFF -> target - operand;
            case LOR, LAND, LXOR -> truth(operation, target != 0, operand != 0) ? 1 : 0;
            case ATOMIC_READ -> target;
            case ATOMIC_WRITE -> operand;
            default -> swaps(operation, comparand < target ? -1 : comparand > target ? 1 : 0) ? operand : target;
        };
    }

    private static byte[] complex(AtomicOperation operation, byte[] target, byte[] operand, byte[] comparand) {
        float[] t = parts(target);
        float[] o = parts(operand);
        float[] c = parts(comparand);
        boolean equal = c[0] == t[0] && c[1] == t[1];
        return switch (operation) {
            case SUM -> of(t[0] + o[0], t[1] + o[1]);
            case PROD -> of(t[0] * o[0] - t[1] * o[1], t[0] * o[1] + t[1] * o[0]);
            case LOR, LAND, LXOR -> of(truth(operation, t[0] != 0 || t[1] != 0, o[0] != 0 || o[1] != 0) ? 1 : 0, 0);
            case ATOMIC_READ -> target;
            case ATOMIC_WRITE -> operand;
            case CSWAP -> equal ? operand : target;
            case CSWAP_NE -> equal ? target : operand;
            default -> throw new AssertionError("complex numbers have no " + operation);
        };
    }

    private static float[] parts(byte[] element) {
        ByteBuffer bytes = ByteBuffer.wrap(element).order(ByteOrder.nativeOrder());
        return new float[]{bytes.getFloat(), bytes.getFloat()};
    }

    private static byte[] of(float real, float imaginary) {
        return buffer(8).putFloat(real + 0f).putFloat(imaginary + 0f).array();
    }

    private static boolean truth(AtomicOperation operation, boolean target, boolean operand) {
        return switch (operation) {
            case LOR -> target || operand;
            case LAND -> target && operand;
            default -> target ^ operand;
        };
    }

    /** How the comparand compares with the target. */
    private static boolean swaps(AtomicOperation operation, int order) {
        return switch (operation) {
            case CSWAP -> order == 0;
            case CSWAP_NE -> order != 0;
            case CSWAP_LE -> order <= 0;
            case CSWAP_LT -> order < 0;
            case CSWAP_GE -> order >= 0;
            case CSWAP_GT -> order > 0;
            default -> throw new AssertionError(operation + " is no swap");
        };
    }

    /** Whether two elements are the same value: 0 and -0 are. */
    public static boolean same(Datatype datatype, byte[] one, byte[] other) {
        if (datatype == Datatype.FLOAT_COMPLEX) {
            return parts(one)[0] == parts(other)[0] && parts(one)[1] == parts(other)[1];
        }
        return FLOATING.contains(datatype)
                ? number(datatype, one) == number(datatype, other)
                : java.util.Arrays.equals(one, other);
    }
}
