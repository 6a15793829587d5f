package io.ofi4j.support;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * What lets a forked JVM start in two thirds of the time: the classes of this build in jars, and loaded and linked in
 * an AOT cache, which knows jars alone. Made anew where a class is newer or elsewhere, by the first of the JVMs that
 * test. No test waits for it: until it is made, and before JDK 25, JVMs start without.
 */
final class ForkedArchive {
    private static final int FIRST_RELEASE = 25;
    private static final long DEADLINE_SECONDS = Patience.seconds(120).toSeconds();

    /** The options that JVMs of an archive must have had when it was made. */
    static final List<String> OPTIONS = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    /** On an only processor, such as that of an emulated machine, it would take minutes of the tests' time. */
    private static final boolean MAY_MAKE_BESIDE = Runtime.getRuntime().availableProcessors() > 1;

    private static final AtomicBoolean IS_BEGUN = new AtomicBoolean();

    private final Path folder;
    private final List<Path> places;

    private ForkedArchive(List<Path> places) {
        this.places = places;
        folder = places.getFirst().resolveSibling("forked");
    }

    /** The options, the class path among them, of JVMs that have these classes. */
    static List<String> options(List<Path> places) {
        if (Runtime.version().feature() < FIRST_RELEASE) { return classPath(places); }
        ForkedArchive archive = new ForkedArchive(places);
        try {
            if (archive.isNewest()) { return archive.options(); }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (MAY_MAKE_BESIDE && !IS_BEGUN.getAndSet(true)) { Thread.ofPlatform().daemon().start(archive::make); }
        return classPath(places);
    }

    /**
     * Makes that of this JVM's tests where it is not there: before a machine is emulated, on which it takes a minute.
     */
    public static void main(String[] arguments) { new ForkedArchive(Forked.places()).make(); }

    private static List<String> classPath(List<Path> places) {
        return List.of("-cp", String.join(":", places.stream().map(Path::toString).toList()));
    }

    private Path cache() { return folder.resolve("classes.aot"); }

    /** Of a place that is a jar, itself. */
    private Path jar(Path place) {
        return Files.isDirectory(place) ? folder.resolve(places.indexOf(place) + ".jar") : place;
    }

    private List<Path> jars() { return places.stream().map(this::jar).toList(); }

    /** A cache that does not fit, such as that of another collector, is left alone without a word. */
    private List<String> options() {
        List<String> options = new ArrayList<>(List.of("-XX:AOTCache=" + cache(), "-Xlog:aot*=off,cds*=off"));
        options.addAll(classPath(jars()));
        return options;
    }

    /** Makes the archive unless it is up to date, or another JVM makes it. */
    private void make() {
        try {
            Files.createDirectories(folder);
            try (FileChannel file = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE); FileLock lock = file.tryLock()) {
                if (lock != null && !isNewest()) { makeLocked(); }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isNewest() throws IOException {
        Path last = folder.resolve("made");
        long made;
        try {
            if (!Files.exists(cache()) || !Files.readString(last).equals(places.toString())) { return false; }
            made = Files.getLastModifiedTime(last).toMillis();
        } catch (NoSuchFileException _) { // whoever makes the next one has removed it
            return false;
        }
        long newest = 0;
        for (Path place : places) {
            try (Stream<Path> files = Files.walk(place)) {
                newest = Math.max(newest, files.mapToLong(file -> file.toFile().lastModified()).max().orElse(0));
            }
        }
        return made > newest;
    }

    private void makeLocked() throws IOException {
        Files.deleteIfExists(folder.resolve("made"));
        for (Path place : places.stream().filter(Files::isDirectory).toList()) {
            int status = ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "--create",
                    "--no-compress", "--no-manifest", "--file", jar(place).toString(), "-C", place.toString(), ".");
            if (status != 0) { throw new AssertionError("no jar could be made of " + place); }
        }
        train();
        Files.writeString(folder.resolve("made"), places.toString());
    }

    /** Runs what most tests begin with. If no cache comes of it, what the JVM printed is shown. */
    private void train() throws IOException {
        Path output = folder.resolve("classes-" + ProcessHandle.current().pid() + ".aot");
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:AOTCacheOutput=" + output, "--enable-native-access=ALL-UNNAMED"));
        command.addAll(OPTIONS);
        command.addAll(TestProviders.options());
        command.addAll(classPath(jars()));
        command.addAll(List.of(ForkedMain.class.getName(), Training.class.getName()));
        Path log = folder.resolve("log");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        try {
            // ended by SIGTERM, its shutdown hooks remove the files of its endpoints
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) { process.destroy(); }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (Files.exists(output)) {
            Files.move(output, cache(), StandardCopyOption.ATOMIC_MOVE);
        } else {
            System.out.println("forked JVMs start without an AOT cache: " + Files.readString(log));
        }
    }

    /** A pair over each provider, and a write. */
    static final class Training {
        private Training() {}

        public static void main(String[] arguments) {
            TestProviders.rma().forEach(provider -> {
                try (Pair pair = new Pair(provider);
                        MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                        MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                    pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
                    pair.awaitCompletions(1);
                }
            });
        }
    }
}
