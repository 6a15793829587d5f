package io.ofi4j.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.MemoryKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long bytes can last depends on where they are. */
class DurabilityTest {
    @ParameterizedTest
    @CsvSource({"ANONYMOUS, DELIVERED", "DEVICE, DELIVERED", "MEMORY_FILE, PROCESS_SAFE", "FILE, POWER_SAFE",
            "PERSISTENT, POWER_SAFE"})
    void aKindOfMemoryHasAHighestLevel(MemoryKind kind, Durability highest) {
        assertThat(Durability.of(kind)).isEqualTo(highest);
    }

    @Test
    void aHigherLevelMeetsALowerOne() {
        assertThat(Durability.POWER_SAFE.meets(Durability.DELIVERED)).isTrue();
        assertThat(Durability.DELIVERED.meets(Durability.PROCESS_SAFE)).isFalse();
    }
}
