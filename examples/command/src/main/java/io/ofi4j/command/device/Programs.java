package io.ofi4j.command.device;

import io.ofi4j.conformance.JavaProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts other processes of this program: the same runtime, modules and settings, and both of the JVM's compilers. */
final class Programs {
    /** The folder where a JVM that dies says why. */
    static final String LOGS = "ofi4j.device.logs";

    private static final int SIGNALS = 128;
    private static final int REPORT_LINES = 20;

    private Programs() {}

    static ProcessBuilder java(Class<?> main, String... arguments) { return java(List.of(), main, List.of(arguments)); }

    /** With more options for the JVM; its own other processes have the properties of ofi4j among them, too. */
    static ProcessBuilder java(List<String> options, Class<?> main, List<String> arguments) {
        String logs = System.getProperty(LOGS, ".");
        List<String> all = new ArrayList<>(List.of("-D" + LOGS + "=" + logs, "-XX:-ErrorFileToStderr",
                "-XX:ErrorFile=" + logs + "/hs_err_%p.log", "-XX:TieredStopAtLevel=4"));
        all.addAll(options);
        return new ProcessBuilder(JavaProcess.command(all, main, arguments));
    }

    /** {@return how a process ended, as the end of a sentence} */
    static String end(Process process) {
        Path report = Path.of(System.getProperty(LOGS, "."), "hs_err_" + process.pid() + ".log");
        try (Stream<String> lines = Files.lines(report, StandardCharsets.ISO_8859_1)) {
            return "ended by " + lines.limit(REPORT_LINES).filter(line -> line.matches("# +(SIG.*|C +\\[.*|[JjVv] .*)"))
                    .map(line -> line.substring(1).strip()).collect(Collectors.joining(" in "));
        } catch (IOException e) {
            return process.exitValue() > SIGNALS
                    ? "ended by signal " + (process.exitValue() - SIGNALS)
                    : "ended with exit status " + process.exitValue();
        }
    }
}
