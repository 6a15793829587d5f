package io.ofi4j.hostile;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The JVM that hostile programs run in: {@code -Dofi4j.hostile.jvm} names another than the usual one. A name, so that a
 * failure can be repeated by it.
 */
enum HostileJvm {
    /** Every compiler. */
    USUAL("-XX:TieredStopAtLevel=4"),
    /** Nothing is compiled. */
    INTERPRETED("-Xint"),
    /** The first compiler alone. */
    CLIENT("-XX:TieredStopAtLevel=1"),
    /** Each call of native code is checked. */
    CHECKED("-XX:TieredStopAtLevel=4", "-Xcheck:jni"),
    /** A collector that moves objects while threads run. */
    CONCURRENT("-XX:TieredStopAtLevel=4", "-XX:-UseSerialGC", "-XX:+UseZGC"),
    /** Another process has the stacks of all threads printed, again and again. */
    WATCHED("-XX:TieredStopAtLevel=4");

    private static final List<String> WARNINGS = List.of("WARNING in native method", "FATAL ERROR in native method");
    private static final long DUMP_SECONDS = 30;

    private final List<String> options;

    HostileJvm(String... options) { this.options = List.of(options); }

    /** {@return the chosen one} */
    static HostileJvm chosen() {
        String name = System.getProperty("ofi4j.hostile.jvm", USUAL.name());
        return valueOf(name.isEmpty() ? USUAL.name() : name);
    }

    /** {@return the options that make it; behind those of any forked JVM} */
    List<String> options() { return options; }

    /** {@return the words that have {@code scripts/test --hostile} run in it} */
    String argument() {
        return this == USUAL ? "" : " --jvm " + name();
    }

    /** {@return whether it has warned of a call of native code} */
    boolean hasWarned(String output) {
        return WARNINGS.stream().anyMatch(output::contains);
    }

    /** Begins to do to the process what this is about; until it has ended. */
    void attend(Process process) {
        if (this != WATCHED) { return; }
        Thread.ofPlatform().daemon().name("hostile-dumps").start(() -> {
            while (process.isAlive()) {
                dump(process.pid());
            }
        });
    }

    private static void dump(long pid) {
        try {
            Process dump = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                    Long.toString(pid), "Thread.print").redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            if (!dump.waitFor(DUMP_SECONDS, TimeUnit.SECONDS)) { dump.destroyForcibly(); }
        } catch (IOException e) {
            throw new AssertionError("jcmd", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
