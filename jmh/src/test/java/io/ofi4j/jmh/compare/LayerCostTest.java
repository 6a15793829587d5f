package io.ofi4j.jmh.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/** Runs each kind of work for a moment. What it measures means nothing. */
class LayerCostTest {
    @ParameterizedTest
    @EnumSource(LayerCost.Work.class)
    void bothLayersAreTimed(LayerCost.Work work) {
        StringWriter printed = new StringWriter();
        CommandLine command = new CommandLine(new LayerCost()).setOut(new PrintWriter(printed));

        int status = command.execute("-w", work.name(), "--rounds", "3");

        assertThat(status).isZero();
        assertThat(printed.toString()).matches("libfabric [0-9.]+, shm, threading DOMAIN, progress MANUAL, window 1, "
                + work
                + " 8 B: bare [0-9.]+ ns, public API [0-9.]+ ns, difference -?[0-9.]+ ns, quartiles -?[0-9.]+ to -?[0-9.]+\\R");
    }

    @ParameterizedTest
    @CsvSource({"-p nonsense, 1, No provider 'nonsense'", "-w nonsense, 2, --work", "-t FID, 2, --threading",
            "--rounds 0, 2, --rounds"})
    void whatIsWrongIsOneSentence(String options, int status, String what) {
        StringWriter said = new StringWriter();
        CommandLine command = Bench.withSentences(new CommandLine(new LayerCost())).setErr(new PrintWriter(said));

        assertThat(command.execute(options.split(" "))).isEqualTo(status);
        assertThat(said.toString()).startsWith("bench: ").contains(what).hasLineCount(1);
    }
}
