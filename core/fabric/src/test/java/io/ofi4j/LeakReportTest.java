package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** What was never closed is reported with where it was opened, if somebody asks. */
@Tag("gate")
@Tag("once")
@Timeout(900)
class LeakReportTest {
    private static final List<String> OPEN = List.of("Fabric ", "Domain ", "CompletionQueue of ", "AddressVector of ",
            "Endpoint RDM of ", "MemoryRegion of 4096 bytes");

    private static Forked.Result run(String provider, String what, String... options) {
        String[] arguments = new String[options.length + 2];
        System.arraycopy(options, 0, arguments, 0, options.length);
        arguments[options.length] = provider;
        arguments[options.length + 1] = what;
        Class<?> program;
        try {
            program = Class.forName("io.ofi4j.programs.Leaky");
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
        Forked.Result result = Forked.run(program, arguments);
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("done");
        return result;
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatIsOpenAsTheProcessEndsIsReportedInTheOrderOfOpening(String provider) {
        for (String how : List.of("report", "print")) {
            String output = run(provider, "hold", "-Dio.ofi4j.leaks=" + how).output();

            assertThat(output.lines().filter(line -> line.contains("is open as the process ends")))
                    .hasSize(OPEN.size());
            OPEN.forEach(
                    one -> assertThat(output).containsPattern(one + ".* is open as the process ends; thread 'main'"));
            assertThat(output).containsSubsequence("Fabric ", "Domain ", "CompletionQueue ", "MemoryRegion ");
            assertThat(output)
                    .containsPattern("Endpoint RDM.*\\R\tat io.ofi4j.programs.Leaky.openEndpoint\\(Leaky.java:")
                    .doesNotContain("8192").doesNotContain("at io.ofi4j.Domain");
            assertThat(output.contains("WARNING:")).as("whether it went through the logger")
                    .isEqualTo(how.equals("report"));
        }
    }

    @Test
    void objectsOfEveryKindAreReported() {
        List<String> others = List.of("Fabric ", "Domain ", "EventQueue of ", "PassiveEndpoint of ", "Counter of ",
                "ProgressThread of ", "MemoryRegion of 4096 bytes");

        String output = run("sockets", "hold others", "-Dio.ofi4j.leaks=print").output();

        assertThat(output.lines().filter(line -> line.contains("is open as the process ends"))).hasSize(others.size());
        others.forEach(one -> assertThat(output)
                .containsPattern(one + ".* is open as the process ends; thread 'main' opened it\\R\tat"
                        + " io.ofi4j.programs.Leaky.openOthers\\("));
    }

    @Test
    void aTreeThatNothingRefersToIsReported() {
        String output = run("tcp;ofi_rxm", "drop", "-Dio.ofi4j.leaks=report").output();

        assertThat(output).contains("gone: true");
        OPEN.forEach(one -> assertThat(output)
                .containsPattern(one + ".* was never closed, and nothing refers to it any more; thread 'main'"));
        assertThat(output).doesNotContain("as the process ends");
    }

    @Test
    void aRefusedCloseSaysWhereWhatIsOpenWasOpened() {
        assertThat(run("shm", "refuse", "-Dio.ofi4j.leaks=print").output())
                .containsPattern("refused: close these before Fabric shm of shm: Domain shm of shm opened at"
                        + " io.ofi4j.programs.Leaky.openTree\\(Leaky.java:");
        assertThat(run("shm", "refuse").output())
                .containsPattern("refused: close these before Fabric shm of shm: Domain shm of shm\\R");
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatIsClosedIsNotReported(String provider) {
        assertThat(run(provider, "close", "-Dio.ofi4j.leaks=print").output()).doesNotContain("opened it");
    }

    @Test
    void nothingIsReportedUnlessAskedFor() {
        assertThat(run("shm", "hold").output().strip()).isEqualTo("done");
        assertThat(run("shm", "hold", "-Dio.ofi4j.leaks=no").output().strip()).isEqualTo("done");
    }

    @Test
    void theLibraryWorksOnARuntimeWithoutFlightRecorderAndLoggers() {
        String output = run("shm", "close", "--limit-modules=java.base", "-Dio.ofi4j.leaks=report").output();

        assertThat(output).contains("Endpoint RDM of shm MemoryRegion of 64 bytes").doesNotContain("opened it");
        assertThat(run("shm", "hold", "--limit-modules=java.base", "-Dio.ofi4j.leaks=report").output())
                .contains("Endpoint RDM of shm is open as the process ends");
    }
}
