package io.ofi4j.command;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * What lets the command start with less processor time: its modules in jars, and their classes loaded and linked in an
 * AOT cache, which knows jars alone. Each JVM that tests makes its own, and removes it at its end. No test waits for
 * it: until it is made, and before JDK 25, the command starts without.
 */
final class ForkedArchive {
    private static final int FIRST_RELEASE = 25;
    private static final int DEADLINE_SECONDS = 120;
    private static final long MAKER_MILLIS = 5000;
    private static final String MAIN = "io.ofi4j.command/" + Ofi4j.class.getName();

    /**
     * The modules, where this JVM has everything on its class path: on an emulated machine, where an archive takes
     * minutes to make.
     */
    private static final String TOLD = System.getProperty("ofi4j.test.modules");

    private static final String MODULES = TOLD == null ? System.getProperty("jdk.module.path") : TOLD;

    /** The options that JVMs of an archive must have had when it was made. */
    private static final List<String> OPTIONS = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m");

    /** What every command begins with. */
    private static volatile List<String> command = java(List.of("-p", MODULES));

    static {
        if (Runtime.version().feature() >= FIRST_RELEASE && TOLD == null) {
            Thread.ofPlatform().daemon().start(ForkedArchive::make);
        }
    }

    private ForkedArchive() {}

    /** {@return how a JVM of the command is started, with its modules; options and the main class follow} */
    static List<String> start() {
        return command;
    }

    private static List<String> java(List<String> modules) {
        return Stream.of(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()), OPTIONS, modules)
                .flatMap(List::stream).toList();
    }

    private static void make() {
        try {
            Path folder = Files.createTempDirectory("ofi4j-command");
            Thread maker = Thread.currentThread();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                end(maker);
                remove(folder);
            }));
            command = java(archived(folder));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void end(Thread maker) {
        maker.interrupt();
        try {
            maker.join(MAKER_MILLIS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Makes the archive by a command that measures. If none comes of it, what the JVM printed is shown. */
    private static List<String> archived(Path folder) throws IOException {
        List<String> modules = List.of("-p", jars(folder));
        Path cache = folder.resolve("classes.aot");
        Path log = folder.resolve("log");
        List<String> training = new ArrayList<>(java(modules));
        training.add("-XX:AOTCacheOutput=" + cache);
        training.addAll(
                List.of(Forked.NATIVE_ACCESS, "-m", MAIN, "perf", "write", "-p", "shm", "-S", "8", "-I", "100"));
        Process process = new ProcessBuilder(training).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            process.waitFor(Patience.seconds(DEADLINE_SECONDS).toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) { // this JVM ends
            process.destroy(); // its shutdown hooks remove the files of its endpoints
            return modules;
        }
        process.destroy();
        if (!Files.exists(cache)) {
            System.out.println("the command starts without an AOT cache: " + Files.readString(log));
            return modules;
        }
        return Stream.concat(Stream.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off,cds*=off"), modules.stream()).toList();
    }

    /** The module path, with a jar in the place of each folder of classes. */
    private static String jars(Path folder) {
        List<String> places = new ArrayList<>();
        for (String place : MODULES.split(File.pathSeparator)) {
            places.add(Files.isDirectory(Path.of(place)) ? jar(folder, place) : place);
        }
        return String.join(File.pathSeparator, places);
    }

    private static String jar(Path folder, String place) {
        String jar = folder.resolve(place.hashCode() + ".jar").toString();
        int status = ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "--create",
                "--no-compress", "--no-manifest", "--file", jar, "-C", place, ".");
        if (status != 0) { throw new AssertionError("no jar could be made of " + place); }
        return jar;
    }

    private static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted((one, other) -> other.compareTo(one)).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
