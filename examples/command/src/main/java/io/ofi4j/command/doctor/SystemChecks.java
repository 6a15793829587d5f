package io.ofi4j.command.doctor;

import io.ofi4j.command.NativeAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What the kernel and the limits of this process allow. */
final class SystemChecks {
    private static final Path SHM = Path.of("/dev/shm");
    private static final long MEBIBYTE = 1 << 20;
    /** Two shm endpoints, about. */
    private static final long LEAST_SHM = 64 * MEBIBYTE;
    private static final Pattern LOCKED = Pattern.compile("Max locked memory\\s+(\\S+)");
    private static final Pattern DESCRIPTORS = Pattern.compile("Max open files\\s+(\\S+)");
    private static final long FEW_DESCRIPTORS = 1024;

    private SystemChecks() {}

    static List<Finding> all() {
        return List.of(machine(System.getProperty("os.arch")), lockedMemory(limit(LOCKED), LibfabricChecks.hasDevice()),
                descriptors(), crossMemoryAttach(text("/proc/sys/kernel/yama/ptrace_scope").orElse("0"),
                        LibfabricChecks.tryCrossMemory()),
                hugePages(), sharedMemory(), abandonedFiles());
    }

    /** What was tested of this kind of machine, by its name in Java. */
    static Finding machine(String name) {
        return switch (name) {
            case "amd64" -> Finding.ok("machine", "x86-64");
            case "aarch64" -> Finding.hint("machine", "aarch64, which was tried under emulation only",
                    "run the tests here: scripts/test");
            default -> Finding.hint("machine", name + ", which was not tried", "run the tests here: scripts/test");
        };
    }

    /**
     * What the limit means.
     *
     * @param limit in bytes, or {@code unlimited}
     * @param hasDevice whether an adapter pins what is registered
     */
    static Finding lockedMemory(String limit, boolean hasDevice) {
        if (limit.equals("unlimited") || !hasDevice) {
            return Finding.ok("locked memory",
                    limit.matches("\\d+") ? limit + " bytes, and no device needs more" : limit);
        }
        return Finding.problem("locked memory", limit + " bytes: registering more with an RDMA device fails",
                "'ulimit -l unlimited', or memlock in /etc/security/limits.conf, LimitMEMLOCK= in a systemd unit");
    }

    private static Finding descriptors() {
        String limit = limit(DESCRIPTORS);
        return limit.matches("\\d{1,9}") && Long.parseLong(limit) < FEW_DESCRIPTORS
                ? Finding.hint("descriptors", limit + " at most", "'ulimit -n 65536' if there are many connections")
                : Finding.ok("descriptors", limit + " at most");
    }

    /**
     * Whether shm may copy from process to process.
     *
     * @param scope Yama's rule; with 1 a process may read of those that it started, and of no others
     * @param refusal why reading of a process that was started for it failed, or nothing
     */
    static Finding crossMemoryAttach(String scope, Optional<String> refusal) {
        if (scope.equals("0") && refusal.isEmpty()) {
            return Finding.ok("cross-memory attach", "allowed between processes of one user; tried with another");
        }
        String found = refusal.orElse("tried with a child; of others it is refused")
                + (scope.equals("0") ? "" : ", kernel.yama.ptrace_scope is " + scope);
        return Finding.hint("cross-memory attach", found + ": shm copies large transfers twice, or fails",
                scope.equals("0")
                        ? "if processes of this machine use shm, allow process_vm_readv; in a container, start it with --cap-add=SYS_PTRACE"
                        : "'sysctl kernel.yama.ptrace_scope=0' if processes of this machine use shm");
    }

    private static Finding hugePages() {
        String transparent = text("/sys/kernel/mm/transparent_hugepage/enabled").map(SystemChecks::chosen)
                .orElse("none");
        long reserved = number("/proc/sys/vm/nr_hugepages");
        return Finding.ok("huge pages", "transparent: " + transparent + ", reserved: " + reserved);
    }

    /** The word in brackets. */
    private static String chosen(String words) {
        Matcher matcher = Pattern.compile("\\[(\\w+)]").matcher(words);
        return matcher.find() ? matcher.group(1) : words;
    }

    private static Finding sharedMemory() {
        if (Files.isDirectory(SHM) && !Files.isWritable(SHM)) {
            return Finding.problem("/dev/shm", "this process may not write to it: the shm provider cannot be used",
                    "'mount -o remount,rw /dev/shm' where it is read-only, 'chmod 1777 /dev/shm' where others own it");
        }
        try {
            long room = Files.getFileStore(SHM).getUsableSpace();
            return room < LEAST_SHM
                    ? Finding.problem("/dev/shm", room / MEBIBYTE + " MiB free; an shm endpoint takes 16 to 20",
                            "'mount -o remount,size=2g /dev/shm'; in a container, start it with --shm-size=2g")
                    : Finding.ok("/dev/shm", room / MEBIBYTE + " MiB free; an shm endpoint takes 16 to 20");
        } catch (IOException e) {
            return Finding.problem("/dev/shm", "not there", "mount a tmpfs there: the shm provider lives in it");
        }
    }

    private static Finding abandonedFiles() {
        List<Path> files;
        try {
            files = AbandonedShmFiles.find();
        } catch (IllegalCallerException e) {
            return Finding.hint("abandoned files", "not looked at: the JVM refuses native access",
                    "start java with " + NativeAccess.OPTION);
        }
        if (files.isEmpty()) {
            List<Path> others = AbandonedShmFiles.ofOtherProviders();
            return others.isEmpty()
                    ? Finding.ok("abandoned files", "none in /dev/shm")
                    : Finding.hint("abandoned files", "of the providers psm3 and sm2, not in use: " + names(others),
                            "remove them by hand if no job uses these providers");
        }
        return Finding.hint("abandoned files", files.size() + " of killed processes in /dev/shm: " + names(files),
                "'ofi4j doctor --clean' removes them");
    }

    private static String names(List<Path> files) {
        return files.stream().limit(3).map(file -> file.getFileName().toString()).collect(Collectors.joining(", "))
                + (files.size() > 3 ? ", ..." : "");
    }

    private static String limit(Pattern line) {
        Matcher matcher = line.matcher(text("/proc/self/limits").orElse(""));
        return matcher.find() ? matcher.group(1) : "unknown";
    }

    private static long number(String file) {
        return text(file).filter(text -> text.matches("\\d+")).map(Long::parseLong).orElse(0L);
    }

    private static Optional<String> text(String file) {
        try {
            return Optional.of(Files.readString(Path.of(file)).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
