package io.ofi4j.hostile;

import io.ofi4j.info.Capability;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * C programs that use libfabric before, beside and after a JVM in the same process, which uses ofi4j and is ended in
 * the middle of whatever it does: what C does is right at any time, errors included. Each has a process of its own: a
 * process has one JVM only.
 */
final class HostileGuests {
    private static final Path SOURCE = Path.of("src", "test", "c", "ended_jvm.c");
    private static final String LIBRARY = System.getProperty("io.ofi4j.library", "");
    private static final String JAVA_HOME = System.getProperty("java.home");
    private static final String EXPECTED = "C: all as expected";
    private static final int MOST = 6;

    private HostileGuests() {}

    /** {@return why this machine cannot run them; empty if it can} */
    static Optional<String> whyNot() {
        try {
            Path program = Files.createTempFile("ended-jvm", "");
            try {
                return compile(program);
            } finally {
                Files.delete(program);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes the program. Returns what the compiler has against that. */
    private static Optional<String> compile(Path program) throws IOException {
        List<String> command = new ArrayList<>(List.of("cc", "-w", "-o", program.toString(), SOURCE.toString(),
                "-I" + JAVA_HOME + "/include", "-I" + JAVA_HOME + "/include/linux"));
        if (!LIBRARY.isEmpty()) { command.add("-I" + Path.of(LIBRARY).resolveSibling("../include").normalize()); }
        command.addAll(List.of(LIBRARY.isEmpty() ? "-l:libfabric.so.1" : LIBRARY, "-L" + JAVA_HOME + "/lib/server",
                "-ljvm", "-Wl,-rpath," + JAVA_HOME + "/lib/server"));
        try {
            Process compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(compiler.getInputStream().readAllBytes());
            return compiler.waitFor() == 0
                    ? Optional.empty()
                    : Optional
                            .of("a C program needs a compiler, and the headers of libfabric and of the JDK: " + output);
        } catch (IOException e) {
            return Optional.of("there is no C compiler: " + e.getMessage());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        Path program = Files.createTempFile("ended-jvm", "");
        try {
            compile(program).ifPresent(problem -> {
                throw new AssertionError(problem);
            });
            while (run.goesOn()) {
                String letters = letters(run.provider, random);
                run(run, program, letters, random.nextLong() & Long.MAX_VALUE);
                letters.chars().forEach(letter -> run.tried("steps " + (char) letter));
            }
        } finally {
            Files.delete(program);
        }
    }

    /** What C does; behind the JVM's end, everything once at least. */
    private static String letters(String provider, Random random) {
        String kinds = switch (provider) {
            case "shm" -> "osec"; // in C, too, a peer that leaves ends the process, and wrong keys are no errors on 2.1
            case "udp;ofi_rxd" -> "oselc"; // a wrong key is never an error
            default -> "oserlc";
        };
        return "o" + any(kinds, random) + "J" + any(kinds, random) + "D" + any(kinds, random) + kinds
                + any(kinds, random);
    }

    private static String any(String letters, Random random) {
        StringBuilder chosen = new StringBuilder();
        for (int i = random.nextInt(MOST); i > 0; i--) {
            chosen.append(letters.charAt(random.nextInt(letters.length())));
        }
        return chosen.toString();
    }

    private static void run(HostileRun run, Path program, String letters, long seed) throws Exception {
        Path log = Files.createTempFile("ended-jvm", ".log");
        ProcessBuilder builder = new ProcessBuilder(program.toString(), run.provider, letters,
                System.getProperty("java.class.path"), LIBRARY, Guest.class.getName().replace('.', '/'), run.provider,
                Long.toString(seed)).redirectErrorStream(true).redirectOutput(log.toFile());
        // What ofi4j sets before it loads libfabric: here C has loaded it already.
        builder.environment()
                .putAll(Map.of("IPATH_NO_BACKTRACE", "1", "HFI_NO_BACKTRACE", "1", "FI_MR_CACHE_MONITOR", "disabled"));
        if (!LIBRARY.isEmpty()) {
            builder.environment().put("LD_LIBRARY_PATH", Path.of(LIBRARY).getParent().toString());
        }
        Process process = builder.start();
        boolean isOver = process.waitFor(3 * Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly().waitFor();
        HostileKills.removeFiles(process);
        String output = Files.readString(log);
        Files.delete(log);
        if (!isOver || process.exitValue() != 0 || !output.contains(EXPECTED)) {
            throw new AssertionError("C did " + letters + " with the guest " + seed + ", and "
                    + (isOver ? "ended with " + process.exitValue() : "hung") + ":\n" + output);
        }
        output.lines().filter(line -> line.startsWith("guest ")).forEach(run::tried);
    }

    /** What runs in the JVM. Arguments: the provider, and a seed. */
    static final class Guest {
        private Guest() {}

        public static void main(String[] arguments) throws InterruptedException {
            Random random = new Random(Long.parseLong(arguments[1]));
            for (int pairs = random.nextInt(3); pairs >= 0; pairs--) {
                Capability family = HostileFamilies.one(random, arguments[0]);
                HostileTraffic traffic = new HostileTraffic(arguments[0], family);
                switch (random.nextInt(3)) {
                    case 0 -> {
                        System.out.println("guest closes " + family);
                        work(traffic, random, 200);
                        traffic.pair.endpoint.close();
                    }
                    case 1 -> {
                        System.out.println("guest leaves " + family + " open");
                        work(traffic, random, 200);
                    }
                    default -> {
                        System.out.println("guest is in the middle of " + family);
                        long seed = random.nextLong();
                        Thread.ofPlatform().daemon().start(() -> work(traffic, new Random(seed), Integer.MAX_VALUE));
                    }
                }
            }
            Thread.sleep(random.nextInt(50));
        }

        private static void work(HostileTraffic traffic, Random random, int steps) {
            try {
                for (int step = 0; step < steps; step++) {
                    traffic.tryPost(random, 1);
                    traffic.tryReceive(random, 0);
                    traffic.pair.poll();
                }
            } catch (IllegalStateException e) { // the hook has closed the endpoint
                System.out.println("guest was ended");
            }
        }
    }
}
