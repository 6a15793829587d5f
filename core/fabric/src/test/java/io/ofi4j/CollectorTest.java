package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** The garbage collector moves and frees nothing that native code was given. */
@Tag("gate")
@Timeout(600)
class CollectorTest {
    private static final int ROUNDS = 200;
    private static final int COLLECTIONS = 3;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void registeredMemoryStaysWhereItIsWhileTheHeapIsCollected(String provider) {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            long here = source.segment().address();
            long there = target.segment().address();
            for (int round = 0; round < ROUNDS; round++) {
                source.segment().set(JAVA_LONG, 0, round);
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), round);
                if (round % (ROUNDS / COLLECTIONS) == 0) { System.gc(); }
                pair.awaitToken(round);
                long expected = round;
                Waiting.YIELD.until(() -> {
                    pair.poll();
                    return target.segment().get(JAVA_LONG, 0) == expected;
                }, Pair.DEADLINE);
            }
            assertThat(source.segment().address()).isEqualTo(here);
            assertThat(target.segment().address()).isEqualTo(there);
        }
    }

    @Test
    void memoryOfAnAutomaticArenaLivesAsLongAsItsRegion() {
        try (Pair pair = new Pair("shm");
                MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE);
                MemoryRegion source = pair.domain.register(forgotten(), Access.WRITE)) {
            WeakReference<Object> witness = new WeakReference<>(new Object());
            Waiting.YIELD.until(() -> {
                System.gc();
                return witness.get() == null;
            }, Pair.DEADLINE);

            pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
            pair.awaitToken(1);

            assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(42);
        }
    }

    private static MemorySegment forgotten() {
        MemorySegment memory = Arena.ofAuto().allocate(8, 8);
        memory.set(JAVA_LONG, 0, 42);
        return memory;
    }
}
