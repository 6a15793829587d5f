package io.ofi4j.command.soak;

import io.ofi4j.command.CommandFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The second process: a JVM of its own that owns the memory, told what to do line by line. */
final class TargetProcess implements AutoCloseable {
    private static final String END = "";

    private final Process process;
    private final OutputStream input;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Duration timeout;

    TargetProcess(List<String> arguments, Duration timeout) {
        this.timeout = timeout;
        process = Jvm.start(arguments, builder -> builder.redirectError(ProcessBuilder.Redirect.INHERIT));
        input = process.getOutputStream();
        Thread.ofPlatform().daemon().name("answers").start(this::read);
    }

    private void read() {
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                answers.add(line);
            }
        } catch (IOException e) {
            return; // it has ended
        } finally {
            answers.add(END);
        }
    }

    long pid() { return process.pid(); }

    /** {@return its answer; {@code meanwhile} runs until that comes} */
    String ask(String question, Runnable meanwhile) {
        try {
            input.write((question + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException e) {
            throw new CommandFailure("The second process has ended: see what it says above.", e);
        }
        long end = System.nanoTime() + timeout.toNanos();
        while (System.nanoTime() < end) {
            String answer = answers.poll();
            if (answer != null) { return require(answer); }
            meanwhile.run();
            Thread.yield();
        }
        Stacks.print(process);
        throw new CommandFailure(
                "The second process did not answer '" + question + "' in " + timeout.toSeconds() + " s.");
    }

    private static String require(String answer) {
        if (answer.equals(END)) { throw new CommandFailure("The second process has ended: see what it says above."); }
        return answer;
    }

    /** Stops it for a while, as a scheduler or a debugger may; returns at once. */
    void pause(Duration length) {
        signal("STOP");
        Thread.ofPlatform().daemon().name("continue").start(() -> {
            try {
                Thread.sleep(length);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            signal("CONT");
        });
    }

    /** SIGKILL. */
    void kill() {
        process.destroyForcibly();
        await();
    }

    private void signal(String name) {
        try {
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).start();
            if (kill.waitFor() != 0) { throw new CommandFailure("The second process cannot be sent SIG" + name + "."); }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return how it ended} */
    int exitCode() { return process.exitValue(); }

    private void await() {
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) { process.destroyForcibly().waitFor(); }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            input.close(); // it ends when there is nothing more to do
        } catch (IOException e) {
            // it has ended already
        }
        await();
    }
}
