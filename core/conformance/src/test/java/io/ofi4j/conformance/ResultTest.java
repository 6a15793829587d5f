package io.ofi4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.FabricException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the end of a trial shows. */
class ResultTest {
    @Test
    void whatThisMachineLacksIsNotTheProvidersFault() {
        assertThat(Result.outcome(new FabricException("too many open files", "fi_eq_open", 24)))
                .isEqualTo(Outcome.UNTRIED);
        assertThat(Result.outcome(new OutOfMemoryError())).isEqualTo(Outcome.UNTRIED);
        assertThat(Result.outcome(new NoSuchFileException("/tmp/file"))).isEqualTo(Outcome.UNTRIED);
        assertThat(Result.outcome(new FarEnded(JavaProcess.KILLED))).isEqualTo(Outcome.UNTRIED);
        assertThat(Result.outcome(new FarEnded("SIGSEGV in f of libfabric.so.1"))).isEqualTo(Outcome.ENDED);
    }

    @Test
    void whatDoesNotComeHangs() {
        assertThat(Result.outcome(new Absent("a completion", Duration.ofSeconds(1)))).isEqualTo(Outcome.HUNG);
    }
}
