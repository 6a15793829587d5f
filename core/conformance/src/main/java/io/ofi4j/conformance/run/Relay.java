package io.ofi4j.conformance.run;

import io.ofi4j.conformance.FarProcess;
import io.ofi4j.conformance.FarProcesses;
import io.ofi4j.conformance.Untried;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * The far half, as the process of the trials sees it: it says to the process that has started it what the far half is
 * to hear, and is told what that says. There is one at a time. One thread uses it.
 */
final class Relay implements FarProcesses, FarProcess {
    /** What lines for the far half begin with. */
    static final String TO_FAR = "far ";

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration ENDING = Duration.ofSeconds(5);

    private final PrintStream out;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    /** How the far half has ended; null while it runs. */
    private String ending;

    Relay(InputStream in, PrintStream out) {
        this.out = out;
        Thread.ofPlatform().daemon().name("far half").start(() -> read(in));
    }

    private void read(InputStream in) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // as if there were no more
        }
        endProcess();
    }

    /** Who has started this process has ended, and nobody else ends it. A hook may wait for a call that hangs. */
    private static void endProcess() {
        Thread.ofPlatform().daemon().start(() -> System.exit(1));
        LockSupport.parkNanos(ENDING.toNanos());
        Runtime.getRuntime().halt(1);
    }

    @Override
    public FarProcess take() throws InterruptedException {
        ending = null;
        out.println(TO_FAR + FarRunner.START);
        long start = System.nanoTime();
        while (System.nanoTime() - start < START.toNanos()) {
            String line = lines.poll(1, TimeUnit.SECONDS); // what the last one still said is dropped
            if (FarRunner.STARTED.equals(line)) { return this; }
            if (line != null && line.startsWith(FarRunner.UNSTARTED)) {
                throw new Untried("the far half did not start: " + line.substring(FarRunner.UNSTARTED.length()));
            }
        }
        throw new Untried("the far half was not started within " + START.toSeconds() + " s");
    }

    @Override
    public void say(String line) { out.println(TO_FAR + FarRunner.SAY + line); }

    @Override
    public Optional<String> line(Duration deadline) throws InterruptedException, TimeoutException {
        long start = System.nanoTime();
        while (ending == null) {
            long left = deadline.toNanos() - (System.nanoTime() - start);
            String line = lines.poll(Math.max(left, 0), TimeUnit.NANOSECONDS);
            if (line == null) { throw new TimeoutException(); }
            if (line.startsWith(FarRunner.LINE)) { return Optional.of(line.substring(FarRunner.LINE.length())); }
            if (line.startsWith(FarRunner.ENDED)) { ending = line.substring(FarRunner.ENDED.length()); }
        }
        return Optional.empty();
    }

    @Override
    public void signal(String name) { out.println(TO_FAR + FarRunner.SIGNAL + name); }

    @Override
    public boolean ended(Duration deadline) {
        long start = System.nanoTime();
        try {
            for (Duration left = deadline; ending == null; left = deadline.minusNanos(System.nanoTime() - start)) {
                line(left.isNegative() ? Duration.ZERO : left); // nobody waits for an answer now
            }
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return true;
    }

    @Override
    public String ending() { return ending; }

    @Override
    public void release() { out.println(TO_FAR + FarRunner.RELEASE); }
}
