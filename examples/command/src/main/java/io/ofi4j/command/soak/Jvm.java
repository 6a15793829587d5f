package io.ofi4j.command.soak;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Library;
import io.ofi4j.command.NativeAccess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** This command in a JVM of its own, with a heap so small that its growth does not hide another. */
final class Jvm {
    private Jvm() {}

    static Process start(List<String> arguments, UnaryOperator<ProcessBuilder> settings) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms64m", "-Xmx64m",
                        "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:-CreateCoredumpOnCrash",
                        "-XX:+DisplayVMOutputToStderr", NativeAccess.OPTION));
        Library.jvmOption().ifPresent(command::add);
        command.addAll(
                List.of("-p", System.getProperty("jdk.module.path"), "-m", "io.ofi4j.command/io.ofi4j.command.Ofi4j"));
        command.addAll(arguments);
        try {
            return settings.apply(new ProcessBuilder(command)).start();
        } catch (IOException e) {
            throw new CommandFailure("A second process cannot be started: " + e.getMessage(), e);
        }
    }
}
