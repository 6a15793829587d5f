package io.ofi4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nulls in place of everything, everywhere in the public API; see {@link NullWalk}. In a JVM of its own. */
@Tag("once")
class NullWalkTest {
    private static final int MIN_REFUSALS = 150;

    @Test
    void everyNullIsRefusedByAnException() {
        Forked.Result result = Forked.run(NullWalk.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines().filter(line -> line.startsWith("taken: ")))
                .as("where null is taken, which stands in NullWalk.TAKEN").isEmpty();
        assertThat(result.output().lines().filter(line -> line.contains(" refused by ")).count())
                .isGreaterThan(MIN_REFUSALS);
    }
}
