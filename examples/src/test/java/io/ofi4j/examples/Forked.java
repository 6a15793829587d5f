package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The command in a process of its own, with stdout and stderr in files; every wait has a deadline. */
public final class Forked implements AutoCloseable {
    private static final int DEADLINE_SECONDS = 30;

    private final Path out;
    private final Path err;
    private final Process process;

    private Forked(List<String> jvmOptions, List<String> arguments) throws IOException {
        out = Files.createTempFile("ofi4j", ".out");
        err = Files.createTempFile("ofi4j", ".err");
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
                        "-Xmx128m", "--enable-native-access=io.ofi4j,io.ofi4j.bindings", "-p",
                        System.getProperty("jdk.module.path")));
        command.addAll(jvmOptions);
        command.addAll(List.of("-m", "io.ofi4j.examples/io.ofi4j.examples.Ofi4j"));
        command.addAll(arguments);
        process = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    }

    /** Starts the command. */
    public static Forked start(String... arguments) {
        return start(List.of(), arguments);
    }

    /** Starts the command in a JVM with these options. */
    public static Forked start(List<String> jvmOptions, String... arguments) {
        try {
            return new Forked(jvmOptions, Arrays.asList(arguments));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a server at a free port, and waits until it listens. */
    public static Forked server(String... arguments) {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        all.addAll(List.of("--server", "-B", "0"));
        Forked server = start(all.toArray(String[]::new));
        server.awaitOutput("serving");
        return server;
    }

    /** {@return the port that it says it listens on} */
    public String port() {
        String line = read(out).lines().findFirst().orElseThrow();
        return line.replaceFirst("serving \\w+ at [\\d.]+:(\\d+): .*", "$1");
    }

    /** Waits until stdout has this text. */
    public void awaitOutput(String text) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!read(out).contains(text)) {
            assertThat(process.isAlive()).as(read(err)).isTrue();
            assertThat(System.nanoTime()).as("no '" + text + "' in: " + read(out)).isLessThan(end);
            sleep();
        }
    }

    /** {@return how it ended} */
    public Run await() {
        return await(DEADLINE_SECONDS);
    }

    /** {@return how it ended, which may take so long} */
    public Run await(int seconds) {
        try {
            assertThat(process.waitFor(seconds, TimeUnit.SECONDS)).as(read(out) + read(err)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new Run(process.exitValue(), read(out), read(err));
    }

    /** {@return the process} */
    public Process process() {
        return process;
    }

    private static void sleep() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            Files.delete(out);
            Files.delete(err);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
