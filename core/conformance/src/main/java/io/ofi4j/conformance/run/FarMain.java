package io.ofi4j.conformance.run;

import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.conformance.FarEnd;
import io.ofi4j.conformance.FarHalf;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.EndpointType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The main class of a JVM with the far half of trials. It says that it has started, answers lines until there are
 * no more, and makes progress.
 */
final class FarMain {
    private static final int POLLS_PER_YIELD = 64;
    private static final long IDLE_MILLIS = 20;

    private FarMain() {}

    /**
     * Is the far half.
     *
     * @param arguments provider, type, deadline in milliseconds, address or nothing
     */
    public static void main(String[] arguments) throws InterruptedException {
        PrintStream out = JavaProcess.answers();
        Subject subject = new Subject(arguments[0], EndpointType.valueOf(arguments[1]),
                Optional.of(arguments[3]).filter(address -> !address.isEmpty()),
                Duration.ofMillis(Long.parseLong(arguments[2])));
        BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
        out.println(FarRunner.STARTED);
        Thread.ofPlatform().daemon().name("questions").start(() -> read(lines));
        try (FarHalf half = new FarHalf(subject)) {
            for (int turn = 1;; turn++) {
                half.poll();
                Optional<String> line = half.isOpen() ? lines.poll() : lines.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
                if (line == null) {
                    if (turn % POLLS_PER_YIELD == 0) { Thread.yield(); }
                } else if (line.isEmpty() || line.get().equals(FarEnd.END)) {
                    return;
                } else {
                    out.println(half.answer(line.get()));
                }
            }
        }
    }

    private static void read(BlockingQueue<Optional<String>> lines) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(Optional.of(line));
            }
        } catch (IOException e) {
            return; // there are no more
        } finally {
            lines.add(Optional.empty());
        }
    }

    static List<String> arguments(Subject subject) {
        return List.of(subject.provider(), subject.type().name(), Long.toString(subject.deadline().toMillis()),
                subject.source().orElse(""));
    }
}
