package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Standard output that cannot be written, and numbers in it. */
@Tag("gate")
@Tag("once")
class OutputTest {
    private static Run run(String redirection, String command) {
        return Forked.Launch.USUAL.with("LC_ALL", "C").behind("sh", "-c", "exec \"$0\" \"$@\" " + redirection)
                .start(command.split(" ")).await();
    }

    @ParameterizedTest
    @ValueSource(strings = {"info -p shm", "info -e", "doctor", "doctor --json", "completion", "--version", "help perf",
            "perf write -p shm -S 8 -I 10 -w 1", "perf write -p shm -S 8 -I 10 -w 1 --json"})
    void aFullDiskIsSaid(String command) {
        Run run = run(">/dev/full", command);

        assertThat(run.err()).contains("Cannot write to the standard output: No space left on device");
        assertThat(run.exitCode()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"info -p shm", "perf write -p shm -S 8 -I 10 -w 1"})
    void aClosedOutputIsSaid(String command) {
        Run run = run(">&-", command);

        assertThat(run.err()).contains("Cannot write to the standard output");
        assertThat(run.exitCode()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "fa-IR", "de-DE"})
    void numbersAreEnglishInEveryLanguage(String language) {
        Locale locale = Locale.forLanguageTag(language);
        Run run = Forked
                .start(List.of("-Duser.language=" + locale.getLanguage(), "-Duser.country=" + locale.getCountry()),
                        "perf write -p shm -S 8 -I 10 -w 1".split(" "))
                .await();

        assertThat(run.out()).contains("window 1, threads 1").containsPattern("\\n +8 +10 +[0-9]+\\.[0-9]");
    }

    /** As with other commands, whom SIGPIPE ends. */
    @ParameterizedTest
    @ValueSource(strings = {"info -e", "perf write -p shm -S 8,16 -I 10 -w 1"})
    void aReaderThatEndsIsToldNothing(String command) {
        Run run = Forked.Launch.USUAL.with("LC_ALL", "C")
                .behind("bash", "-c", "\"$0\" \"$@\" | true; exit ${PIPESTATUS[0]}").start(command.split(" ")).await();

        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(141);
    }
}
