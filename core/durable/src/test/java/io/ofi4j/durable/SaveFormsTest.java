package io.ofi4j.durable;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.Access;
import io.ofi4j.Atomics;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Saves of atomic operations, and saves that tell the owner. */
@Timeout(600)
class SaveFormsTest {
    private static final int LENGTH = 1 << 16;
    private static final int BLOCK = 4096;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(Path.of("target", "save-forms-test-" + System.nanoTime()), new byte[LENGTH]);
    }

    @AfterEach
    void delete() throws IOException { Files.delete(file); }

    static Stream<String> unconnectedAtomics() {
        return TestProviders.atomics().filter(provider -> !provider.startsWith("MSG "));
    }

    /** One sum is fetched, and its completion says that the target is changed; the others may be on their way. */
    @ParameterizedTest
    @MethodSource("unconnectedAtomics")
    void atomicOperationsAreSavedToo(String provider) throws IOException {
        FabricHints hints = TestProviders.atomicHints(provider).capabilities(Capability.ATOMIC, Capability.RMA,
                Capability.MSG);
        try (Saving pair = new Saving(hints);
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_READ,
                        Access.REMOTE_WRITE);
                MemoryRegion operand = pair.domain.allocate(64, Access.READ, Access.WRITE)) {
            Atomics atomics = pair.endpoint.atomics();
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            operand.segment().set(JAVA_LONG, 0, 1);
            for (int round = 1; round <= 5; round++) {
                for (int one = 0; one < 20; one++) {
                    atomics.execute(AtomicOperation.SUM, Datatype.INT64, operand.slice(0, 8), pair.far, target.remote(),
                            1);
                }
                atomics.fetch(AtomicOperation.SUM, Datatype.INT64, operand.slice(0, 8), operand.slice(8, 8), pair.far,
                        target.remote().slice(8, 8), 2);
                pair.saver.save(pair.far, target.remote().slice(0, 64), Durability.POWER_SAFE, 100 + round);
                pair.await(100 + round);
                assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(20 * round);
                assertThat(target.segment().get(JAVA_LONG, 8)).isEqualTo(round);
            }
        }
    }

    @Test
    void withoutRemoteMemoryAccessAtomicOperationsHaveNoSaves() {
        try (Pair pair = new Pair(
                TestProviders.atomicHints("tcp;ofi_rxm").capabilities(Capability.ATOMIC, Capability.MSG))) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> new Saver(pair.domain, pair.endpoint, pair.queue))
                    .withMessageContaining("Capability.RMA");
        }
    }

    /** The owner learns from its queue that bytes last, once for each save that asks for it. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSaveWithDataTellsTheOwner(String provider) throws IOException {
        List<Long> told = new ArrayList<>();
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion source = pair.domain.allocate(BLOCK, Access.WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            RemoteRegion saved = target.remote().slice(BLOCK, BLOCK);
            for (int round = 1; round <= 5; round++) {
                source.segment().fill((byte) round);
                pair.rma().write(source.slice(0, BLOCK), pair.far, target.remote().slice(BLOCK, BLOCK), 1);
                pair.saver.save(pair.far, saved, Durability.POWER_SAFE, OptionalLong.of(40 + round), 100 + round);
                int wanted = round;
                Waiting.YIELD.until(() -> {
                    pair.pollNear();
                    pair.service.progress();
                    pair.pair.farQueue.poll((token, flags, length, data) -> {
                        if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) { told.add(data); }
                    }, 8);
                    return told.size() == wanted && pair.completed.contains(100L + wanted);
                }, Pair.DEADLINE);
                assertThat(target.segment().get(JAVA_BYTE, 2 * BLOCK - 1)).isEqualTo((byte) round);
            }
            pair.saver.save(pair.far, saved, Durability.POWER_SAFE, 200);
            pair.await(200);
        }
        assertThat(told).containsExactly(41L, 42L, 43L, 44L, 45L);
    }

    @Test
    void aSaveThatWouldTellWhatCannotLastIsRefused() {
        try (Saving pair = new Saving(Saving.hints("shm"));
                MemoryRegion plain = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(
                    () -> pair.saver.save(pair.far, plain.remote(), Durability.POWER_SAFE, OptionalLong.of(1), 1))
                    .withMessageContaining("ANONYMOUS");
            assertThat(pair.service.answered()).isZero();
        }
    }
}
