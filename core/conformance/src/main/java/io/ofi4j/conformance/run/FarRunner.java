package io.ofi4j.conformance.run;

import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.conformance.Subject;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Runs processes with far halves for a process of trials, one at a time: a new one for each trial whose predecessor has
 * not given its own back. It takes {@code start}, {@code say TEXT}, {@code signal NAME} and {@code release}, and says
 * {@code started}, {@code line TEXT} and {@code ended HOW}; or {@code unstarted HOW}, if a process ends before it says
 * that it has started.
 */
public final class FarRunner implements FarHost.Line {
    static final String START = "start";
    static final String SAY = "say ";
    static final String SIGNAL = "signal ";
    static final String RELEASE = "release";
    static final String STARTED = "started";
    static final String UNSTARTED = "unstarted ";
    static final String LINE = "line ";
    static final String ENDED = "ended ";

    private static final Set<String> SIGNALS = Set.of("TERM", "KILL", "STOP", "CONT");
    private static final Duration LOOK = Duration.ofMillis(200);

    private final Subject subject;
    private final List<String> options;
    private final Consumer<String> lines;
    private JavaProcess process;
    private boolean isReleased;
    private boolean isClosed;

    /**
     * What runs none yet.
     *
     * @param subject what the far halves open
     * @param options options of their JVMs, such as {@code -Dname=value}
     * @param lines takes what is said, in a thread of its own for each process
     */
    public FarRunner(Subject subject, List<String> options, Consumer<String> lines) {
        this.subject = subject;
        this.options = List.copyOf(options);
        this.lines = lines;
    }

    /** {@return where far halves run on this machine} */
    public static FarHost here(Subject subject) {
        return (options, lines) -> new FarRunner(subject, options, lines);
    }

    @Override
    public synchronized void accept(String line) {
        if (isClosed) { return; }
        if (line.equals(START)) {
            start();
        } else if (process == null) {
            throw new IllegalArgumentException("no far half was started");
        } else if (line.equals(RELEASE)) {
            isReleased = true;
        } else if (line.startsWith(SAY)) {
            process.tell(line.substring(SAY.length()));
        } else if (line.startsWith(SIGNAL) && SIGNALS.contains(line.substring(SIGNAL.length()))) {
            signal(line.substring(SIGNAL.length()));
        } else {
            throw new IllegalArgumentException("far halves do not take this");
        }
    }

    private void start() {
        boolean isReused = isReleased && process != null && !process.ended(Duration.ZERO);
        isReleased = false;
        if (isReused) {
            lines.accept(STARTED);
            return;
        }
        if (process != null) { process.kill(); }
        try {
            process = JavaProcess.startAnswering(options, FarMain.class, FarMain.arguments(subject));
        } catch (JavaProcess.NotStarted e) {
            process = null;
            lines.accept(UNSTARTED + e.getMessage());
            return;
        }
        JavaProcess started = process;
        Thread.ofPlatform().daemon().name("far half " + started.pid()).start(() -> forward(started));
    }

    private void signal(String name) {
        if (name.equals("KILL")) {
            process.kill();
        } else {
            try {
                process.signal(name);
            } catch (UncheckedIOException e) {
                return; // it has ended meanwhile, and that is told
            }
        }
    }

    private void forward(JavaProcess from) {
        boolean isStarted = false;
        try {
            while (true) {
                try {
                    Optional<String> line = from.line(LOOK);
                    if (line.isEmpty()) { break; }
                    if (isStarted) {
                        tell(from, LINE + line.get());
                    } else if (line.get().equals(STARTED)) {
                        isStarted = true;
                        tell(from, STARTED);
                    } // else a word of the JVM
                } catch (TimeoutException e) {
                    continue; // nothing yet
                }
            }
            tell(from, (isStarted ? ENDED : UNSTARTED) + from.ending());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Nobody hears any more of a process that was replaced. */
    private synchronized void tell(JavaProcess from, String line) {
        if (!isClosed && from == process) { lines.accept(line); }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        if (process != null) { process.kill(); }
    }
}
