package io.ofi4j.conformance;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A JVM that is started as this one was, with the same classes and the same properties of ofi4j. What it prints is read
 * line by line. It ends with this process.
 */
public final class JavaProcess implements AutoCloseable {
    /** How a process ended that no provider has ended. */
    public static final String KILLED = "signal 9: this machine killed the process, mostly for want of memory";

    /** How the end of a process begins that has ended by itself. */
    public static final String STATUS = "exit status ";

    /** Of what is printed to standard error, such as the JVM's report of a crash. */
    private static final int MAX_ERROR_LINES = 60;
    private static final Path SHM = Path.of("/dev/shm");
    private static final String OWN_FILE = "ofi4j-verify-";
    /**
     * Has glibc overwrite what is freed, see mallopt(3): a provider that uses it ends the process then, and not only on
     * a bad day.
     */
    private static final String FREED_MEMORY = "MALLOC_PERTURB_";
    private static final String OVERWRITTEN = "165";
    /** A file descriptor that is what standard output was, and standard output is what standard error is. */
    private static final List<String> ASIDE = List.of("sh", "-c", "exec \"$0\" \"$@\" 3>&1 1>&2");
    private static final Path ANSWERS = Path.of("/dev/fd/3");
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** Of who waits for this process to end, as after Ctrl-C. */
    private static final Duration LAST_PATIENCE = Duration.ofSeconds(2);

    private static volatile boolean isThisEnding;

    private final Process process;
    private final BlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
    private final List<String> errors = new ArrayList<>();
    private final Thread errorReader;

    /** This machine has no process, memory or file for another one. */
    public static final class NotStarted extends UncheckedIOException {
        private static final long serialVersionUID = 1L;

        NotStarted(IOException cause) { super("a second process cannot be started: " + cause.getMessage(), cause); }
    }

    private JavaProcess(Process process) {
        this.process = process;
        endWithThis(process);
        Thread.ofPlatform().daemon().name("output of " + process.pid()).start(this::readLines);
        errorReader = Thread.ofPlatform().daemon().name("errors of " + process.pid()).start(this::readErrors);
    }

    /**
     * {@return the command line of such a JVM}
     *
     * @param options further options of the JVM, such as {@code -Dname=value}, or another class path
     * @param main the main class, whose module may call native code
     */
    public static List<String> command(List<String> options, Class<?> main, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-CreateCoredumpOnCrash", "-XX:+ErrorFileToStderr",
                "-XX:+DisplayVMOutputToStderr", "-Xmx512m"));
        Stream.of("io.ofi4j.library", "io.ofi4j.quirks", "io.ofi4j.shm.reserve")
                .filter(name -> System.getProperty(name) != null)
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        if (main.getModule().isNamed()) {
            String module = main.getModule().getName();
            command.addAll(List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings," + module, "-p",
                    System.getProperty("jdk.module.path")));
            command.addAll(options);
            command.addAll(List.of("-m", module + "/" + main.getName()));
        } else {
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
            command.addAll(options);
            command.add(main.getName());
        }
        command.addAll(arguments);
        return command;
    }

    /** {@return the process of a command line as {@link #command} says} */
    public static JavaProcess start(List<String> options, Class<?> main, List<String> arguments) {
        return start(new ProcessBuilder(command(options, main, arguments)));
    }

    /**
     * {@return such a process whose lines are what it writes to {@link #answers}} What it prints to standard output, as
     * some libraries do, is printed to standard error. Memory that is freed there is overwritten, unless the
     * environment says otherwise.
     */
    public static JavaProcess startAnswering(List<String> options, Class<?> main, List<String> arguments) {
        ProcessBuilder builder = new ProcessBuilder(
                Stream.of(ASIDE, command(options, main, arguments)).flatMap(List::stream).toList());
        builder.environment().putIfAbsent(FREED_MEMORY, OVERWRITTEN);
        return start(builder);
    }

    /** {@return where a process writes that {@link #startAnswering} has started} Each line is written at once. */
    public static PrintStream answers() {
        try {
            return new PrintStream(new FileOutputStream(ANSWERS.toFile()), true, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static JavaProcess start(ProcessBuilder builder) {
        try {
            return new JavaProcess(builder.start());
        } catch (IOException e) {
            throw new NotStarted(e);
        }
    }

    private void readLines() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(line -> lines.add(Optional.of(line)));
        } catch (IOException | UncheckedIOException e) {
            return; // it has ended
        } finally {
            if (!isThisEnding) { lines.add(Optional.empty()); } // or this process would say that the other one failed
        }
    }

    private void readErrors() {
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                synchronized (errors) {
                    if (errors.size() < MAX_ERROR_LINES) { errors.add(line); }
                }
            }
        } catch (IOException e) {
            return; // it has ended
        }
    }

    /** Writes a line to its standard input. */
    public synchronized void say(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException("the other process has ended: " + ending(), e);
        }
    }

    /** Writes a line to its standard input. It may have ended. */
    public void tell(String line) {
        try {
            say(line);
        } catch (UncheckedIOException e) {
            return; // its end is seen elsewhere
        }
    }

    /**
     * {@return the next line that it prints; empty if it has ended}
     *
     * @throws java.util.concurrent.TimeoutException if none comes in time
     */
    public Optional<String> line(Duration deadline) throws InterruptedException, java.util.concurrent.TimeoutException {
        Optional<String> line = lines.poll(deadline.toMillis(), TimeUnit.MILLISECONDS);
        if (line == null) { throw new java.util.concurrent.TimeoutException(); }
        return line;
    }

    /** {@return the name of a file in /dev/shm that is removed if it is still there when this process has ended} */
    public static String ownFile() {
        return OWN_FILE + ProcessHandle.current().pid();
    }

    /** {@return its number} */
    public long pid() { return process.pid(); }

    /** Ends it with SIGKILL, and removes what its endpoints of shm leave. */
    public void kill() { kill(process); }

    private static void kill(Process process) {
        process.destroyForcibly();
        ended(process, PATIENCE);
        removeFiles(process.pid());
    }

    /**
     * Has a process, and those that it has started, end when this one is ended: with SIGTERM first, so that it can
     * remove its files.
     *
     * @throws IllegalStateException if this one is being ended already, as the process then is
     */
    public static void endWithThis(Process process) {
        try {
            Thread hook = new Thread(() -> end(process));
            Runtime.getRuntime().addShutdownHook(hook);
            process.onExit().thenRun(() -> forget(hook));
        } catch (IllegalStateException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            assert e.getMessage() != null; // this process ends
        }
    }

    private static void end(Process process) {
        if (!process.isAlive()) { return; } // another one may have its number
        isThisEnding = true;
        List<ProcessHandle> others = process.descendants().toList();
        process.destroy();
        ended(process, LAST_PATIENCE);
        others.forEach(ProcessHandle::destroyForcibly);
        kill(process);
    }

    /** Files of shm endpoints begin with the number of their process; who is killed leaves them. So does a trial. */
    private static void removeFiles(long pid) {
        String names = "{" + pid + ":*," + OWN_FILE + pid + "}";
        try (DirectoryStream<Path> files = Files.newDirectoryStream(SHM, names)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            return; // there is no such folder, or another process has removed them
        }
    }

    /** Sends it a signal, such as STOP or CONT. */
    public void signal(String name) {
        try {
            int status = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).start().waitFor();
            if (status != 0) { throw new IOException("kill -" + name + " ended with " + status); }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return whether it has ended, after it was waited for so long at most} */
    public boolean ended(Duration deadline) {
        return ended(process, deadline);
    }

    private static boolean ended(Process process, Duration deadline) {
        try {
            return process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** {@return its exit status} It must have ended. */
    public int exitStatus() { return process.exitValue(); }

    /** {@return how it ended: by which signal and in which function, or with which status and words} */
    public String ending() {
        if (!ended(PATIENCE)) { return "it does not end"; }
        try {
            errorReader.join(PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (errors) {
            return Ending.of(process.exitValue(), errors);
        }
    }

    /** Ends it, with SIGTERM first, so that it can remove its files. */
    @Override
    public void close() {
        process.destroy();
        ended(PATIENCE);
        kill();
    }
}
