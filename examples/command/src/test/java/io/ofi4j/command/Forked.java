package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The command, or a program, in a process of its own, with stdout and stderr in files; every wait has a deadline. */
public final class Forked implements AutoCloseable {
    private static final int DEADLINE_SECONDS = 120;
    /** Of perf. */
    private static final int USUAL_TIMEOUT_SECONDS = 10;

    /** Of processes that have modules, also where this one does not. */
    static final String NATIVE_ACCESS = "--enable-native-access=io.ofi4j,io.ofi4j.bindings,io.ofi4j.bindings.verbs,"
            + "io.ofi4j.command";

    private final Path out;
    private final Path err;
    private final Process process;
    private boolean awaited;

    /**
     * How a JVM is started.
     *
     * @param prefix a command that executes the one behind it, such as {@code unshare -m}
     * @param environment variables beside those of this process
     * @param options of the JVM
     * @param main the class that is run
     */
    public record Launch(List<String> prefix, Map<String, String> environment, List<String> options, Class<?> main) {
        /** As a user starts the command. */
        public static final Launch USUAL = new Launch(List.of(), Map.of(), List.of(NATIVE_ACCESS), Ofi4j.class);

        /**
         * As from a terminal, where Ctrl-C works, also if these tests were started in a shell's background, which
         * ignores SIGINT.
         */
        public static final Launch INTERRUPTIBLE = Interrupt.obstacle().isEmpty()
                ? USUAL
                : USUAL.behind("env", "--default-signal=INT");

        /**
         * Where native access is refused to who was not given it: by JDK 24 and newer when asked, before that if
         * somebody was.
         */
        public static final Launch REFUSING = Runtime.version().feature() >= 24
                ? USUAL.only("--illegal-native-access=deny")
                : USUAL.only("--enable-native-access=java.base");

        /** Behind another command. */
        public Launch behind(String... command) {
            return new Launch(List.of(command), environment, options, main);
        }

        /** With a variable. */
        public Launch with(String name, String value) {
            return new Launch(prefix, Map.of(name, value), options, main);
        }

        /** With these options, and no others. */
        public Launch only(String... these) {
            return new Launch(prefix, environment, List.of(these), main);
        }

        /** With one more option. */
        public Launch and(String option) {
            List<String> all = new ArrayList<>(options);
            all.add(option);
            return new Launch(prefix, environment, all, main);
        }

        /** Starts a server at a free port, and waits until it listens. */
        public Forked server(String... arguments) {
            List<String> all = new ArrayList<>(Arrays.asList(arguments));
            all.addAll(List.of("--server", "-B", "0"));
            if (all.contains("perf") && !all.contains("--timeout")) { all.addAll(patient()); }
            Forked server = start(all.toArray(String[]::new));
            server.awaitOutput("serving");
            return server;
        }

        /** A class of the tests in the command's place. */
        public Launch main(Class<?> testClass) {
            return new Launch(prefix, environment, List.of(NATIVE_ACCESS, "--patch-module",
                    "io.ofi4j.command=" + Path.of("target", "test-classes").toAbsolutePath()), testClass);
        }

        /** Starts it. */
        public Forked start(String... arguments) {
            try {
                return new Forked(this, Arrays.asList(arguments));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private Forked(Launch launch, List<String> arguments) throws IOException {
        out = Files.createTempFile("ofi4j", ".out");
        err = Files.createTempFile("ofi4j", ".err");
        List<String> command = command(launch);
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().putAll(launch.environment());
        process = builder.start();
    }

    /** {@return what starts it, without arguments} */
    static List<String> command(Launch launch) {
        List<String> command = new ArrayList<>(launch.prefix());
        command.addAll(ForkedArchive.start());
        command.addAll(launch.options());
        command.addAll(List.of("-m", moduleOf(launch.main()) + "/" + launch.main().getName()));
        return command;
    }

    /**
     * A module is called as the package that all its packages are in; a test may have all classes on its class path.
     */
    private static String moduleOf(Class<?> main) {
        return Arrays.stream(main.getName().split("\\.")).limit(3).collect(Collectors.joining("."));
    }

    /** Starts the command. */
    public static Forked start(String... arguments) { return start(List.of(), arguments); }

    /** Starts the command in a JVM with these options. */
    public static Forked start(List<String> jvmOptions, String... arguments) {
        Launch launch = Launch.USUAL;
        for (String option : jvmOptions) {
            launch = launch.and(option);
        }
        return launch.start(arguments);
    }

    /** Starts a server at a free port, and waits until it listens. */
    public static Forked server(String... arguments) {
        return Launch.USUAL.server(arguments);
    }

    /** {@return the port that it says it listens on} */
    public String port() {
        String line = read(out).lines().findFirst().orElseThrow();
        return line.replaceFirst("serving \\w+ at \\S+:(\\d+): .*", "$1");
    }

    /**
     * {@return what came of a client of this server, which runs in this process} It waits longer for an answer on a
     * busy machine.
     */
    public Run client(String... arguments) {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        all.addAll(List.of("127.0.0.1", "-P", port()));
        all.addAll(patient());
        return Run.of(all.toArray(String[]::new));
    }

    private static List<String> patient() {
        return List.of("--timeout", Long.toString(Patience.seconds(USUAL_TIMEOUT_SECONDS).toSeconds()));
    }

    /** {@return what stdout has so far} */
    public String output() { return read(out); }

    /** Waits until stdout has a whole line with this text: a process may print a line in pieces. */
    public void awaitOutput(String text) {
        long end = System.nanoTime() + Patience.seconds(DEADLINE_SECONDS).toNanos();
        while (true) {
            boolean mayPrintMore = process.isAlive();
            if (wholeLines(read(out)).contains(text)) { return; }
            assertThat(mayPrintMore).as(read(err)).isTrue();
            assertThat(System.nanoTime()).as("no '" + text + "' in: " + read(out)).isLessThan(end);
            sleep();
        }
    }

    private static String wholeLines(String text) { return text.substring(0, text.lastIndexOf('\n') + 1); }

    /** {@return the group of what stderr has, once it matches} */
    public String awaitError(String pattern) {
        long end = System.nanoTime() + Patience.seconds(DEADLINE_SECONDS).toNanos();
        Matcher matcher = Pattern.compile(pattern).matcher(read(err));
        while (!matcher.find()) {
            assertThat(System.nanoTime()).as("no '" + pattern + "' in: " + read(err)).isLessThan(end);
            sleep();
            matcher.reset(read(err));
        }
        return matcher.group(1);
    }

    /** {@return how it ended} */
    public Run await() { return await(DEADLINE_SECONDS); }

    /** {@return how it ended, which may take so many seconds of an idle machine} */
    public Run await(int seconds) {
        awaited = true;
        try {
            assertThat(process.waitFor(Patience.seconds(seconds).toSeconds(), TimeUnit.SECONDS))
                    .as(read(out) + read(err)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new Run(process.exitValue(), read(out), read(err));
    }

    /** Waits until the process has used so much more of a processor, however long that takes it beside other work. */
    public void awaitWork(Duration more) {
        long end = System.nanoTime() + Patience.seconds(DEADLINE_SECONDS).toNanos();
        Duration before = used();
        while (used().minus(before).compareTo(more) < 0) {
            assertThat(System.nanoTime()).as("it works; so far " + used() + read(err)).isLessThan(end);
            sleep();
        }
    }

    private Duration used() { return process.info().totalCpuDuration().orElseThrow(); }

    /** As Ctrl-C does. */
    public void interrupt() {
        try {
            assertThat(new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor()).isZero();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * {@return a port that nobody listens at, for who must know it before a server has it} It is below those that the
     * system gives to whoever asks for any, so that none of them is taken meanwhile.
     */
    public static int freePort() {
        for (int tries = 0; tries < 1000; tries++) {
            int port = 20_000 + (int) ((ProcessHandle.current().pid() * 31 + tries) % 10_000);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1);
                return port;
            } catch (IOException e) {
                continue; // somebody has it
            }
        }
        throw new AssertionError("no port is free");
    }

    /** {@return the process} */
    public Process process() { return process; }

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

    /** The errors of a process that nobody awaited are printed: they may say why a test fails. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(Patience.seconds(DEADLINE_SECONDS).toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            if (!awaited) { System.out.print(read(err)); }
            Files.delete(out);
            Files.delete(err);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
