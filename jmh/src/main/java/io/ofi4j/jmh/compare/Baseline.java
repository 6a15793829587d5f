package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** The C side, compiled by this machine's compiler against this machine's headers. */
final class Baseline implements AutoCloseable {
    /** How it is compiled. */
    static final List<String> OPTIONS = List.of("-O2", "-std=gnu11");

    private static final List<String> SOURCES = List.of("main.c", "world.c", "work.c", "messages.c", "exchange.c",
            "crowd.c", "growth.c", "crew.c", "cold.c", "figures.c");
    private static final String HEADER = "baseline.h";
    private static final String BINARY = "baseline";

    private final Path folder;

    private Baseline(Path folder) { this.folder = folder; }

    /** Compiles it; the sources are in the jar. */
    static Baseline compile() {
        try {
            Baseline baseline = new Baseline(Files.createTempDirectory("ofi4j-bench"));
            try {
                baseline.extract();
                baseline.build();
                return baseline;
            } catch (IOException | RuntimeException e) {
                baseline.close();
                throw e;
            }
        } catch (IOException e) {
            throw new BenchFailure("the C baseline cannot be compiled: " + e.getMessage(), e);
        }
    }

    /** {@return the name and version of the compiler} */
    static String compilerVersion() {
        try {
            Process process = new ProcessBuilder(compiler(), "--version").redirectErrorStream(true).start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().findFirst()
                    .orElse(compiler());
        } catch (IOException e) {
            return compiler();
        }
    }

    private static String compiler() {
        return Optional.ofNullable(System.getenv("CC")).filter(name -> !name.isBlank()).orElse("cc");
    }

    private void extract() throws IOException {
        for (String name : Stream.concat(SOURCES.stream(), Stream.of(HEADER)).toList()) {
            try (InputStream source = Objects.requireNonNull(Baseline.class.getResourceAsStream(name), name)) {
                Files.copy(source, folder.resolve(name));
            }
        }
    }

    private void build() throws IOException {
        List<String> command = new ArrayList<>(List.of(compiler()));
        command.addAll(OPTIONS);
        command.addAll(List.of("-o", BINARY));
        command.addAll(SOURCES);
        command.addAll(List.of("-lfabric", "-lpthread"));
        Process process;
        try {
            process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new BenchFailure("there is no C compiler called '" + compiler() + "': install gcc, or name one in CC",
                    e);
        }
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (exitCode(process) != 0) {
            String error = said.lines().filter(line -> line.contains("error")).findFirst().orElse(said.strip());
            throw new BenchFailure("the C baseline does not compile: " + error
                    + (said.contains("rdma/") ? "; install libfabric-dev" : ""));
        }
    }

    private static int exitCode(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted", e);
        }
    }

    /**
     * {@return the words that start the program}
     *
     * @param alone without a second thread, as a JVM has them
     * @param ordered with an order of one-sided operations asked for
     */
    List<String> command(boolean alone, boolean ordered) {
        List<String> words = new ArrayList<>(List.of(folder.resolve(BINARY).toString()));
        if (alone) { words.add("alone"); }
        if (ordered) { words.add("ordered"); }
        return words;
    }

    /** {@return what memory takes on this machine, as text} */
    String figures() {
        try {
            Process process = new ProcessBuilder(folder.resolve(BINARY).toString(), "figures").start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (exitCode(process) != 0) { throw new BenchFailure("the C baseline cannot measure memory: " + said); }
            return said;
        } catch (IOException e) {
            throw new BenchFailure("the C baseline cannot be started: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new BenchFailure("cannot remove " + folder + ": " + e.getMessage(), e);
        }
    }
}
