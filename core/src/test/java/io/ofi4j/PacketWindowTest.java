package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads and writes of many packets, which ofi_rxd mixes up for good if they are posted in an unlucky order. */
@Timeout(240)
class PacketWindowTest {
    private static final String PROVIDER = "udp;ofi_rxd";
    /** Thousands of packets; the provider sends 128 before it waits. */
    private static final int LARGE = 4_000_000;
    private static final int READS = 4;
    private static final int WINDOW = 8;
    private static final int OPERATIONS = 300;
    private static final int LENGTH = 300_000;

    /** The reads wait for the connection, and then for each other. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void aLargeWriteBehindReads(int polls) {
        try (Pair pair = new Pair(PROVIDER);
                MemoryRegion here = pair.domain.allocate(LARGE, Access.WRITE, Access.READ);
                MemoryRegion there = pair.domain.allocate(LARGE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            for (int token = 1; token <= READS; token++) {
                pair.rma().read(here, 0, 8, pair.far, there.remote(), 0, token);
            }
            for (int poll = 0; poll < polls; poll++) {
                if (poll % 2 == 0) {
                    pair.pollNear();
                } else {
                    pair.farQueue.progress();
                }
            }
            pair.rma().write(here, 0, LARGE, pair.far, there.remote(), 0, READS + 1);
            pair.awaitCompletions(READS + 1);
            assertThat(pair.errors).isEmpty();
        }
    }

    @Test
    void aLargeWriteWaitsForReadsAndASmallOneDoesNot() {
        try (Pair pair = new Pair(PROVIDER);
                MemoryRegion here = pair.domain.allocate(LENGTH, Access.WRITE, Access.READ);
                MemoryRegion there = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            RmaMessage message = pair.rma().message().peer(pair.far).local(here, 0, LENGTH).remote(there.remote(), 0,
                    LENGTH);
            pair.rma().read(here, 0, 8, pair.far, there.remote(), 0, 1);

            assertThat(pair.rma().tryWrite(here, 0, LENGTH, pair.far, there.remote(), 0, 2)).isFalse();
            assertThat(pair.rma().tryWriteData(here, 0, LENGTH, 1, pair.far, there.remote(), 0, 2)).isFalse();
            assertThat(message.tryWrite(2)).isFalse();
            assertThat(pair.rma().tryWrite(here, 0, 8, pair.far, there.remote(), 0, 3)).isTrue();

            pair.awaitCompletions(2);
            assertThat(message.tryWrite(2)).isTrue();
            assertThat(pair.rma().tryWrite(here, 0, LENGTH, pair.far, there.remote(), 0, 4)).isTrue();
            pair.awaitCompletions(4);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void readsAndWritesOfEverySizeInAnyOrder(long seed) {
        Random random = new Random(seed);
        try (Pair pair = new Pair(PROVIDER);
                MemoryRegion here = pair.domain.allocate(LENGTH, Access.WRITE, Access.READ);
                MemoryRegion there = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            for (int token = 0; token < OPERATIONS; token++) {
                int length = 1 + random.nextInt(random.nextInt(3) == 0 ? LENGTH : 2000);
                if (random.nextBoolean()) {
                    pair.rma().read(here, 0, length, pair.far, there.remote(), 0, token);
                } else {
                    pair.rma().write(here, 0, length, pair.far, there.remote(), 0, token);
                }
                if (token >= WINDOW) {
                    pair.awaitCompletions(token - random.nextInt(WINDOW));
                }
            }
            pair.awaitCompletions(OPERATIONS);
            assertThat(pair.errors).isEmpty();
        }
    }
}
