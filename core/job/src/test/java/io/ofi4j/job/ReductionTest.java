package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.support.AtomicModel;
import io.ofi4j.support.TestSeed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each reduction gives what the model of atomic operations gives. */
@Tag("once")
class ReductionTest {
    private static final int COUNT = 200;
    private static final Set<AtomicOperation> BITWISE = EnumSet.of(AtomicOperation.BOR, AtomicOperation.BAND,
            AtomicOperation.BXOR);
    private static final Set<AtomicOperation> ORDERED = EnumSet.of(AtomicOperation.MIN, AtomicOperation.MAX);
    private static final Set<Datatype> TYPES = EnumSet.range(Datatype.INT8, Datatype.FLOAT_COMPLEX);

    static Stream<Arguments> reductions() {
        return EnumSet.range(AtomicOperation.MIN, AtomicOperation.BXOR).stream().flatMap(operation -> TYPES.stream()
                .filter(type -> exists(operation, type)).map(type -> Arguments.of(operation, type)));
    }

    private static boolean exists(AtomicOperation operation, Datatype type) {
        return switch (type) {
            case FLOAT, DOUBLE -> !BITWISE.contains(operation);
            case FLOAT_COMPLEX -> !BITWISE.contains(operation) && !ORDERED.contains(operation);
            default -> true;
        };
    }

    @ParameterizedTest
    @MethodSource("reductions")
    void elementsAreCombinedAsByTheAtomicOperation(AtomicOperation operation, Datatype type) {
        Random random = TestSeed.random(operation + " " + type);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate((long) COUNT * type.size());
            MemorySegment from = arena.allocate((long) COUNT * type.size());
            MemorySegment expected = arena.allocate((long) COUNT * type.size());
            for (int i = 0; i < COUNT; i++) {
                byte[] one = AtomicModel.random(type, random);
                byte[] other = AtomicModel.random(type, random);
                byte[] result = AtomicModel.apply(operation, type, one, other, one);
                MemorySegment.copy(one, 0, into, ValueLayout.JAVA_BYTE, (long) i * type.size(), one.length);
                MemorySegment.copy(other, 0, from, ValueLayout.JAVA_BYTE, (long) i * type.size(), other.length);
                MemorySegment.copy(result, 0, expected, ValueLayout.JAVA_BYTE, (long) i * type.size(), result.length);
            }
            Reduction.of(operation, type).combination().combine(into, from);

            for (int i = 0; i < COUNT; i++) {
                assertThat(AtomicModel.same(type, element(into, i, type), element(expected, i, type)))
                        .as("element %d", i).isTrue();
            }
        }
    }

    private static byte[] element(MemorySegment memory, int index, Datatype type) {
        return memory.asSlice((long) index * type.size(), type.size()).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void whatIsNoReductionIsRefused() {
        for (AtomicOperation operation : List.of(AtomicOperation.ATOMIC_READ, AtomicOperation.CSWAP,
                AtomicOperation.MSWAP)) {
            assertThatThrownBy(() -> Reduction.of(operation, Datatype.INT64))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("write it in Java");
        }
        assertThatThrownBy(() -> Reduction.of(AtomicOperation.BOR, Datatype.DOUBLE))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> Reduction.of(AtomicOperation.MIN, Datatype.FLOAT_COMPLEX))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> Reduction.of(AtomicOperation.SUM, Datatype.INT128))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> Reduction.of(0, (into, from) -> {}));
    }
}
