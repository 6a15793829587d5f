package io.ofi4j.command.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds.
 *
 * @param resident its resident memory in bytes
 * @param descriptors how many descriptors are open
 * @param sharedFiles how many files in /dev/shm are its own
 */
record Usage(long resident, long descriptors, long sharedFiles) {
    private static final int KIBIBYTE = 1024;
    private static final double MEBIBYTE = KIBIBYTE * KIBIBYTE;

    /** {@return what a process of this user holds now} */
    static Usage of(long process) {
        Path folder = Path.of("/proc", Long.toString(process));
        try (Stream<String> lines = Files.lines(folder.resolve("status"));
                Stream<Path> descriptors = Files.list(folder.resolve("fd"))) {
            long resident = lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIBIBYTE).findFirst().orElse(0);
            return new Usage(resident, descriptors.count(), sharedFiles(process));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@return how many files in /dev/shm a process has, or has left there} The provider names them after it. */
    static long sharedFiles(long process) {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> file.getFileName().toString().startsWith(process + ":")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return String.format("%.0f MiB, %d descriptors, %d files in /dev/shm", resident / MEBIBYTE, descriptors,
                sharedFiles);
    }
}
