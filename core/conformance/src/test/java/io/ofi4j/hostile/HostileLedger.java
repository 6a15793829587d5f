package io.ofi4j.hostile;

import io.ofi4j.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a process holds: after a hostile program has closed everything it is as much as before. */
record HostileLedger(long descriptors, long sockets, long abandonedSockets, long threads, long sharedFiles,
        long mappings, long residentMebibytes) {
    /** Descriptors that stay with a provider, or come and go with the JVM. */
    private static final long DESCRIPTORS = 100;
    /** Mappings of memory, likewise: the JVM's own grow while it compiles. */
    private static final long MAPPINGS = 1500;
    /** Memory that is in use, likewise: the heap and what the JVM compiles. */
    private static final long MEBIBYTES = 450;
    private static final String SOCKET = "socket:[";
    private static final String CLOSE_WAIT = "08";
    private static final int STATE_FIELD = 3;
    private static final int INODE_FIELD = 9;
    private static final long TIMEOUT_NANOS = Patience.seconds(10).toNanos();

    static HostileLedger now() {
        System.gc(); // the heap's free pages are no leak, nor are malloc's
        returnFreeMemory();
        Set<String> sockets = openSockets();
        return new HostileLedger(count(Path.of("/proc/self/fd"), ".*"), sockets.size(), countAbandoned(sockets),
                countThreads(), count(Path.of("/dev/shm"), ".*\\b" + ProcessHandle.current().pid() + "\\b.*"),
                countMappings(), resident());
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

    /** Returns what malloc keeps free for each thread that ever was. */
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

    /** The inodes of the open sockets. */
    private static Set<String> openSockets() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.map(HostileLedger::target).filter(target -> target.startsWith(SOCKET))
                    .map(target -> target.substring(SOCKET.length(), target.length() - 1)).collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile
        }
    }

    /** The number of these sockets whose other end is closed: CLOSE_WAIT in proc_net(5). */
    private static long countAbandoned(Set<String> sockets) {
        long count = 0;
        for (String table : List.of("tcp", "tcp6")) {
            try (Stream<String> lines = Files.lines(Path.of("/proc/self/net", table))) {
                count += lines.map(line -> line.strip().split("\\s+"))
                        .filter(fields -> fields[STATE_FIELD].equals(CLOSE_WAIT))
                        .filter(fields -> sockets.contains(fields[INODE_FIELD])).count();
            } catch (NoSuchFileException e) {
                continue; // without IPv6
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return count;
    }

    private static long countMappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Fails if more is left than was there before. Two providers keep the socket of each connection that was broken off
     * while it was made: see tcp-rxm.md and sockets.md.
     */
    void requireNoMoreThan(HostileLedger before, HostileRun run) {
        System.out.println("held before " + before + ", afterwards " + this);
        long kept = kept(run.provider) - before.kept(run.provider);
        boolean hasMoreFiles = descriptors - kept > before.descriptors + DESCRIPTORS;
        boolean isMore = hasMoreFiles || threads > 0 || sharedFiles > before.sharedFiles
                || mappings > before.mappings + MAPPINGS || residentMebibytes > before.residentMebibytes + MEBIBYTES;
        if (isMore) { run.fail(new AssertionError("left over: " + this + ", before: " + before)); }
    }

    /** The number of descriptors that the provider is known to keep. */
    private long kept(String provider) {
        if (provider.contains("sockets")) { return sockets; }
        return provider.contains("ofi_rxm") ? abandonedSockets : 0;
    }
}
