package io.ofi4j.jmh.compare;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process that obeys commands, one a line, and answers each with a line; {@code main.c} describes them. */
final class Worker implements AutoCloseable {
    /** Where a machine is emulated, {@code scripts/verbs} sets how many times as long it takes. */
    private static final int PATIENCE = Integer.parseInt(System.getenv().getOrDefault("OFI4J_PATIENCE", "1"));
    /** A side that hangs; on a busy machine an answer may take minutes. */
    private static final int ANSWER_SECONDS = 300 * PATIENCE;
    private static final int END_SECONDS = 10 * PATIENCE;
    private static final String GONE = "gone";

    private final String name;
    private final Path errors;
    private final Process process;
    private final BufferedWriter in;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Thread atExit = new Thread(this::kill);

    /**
     * Starts a worker.
     *
     * @param name what the user reads where it fails
     * @param command how it is started
     */
    Worker(String name, List<String> command) {
        this.name = name;
        try {
            errors = Files.createTempFile("ofi4j-bench", ".err");
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
            // As the Java side sets it for itself: both must run with the same.
            builder.environment().putIfAbsent("FI_MR_CACHE_MONITOR", "disabled");
            process = builder.start();
        } catch (IOException e) {
            throw new BenchFailure(name + " cannot be started: " + e.getMessage(), e);
        }
        Runtime.getRuntime().addShutdownHook(atExit);
        in = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().start(this::read);
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = out.readLine()) != null) {
                answers.add(line);
            }
        } catch (IOException e) {
            // as good as its end
        }
        answers.add(GONE);
    }

    /** Sends a command; {@link #receive} takes the answer. */
    void send(String command) {
        try {
            in.write(command);
            in.write('\n');
            in.flush();
        } catch (IOException e) {
            receive(); // it says why it ended
            throw new BenchFailure(name + " takes no commands: " + e.getMessage(), e);
        }
    }

    /** {@return the words of an answer, the first of which is "ok" or "absent"} */
    String[] receive() {
        try {
            String answer = answers.poll(ANSWER_SECONDS, TimeUnit.SECONDS);
            if (answer == null) { throw new BenchFailure(name + " has not answered within " + ANSWER_SECONDS + " s"); }
            if (answer.startsWith("error ")) {
                throw new BenchFailure(name + ": " + answer.substring("error ".length()));
            }
            if (answer.equals(GONE)) { throw new BenchFailure(name + " has ended unexpectedly" + lastWords()); }
            return answer.split(" ");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted", e);
        }
    }

    /** {@return the answer to a command} */
    String[] ask(String command) {
        send(command);
        return receive();
    }

    private String lastWords() {
        try {
            List<String> lines = Files.readAllLines(errors);
            return lines.isEmpty() ? "" : ": " + lines.getFirst();
        } catch (IOException e) {
            return "";
        }
    }

    private void kill() { process.destroy(); }

    /** Lets it close what it has open, and ends it where that takes too long. */
    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException e) {
            // it is gone already
        }
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) { process.destroyForcibly(); }
            Runtime.getRuntime().removeShutdownHook(atExit);
            Files.deleteIfExists(errors);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalStateException e) {
            // this process is ending, and its hooks end the worker
        }
    }
}
