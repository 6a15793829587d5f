package io.ofi4j.device;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts other processes of this program: the same runtime, modules and settings. */
final class Programs {
    /** The folder where a JVM that dies says why. */
    static final String LOGS = "ofi4j.device.logs";

    private static final int SIGNALS = 128;
    private static final int REPORT_LINES = 20;

    private Programs() {}

    static ProcessBuilder java(Class<?> main, String... arguments) throws IOException {
        return java(List.of(), main, arguments);
    }

    /** With more options for the JVM, which its own other processes will have, too. */
    static ProcessBuilder java(List<String> options, Class<?> main, String... arguments) throws IOException {
        List<String> command = command(options);
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /** The main class of a module that is where this program's modules are. */
    static ProcessBuilder module(String module, String main, List<String> arguments) throws IOException {
        List<String> command = command(List.of("--add-modules=" + module,
                "--enable-native-access=ALL-UNNAMED,io.ofi4j,io.ofi4j.bindings," + module));
        command.addAll(List.of("-m", module + "/" + main));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    /** Java, with the options of this process and more. */
    private static List<String> command(List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        for (String word : Files.readString(Path.of("/proc/self/cmdline")).split("\0")) {
            if (word.startsWith(Programs.class.getPackageName())) { break; } // this process's main class
            command.add(word);
        }
        String logs = System.getProperty(LOGS, ".");
        command.addAll(List.of("-D" + LOGS + "=" + logs, "-XX:ErrorFile=" + logs + "/hs_err_%p.log",
                "-XX:-CreateCoredumpOnCrash", "-XX:+DisplayVMOutputToStderr"));
        command.addAll(options);
        return command;
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
