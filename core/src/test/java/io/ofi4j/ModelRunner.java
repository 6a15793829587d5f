package io.ofi4j;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Runs random programs in a JVM of its own. Arguments: provider, with {@code MSG} before it for connections, settings such as {@code SAFE:1,COMPLETION:3} (threading model and
 * number of threads), first seed, and of each setting the number of programs, their steps and the most seconds; then
 * {@code verbose} for a program that killed the JVM. Exit status 3: a program broke a rule.
 */
final class ModelRunner {
    private static final int BROKEN = 3;
    private static final int HUNG = 4;
    private static final long LONGEST_PROGRAM_SECONDS = 240;
    private static final int SETTLED = 20;
    private static final int DESCRIPTORS_TOLERATED = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** ofi_rxm fills all its receive buffers for each endpoint that is enabled, which was most of a program's time. */
    private static final Map<String, String> SMALL_BUFFERS = Map.of("FI_OFI_RXM_BUFFER_SIZE", "1024",
            "FI_OFI_RXM_MSG_RX_SIZE", "16", "FI_OFI_RXM_MSG_TX_SIZE", "16", "FI_OFI_RXM_RX_SIZE", "256",
            "FI_OFI_RXM_TX_SIZE", "256");

    private static volatile long begun = System.nanoTime();

    private ModelRunner() {
    }

    public static void main(String[] arguments) {
        Libfabric.load(SMALL_BUFFERS);
        watch();
        for (String setting : arguments[1].split(",")) {
            System.out.println("setting " + setting);
            String[] parts = setting.split(":");
            FabricHints hints = TestProviders.hints(arguments[0]).threading(ThreadingModel.valueOf(parts[0]));
            run(TestProviders.info(hints), Integer.parseInt(parts[1]), arguments);
        }
        System.exit(0);
    }

    private static void run(FabricInfo info, int threads, String[] arguments) {
        long first = Long.parseLong(arguments[2]);
        long count = Long.parseLong(arguments[3]);
        int steps = Integer.parseInt(arguments[4]);
        long nanos = Long.parseLong(arguments[5]) * 1_000_000_000;
        boolean isVerbose = arguments.length > 6;
        long start = System.nanoTime();
        long descriptors = -1;
        long run = 0;
        for (long seed = first; seed < first + count && (run == 0 || System.nanoTime() - start < nanos); seed++) {
            begun = System.nanoTime();
            System.out.println("program " + seed);
            run(info, threads, seed, steps, isVerbose);
            if (++run == SETTLED) { // by then everything that libfabric keeps is open
                descriptors = openDescriptors();
            }
        }
        checkLeaks(descriptors < 0 ? descriptors : descriptors + tolerated(info, threads, run));
        System.out.println("done " + run + " programs in " + (System.nanoTime() - start) / 1_000_000 + " ms");
    }

    private static void run(FabricInfo info, int threads, long seed, int steps, boolean isVerbose) {
        List<String> trace = List.of();
        try {
            if (info.endpoint().type() == EndpointType.MSG) {
                ModelConnections program = new ModelConnections(info, seed, isVerbose);
                trace = program.trace;
                program.run(steps);
            } else if (threads == 1) {
                ModelProgram program = new ModelProgram(info, seed, isVerbose);
                trace = program.trace;
                program.run(steps);
            } else {
                ModelThreads program = new ModelThreads(info, seed, threads, isVerbose);
                trace = program.trace;
                program.run(steps);
            }
        } catch (Throwable t) {
            t.printStackTrace(System.out);
            trace.stream().skip(Math.max(0, trace.size() - 200)).forEach(step -> System.out.println("  " + step));
            System.out.println("BROKEN by program " + seed);
            System.exit(BROKEN);
        }
    }

    private static long tolerated(FabricInfo info, int threads, long run) {
        if (info.provider().contains("ofi_rxm")) {
            return threads > 1 ? 2 * run : run / 4;
        }
        return 0;
    }

    /**
     * Rule: ofi_rxm keeps the socket of a connection that a peer had begun and the endpoint had not accepted when it was closed;
     * a C program of the same calls loses one each time, on 1.17 and on 2.1. tcp's xnet_pep_close says that it must abort them
     * and does not, and ofi_eq_cleanup frees the requests without their sockets. With threads that happens more often.
     */
    private static void checkLeaks(long descriptors) {
        long most = descriptors + DESCRIPTORS_TOLERATED;
        boolean leaks = descriptors >= 0 // some have threads that close them
                && !Waiting.YIELD.tryUntil(() -> openDescriptors() <= most, PATIENCE);
        if (leaks) {
            System.out.println("BROKEN: " + (openDescriptors() - descriptors) + " file descriptors leak");
            System.exit(BROKEN);
        }
        String files = list("/dev/shm").filter(name -> name.startsWith(ProcessHandle.current().pid() + ":")).toList()
                .toString();
        if (!files.equals("[]")) {
            System.out.println("BROKEN: left in /dev/shm: " + files);
            System.exit(BROKEN);
        }
    }

    private static long openDescriptors() {
        return list("/proc/self/fd").count();
    }

    private static Stream<String> list(String folder) {
        try (Stream<Path> files = Files.list(Path.of(folder))) {
            return files.map(file -> file.getFileName().toString()).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends a program that hangs, with the stacks of its threads. */
    private static void watch() {
        Thread.ofPlatform().daemon().start(() -> {
            while (System.nanoTime() - begun < LONGEST_PROGRAM_SECONDS * 1_000_000_000) {
                try {
                    Thread.sleep(100);
                } catch (InterruptedException e) {
                    return;
                }
            }
            Thread.getAllStackTraces().forEach((thread, frames) -> {
                System.out.println(thread);
                Stream.of(frames).forEach(frame -> System.out.println("    " + frame));
            });
            System.out.println("BROKEN: the program hangs");
            Runtime.getRuntime().halt(HUNG);
        });
    }
}
