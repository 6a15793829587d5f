package io.ofi4j.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random programs of collective operations, in a JVM of its own; see {@link CollectiveProgram}.
 * {@code -Dofi4j.model.programs=N} runs so many, {@code -Dofi4j.model.seed=N} from that one on.
 */
@Tag("gate")
class CollectiveProgramTest {
    private static final long FIRST_SEED = Long.getLong("ofi4j.model.seed", 1);
    private static final long PROGRAMS = Long.getLong("ofi4j.model.programs", 20);
    private static final int LEAST = 10;

    @Test
    void everyResultIsRightAndEveryTokenComesBackOnce() {
        Forked.Result result = Forked.start(CollectiveProgram.class, Long.toString(FIRST_SEED), Long.toString(PROGRAMS))
                .await(120 + PROGRAMS);

        assertThat(result.exit()).as(result.output()).isZero();
        String last = result.output().lines().filter(line -> line.startsWith("operations ")).findFirst().orElseThrow();
        assertThat(Integer.parseInt(last.substring("operations ".length()))).isGreaterThan((int) PROGRAMS * LEAST);
    }
}
