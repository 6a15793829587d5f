package io.ofi4j.support;

import io.ofi4j.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs a main class of the tests in a JVM of its own, for what may kill one. An exception of any of its threads is a
 * failure.
 */
public final class Forked {
    /** An argument, for what is about compiled code, or runs long: the JVM compiles as others do. */
    public static final String EVERY_COMPILER = "-XX:TieredStopAtLevel=4";

    /** An argument with which the JVM refuses native access. */
    public static final String NO_NATIVE_ACCESS = Runtime.version().feature() >= 24
            ? "--illegal-native-access=deny"
            : "--enable-native-access=java.base";

    private static final String TEST_CLASSES = "ofi4j.test.classes";

    private static final Duration DEADLINE = Patience.seconds(120);

    /**
     * Has glibc overwrite what is freed, see mallopt(3): a provider that uses it ends the process each time, and not by
     * chance.
     */
    private static final String FREED_MEMORY = "MALLOC_PERTURB_";
    private static final String OVERWRITTEN = "165";

    /** One class of each place whose classes a test may use, besides those of the tests themselves. */
    private static final List<String> PLACES = List.of("io.ofi4j.support.Forked", "io.ofi4j.Libfabric",
            "io.ofi4j.job.Job", "io.ofi4j.durable.Saver", "io.ofi4j.verbs.Verbs", "io.ofi4j.test.TestFabric",
            "io.ofi4j.conformance.JavaProcess", "io.ofi4j.bindings.fabric_h", "io.ofi4j.bindings.verbs.verbs_h",
            "io.ofi4j.netty.FabricChannel", "io.netty.channel.Channel", "io.netty.buffer.ByteBuf",
            "io.netty.util.Timer", "io.netty.resolver.AddressResolver");

    private static final String LIBRARY = "io.ofi4j.library";

    private static final Set<Process> STARTED = ConcurrentHashMap.newKeySet();

    static {
        // What a test that has failed left would run on, and take time from those after it.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> STARTED.forEach(Process::destroyForcibly)));
    }

    private Forked() {}

    /** How a JVM ended and what it printed. */
    public record Result(int exit, String output) {}

    /** A running JVM, whose output goes to a file. */
    public record Running(Process process, Path log) {
        /** Waits for the end, for two minutes of an ordinary machine at most. */
        public Result await() {
            return await(DEADLINE.toSeconds());
        }

        public Result await(long seconds) {
            try {
                if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    throw new AssertionError(
                            "the forked JVM did not end in " + seconds + " s; it printed:\n" + output());
                }
                return new Result(process.exitValue(), output());
            } catch (InterruptedException e) {
                process.destroyForcibly();
                throw new AssertionError(e);
            }
        }

        public String output() {
            try {
                return Files.readString(log);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Waits until it has printed a line that begins so; the rest of that line. */
        public String awaitLine(String beginning) {
            String[] found = new String[1];
            Waiting.YIELD.until(() -> {
                boolean mayPrintMore = process.isAlive();
                String all = output();
                String whole = all.substring(0, all.lastIndexOf('\n') + 1); // a line may be printed in pieces
                found[0] = whole.lines().filter(line -> line.startsWith(beginning)).findFirst().orElse(null);
                if (found[0] == null && !mayPrintMore) {
                    throw new AssertionError("the forked JVM ended early; it printed:\n" + output());
                }
                sleep();
                return found[0] != null;
            }, DEADLINE);
            return found[0].substring(beginning.length()).strip();
        }

        private static void sleep() {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Runs to the end. JVM options are the arguments that begin with {@code -}. */
    public static Result run(Class<?> main, String... arguments) {
        return start(main, arguments).await();
    }

    public static Running start(Class<?> main, String... arguments) { return startBehind(List.of(), main, arguments); }

    /** As {@link #start}, by a command that executes another, such as {@code ip netns exec NAME}. */
    public static Running startBehind(List<String> prefix, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        command.addAll(ForkedArchive.OPTIONS); // most are over before other compilers and collectors would pay
        command.add("-ea"); // the order of locks is checked there, too
        command.add("-XX:-CreateCoredumpOnCrash");
        command.add("-XX:ErrorFile=/dev/stdout");
        if (!List.of(arguments).contains(NO_NATIVE_ACCESS)) { command.add("--enable-native-access=ALL-UNNAMED"); }
        command.add(Patience.option());
        command.add(TestSeed.option());
        command.add(Rounds.option());
        command.addAll(TestProviders.options());
        if (System.getProperty(LIBRARY) != null) { command.add("-D" + LIBRARY + "=" + System.getProperty(LIBRARY)); }
        command.addAll(classes());
        List<String> rest = new ArrayList<>();
        for (String argument : arguments) {
            (argument.startsWith("-") ? command : rest).add(argument);
        }
        command.add(ForkedMain.class.getName());
        command.add(main.getName());
        command.addAll(rest);
        try {
            Path log = Files.createTempFile("ofi4j-forked", ".log");
            log.toFile().deleteOnExit();
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
            // The defaults of this library are what is tested, not those of who runs the tests.
            builder.environment().keySet().removeAll(List.of("IPATH_NO_BACKTRACE", "HFI_NO_BACKTRACE"));
            builder.environment().putIfAbsent(FREED_MEMORY, OVERWRITTEN);
            Process process = builder.start();
            STARTED.add(process);
            process.onExit().thenAccept(STARTED::remove);
            return new Running(process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The options that give the places where classes are, as folders or jars, whether this JVM has them as modules or
     * not.
     */
    public static List<String> classes() {
        return System.getProperty(TEST_CLASSES) == null
                ? List.of("-cp", System.getProperty("java.class.path")) // forked itself
                : ForkedArchive.options(places());
    }

    /** The places where classes are, those of the tests first. */
    static List<Path> places() {
        Stream<String> others = PLACES.stream().flatMap(Forked::location);
        return Stream.concat(Stream.of(System.getProperty(TEST_CLASSES).split(":")), others).distinct().map(Path::of)
                .toList();
    }

    /** Where a class is; nothing, where it is not. None is initialized, which would load libfabric unguarded. */
    private static Stream<String> location(String name) {
        try {
            Class<?> type = Class.forName(name, false, Forked.class.getClassLoader());
            return Stream.of(Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).toString());
        } catch (ClassNotFoundException e) {
            return Stream.empty();
        }
    }
}
