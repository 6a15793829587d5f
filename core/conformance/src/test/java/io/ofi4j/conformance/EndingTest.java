package io.ofi4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said of a process that has ended. */
class EndingTest {
    private static final String OPTIONS = "Picked up JAVA_TOOL_OPTIONS: -Dio.ofi4j.library=libfabric.so.1";

    @Test
    void whatAProcessPrintedIsNoReasonWhereItEndedWell() {
        assertThat(Ending.of(0, List.of(OPTIONS, "a warning of the provider"))).isEqualTo("exit status 0");
    }

    @Test
    void theFirstLineThatIsNotOfTheJvmIsTheReasonOtherwise() {
        assertThat(Ending.of(1, List.of(OPTIONS, "", "Exception in thread main")))
                .isEqualTo("exit status 1: Exception in thread main");
    }

    /** As the kernel does where memory is short. */
    @Test
    void aKillIsThatOfTheMachine() {
        assertThat(Ending.of(137, List.of(OPTIONS))).startsWith("signal 9: this machine killed the process");
    }

    @Test
    void aSignalIsNamedWithItsFunction() {
        assertThat(Ending.of(134, List.of(OPTIONS, "#  SIGSEGV (0xb) at pc=0x1", "# C  [libfabric.so.1+0x12]  f+0x1")))
                .isEqualTo("SIGSEGV in f of libfabric.so.1");
    }
}
