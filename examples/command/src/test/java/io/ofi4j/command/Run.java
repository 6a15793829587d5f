package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/**
 * What a command printed and how it ended.
 *
 * @param exitCode how it ended
 * @param out on stdout
 * @param err on stderr
 */
public record Run(int exitCode, String out, String err) {
    /** Runs a command in this process. */
    public static Run of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine command = Ofi4j.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        int exitCode = command.execute(arguments);
        return new Run(exitCode, out.toString(), err.toString());
    }

    /** {@return itself, having succeeded without a word on stderr} */
    public Run succeeded() {
        assertThat(exitCode).as(err).isZero();
        assertThat(err).isEmpty();
        return this;
    }

    /** Asserts that it failed with one line that has these words. */
    public void failed(int expectedExitCode, String... words) {
        assertThat(err).as("exit %d, and on stdout: %s", exitCode, out).contains(words).startsWith("ofi4j: ")
                .doesNotContain("\tat ");
        assertThat(err.strip().lines()).hasSize(1);
        assertThat(exitCode).isEqualTo(expectedExitCode);
    }

    /** {@return the lines of stdout} */
    public List<String> lines() { return out.lines().toList(); }
}
