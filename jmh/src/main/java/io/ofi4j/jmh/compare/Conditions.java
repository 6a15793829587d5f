package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Prints under which conditions is measured. */
final class Conditions {
    private Conditions() {}

    /** @param figures what memory takes on this machine */
    static void print(PrintWriter out, String libfabric, String figures, boolean alone, boolean ordered,
            List<String> jvmOptions) {
        machine(out, libfabric);
        out.println(figures);
        out.printf("C: %s %s; %s, %s, all checks on%n", Baseline.compilerVersion(), String.join(" ", Baseline.OPTIONS),
                java(), jvmOptions.isEmpty() ? "default options" : String.join(" ", jvmOptions));
        out.printf(
                "one thread works in each process, spinning, tied to a processor%s%s; polls of at most %d; slices of about 4 ms in turns; "
                        + "pingpong: round trips between two processes, 50 ms slices, corrected for coordinated omission%n",
                alone ? ", and C has no other" : "", ordered ? "; an order of writes is asked for" : "", World.BATCH);
        out.flush();
    }

    /** The line that every table begins with. */
    static void machine(PrintWriter out, String libfabric) {
        out.printf(Locale.ROOT, "libfabric %s on %s, Linux %s, %d cores, %s, load %.2f%n", libfabric, system(),
                System.getProperty("os.version"), Runtime.getRuntime().availableProcessors(),
                value("/proc/cpuinfo", "model name").orElse(System.getProperty("os.arch")),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    /** {@return the JVM that is measured} */
    static String java() {
        return "Java: " + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version");
    }

    private static String system() { return value("/etc/os-release", "PRETTY_NAME").orElse("Linux"); }

    /** The value of a line such as {@code name = "value"}. */
    private static Optional<String> value(String file, String name) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(name)).findFirst()
                    .map(line -> line.substring(name.length()).replaceFirst("^\\s*[:=]\\s*", "").replace("\"", ""));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
