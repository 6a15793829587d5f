package io.ofi4j.jmh.compare;

import java.nio.file.Path;
import java.util.List;

/** How a worker that is a JVM is started: as this one, with nothing but the defaults and what is asked for. */
final class Jvm {
    private Jvm() {}

    static List<String> command(Class<?> main, String... options) {
        List<String> command = new java.util.ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return command;
    }
}
