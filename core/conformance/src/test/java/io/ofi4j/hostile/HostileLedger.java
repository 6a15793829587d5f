package io.ofi4j.hostile;

import io.ofi4j.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What a process holds: after a hostile program has closed everything it is as much as before. */
record HostileLedger(long descriptors, long sockets, long threads, long sharedFiles, long mappings,
        long residentMebibytes) {
    /** Descriptors that stay with a provider, or come and go with the JVM. */
    private static final long DESCRIPTORS = 100;
    /** Mappings of memory, likewise: the JVM's own grow while it compiles. */
    private static final long MAPPINGS = 1500;
    /** Memory that is in use, likewise: the heap and what the JVM compiles. */
    private static final long MEBIBYTES = 450;
    private static final long TIMEOUT_NANOS = Patience.seconds(10).toNanos();

    static HostileLedger now() {
        returnFreeMemory();
        return new HostileLedger(count(Path.of("/proc/self/fd"), ".*"), countSockets(), countThreads(),
                count(Path.of("/dev/shm"), ".*\\b" + ProcessHandle.current().pid() + "\\b.*"), countMappings(),
                resident());
    }

    /** What is held once the library's threads, which end when what they serve is closed, have had time for it. */
    static HostileLedger afterwards() throws InterruptedException {
        for (long deadline = System.nanoTime() + TIMEOUT_NANOS; countThreads() > 0 && System.nanoTime() < deadline;) {
            Thread.sleep(10);
        }
        return now();
    }

    private static long countThreads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("ofi4j"))
                .count();
    }

    /** What malloc keeps free, for each thread that ever was, is no leak. */
    @SuppressWarnings("restricted")
    private static void returnFreeMemory() {
        Linker linker = Linker.nativeLinker();
        try {
            linker.downcallHandle(linker.defaultLookup().find("malloc_trim").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)).invoke(0L);
        } catch (Throwable t) {
            throw new AssertionError("malloc_trim", t);
        }
    }

    private static long resident() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:")).map(line -> line.replaceAll("\\D", ""))
                    .mapToLong(Long::parseLong).findFirst().orElseThrow() / 1024;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long count(Path folder, String pattern) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(pattern)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long countSockets() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(HostileLedger::isSocket).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    private static long countMappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Fails if more is left than was there before; sockets and ofi_rxm leave the socket of each connection that was
     * broken off while it was made, see PROVIDERS.md.
     */
    void requireNoMoreThan(HostileLedger before, HostileRun run) {
        System.out.println("held before " + before + ", afterwards " + this);
        boolean keepsSockets = run.provider.contains("sockets") || run.provider.contains("ofi_rxm");
        boolean hasMoreFiles = descriptors - sockets > before.descriptors - before.sockets + DESCRIPTORS
                || !keepsSockets && sockets > before.sockets + DESCRIPTORS;
        boolean isMore = hasMoreFiles || threads > 0 || sharedFiles > before.sharedFiles
                || mappings > before.mappings + MAPPINGS || residentMebibytes > before.residentMebibytes + MEBIBYTES;
        if (isMore) { run.fail(new AssertionError("left over: " + this + ", before: " + before)); }
    }
}
