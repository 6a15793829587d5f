package io.ofi4j.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts other processes of this program: the same runtime, modules and settings. */
final class Programs {
    /** The folder where a JVM that dies says why. */
    static final String LOGS = "ofi4j.device.logs";

    private Programs() {}

    static ProcessBuilder java(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        for (String word : Files.readString(Path.of("/proc/self/cmdline")).split("\0")) {
            if (word.startsWith(Programs.class.getPackageName())) { break; } // this process's main class
            command.add(word);
        }
        String logs = System.getProperty(LOGS, ".");
        command.addAll(List.of("-D" + LOGS + "=" + logs, "-XX:ErrorFile=" + logs + "/hs_err_%p.log",
                "-XX:-CreateCoredumpOnCrash", main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }
}
