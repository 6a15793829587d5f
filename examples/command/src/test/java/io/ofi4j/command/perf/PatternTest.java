package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PatternTest {
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 7, 8, 9, 63, 64, 65, 100})
    void everyByteCounts(long size) {
        Layout layout = new Layout(size, 3);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(layout.length());
            Pattern.fill(memory, layout, 42);
            assertThat(Pattern.damaged(memory, layout, 42)).isZero();
            for (long at = 0; at < layout.length(); at++) {
                byte before = memory.get(ValueLayout.JAVA_BYTE, at);
                memory.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1));
                assertThat(Pattern.damaged(memory, layout, 42)).as("byte " + at).isPositive();
                memory.set(ValueLayout.JAVA_BYTE, at, before);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 8, 100})
    void whatHasNotArrivedIsSeen(long size) {
        Layout layout = new Layout(size, 200);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(layout.length());
            Pattern.clear(memory, layout);
            assertThat(Pattern.damaged(memory, layout, 7)).isEqualTo(200);
        }
    }
}
