package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.errors.FabricException;
import io.ofi4j.job.PeerHello;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** What a loop does where another of its process has ended, or there is no memory. */
class FabricLoopTest {
    private static final int SLOT = 64;

    /** Over shm, where operations to an endpoint of this process are refused once it is closed. */
    @Test
    void aSendToALoopOfThisProcessThatHasClosedIsTheChannelsFailure() {
        try (FabricLoop near = FabricLoop.open(TestProviders.hints("shm"))) {
            LoopPeer peer;
            try (FabricLoop far = FabricLoop.open(TestProviders.hints("shm"))) {
                PeerHello hello = far.hello(new Frames.Target(1, 2));
                peer = near.reach(hello.address(), new byte[0]);
            }

            assertThatThrownBy(() -> near.send(null, peer, near.takeSlot(null, peer), Frames.HEADER))
                    .isInstanceOf(IOException.class).hasMessageContaining("cannot be reached");
        }
    }

    @Test
    void slotsThatCannotGrowAreThoseThatThereAre() {
        try (Pair pair = new Pair(TestProviders.hints("shm"))) {
            Queue<MemoryRegion> memory = new ArrayDeque<>(
                    List.of(pair.domain.allocate(Slots.BLOCK * SLOT, Access.SEND)));
            Slots slots = new Slots(SLOT, 2, () -> {
                if (memory.isEmpty()) { throw noMemory(); }
                return memory.remove();
            });
            for (int i = 0; i < Slots.BLOCK; i++) {
                assertThat(slots.take()).isBetween(0, Slots.BLOCK - 1);
            }

            assertThat(slots.take()).isEqualTo(Slots.NONE);
            slots.give(7);
            assertThat(slots.take()).isEqualTo(7);
            slots.region(0).close();
        }
    }

    @Test
    void slotsWithoutAnyMemoryAreRefused() {
        Slots slots = new Slots(SLOT, 2, () -> {
            throw noMemory();
        });

        assertThatThrownBy(slots::take).isInstanceOf(FabricException.class);
    }

    private static FabricException noMemory() { return new FabricException("there is no memory", "fi_mr_reg", 12); }
}
