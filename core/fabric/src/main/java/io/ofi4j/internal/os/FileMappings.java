package io.ofi4j.internal.os;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the kernel says of a file that is mapped into this process: /proc/self/maps, smaps and mountinfo, proc(5). */
public final class FileMappings {
    /** Types of file systems that keep their files in memory alone. */
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs", "hugetlbfs", "devtmpfs", "rootfs");
    /** Keeps its files in a folder of another file system. */
    private static final String OVERLAY = "overlay";
    private static final Pattern UPPER_FOLDER = Pattern.compile("[ ,]upperdir=([^, ]+)");
    private static final Path MAPS = Path.of("/proc/self/maps");
    private static final Path SMAPS = Path.of("/proc/self/smaps");
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final int HEXADECIMAL = 16;
    private static final int RIGHTS = 1;
    private static final int OFFSET = 2;
    private static final int DEVICE = 3;
    private static final int NUMBER = 4;
    private static final int FILE = 5;
    private static final int MOUNTED_DEVICE = 2;

    private FileMappings() {}

    /**
     * A mapping.
     *
     * @param begin its address
     * @param offset of its first byte in the file
     * @param isShared whether its bytes are those of the file
     * @param fileSystem the type of the file system; empty if it is unknown
     * @param mayBeDirect whether the file system may have DAX
     * @param file names the file as long as it exists: its device and number
     * @param path of the file, with a character for each byte; empty if there is none
     */
    public record Mapping(long begin, long offset, boolean isShared, String fileSystem, boolean mayBeDirect,
            String file, String path) {
        /** The place in the file of an address in the mapping. */
        public long placeOf(long address) {
            return offset + address - begin;
        }

        /** The number of the file in its file system, of stat(2). */
        public long number() {
            return Long.parseUnsignedLong(file.substring(file.indexOf(' ') + 1));
        }

        /** Whether the file is lost when power fails; also true if the file system is unknown. */
        public boolean isInMemory() {
            return fileSystem.isEmpty() || IN_MEMORY.contains(fileSystem);
        }
    }

    /** The mapping at an address; empty if there is none, or the kernel does not say. */
    public static Optional<Mapping> at(long address) {
        try (Stream<String> lines = lines(MAPS)) {
            return lines.filter(line -> holds(line, address)).findFirst().map(FileMappings::mapping);
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    /** The paths of all mapped files, with a character for each byte; empty if the kernel does not say. */
    public static Set<String> files() {
        try (Stream<String> lines = lines(MAPS)) {
            return lines.map(line -> line.split(" +", FILE + 1)).filter(words -> words.length > FILE)
                    .map(words -> path(words[FILE])).collect(Collectors.toSet());
        } catch (IOException | UncheckedIOException e) {
            return Set.of();
        }
    }

    /** An interrupt closes the channel of Files.lines, and what a file is must not depend on that. */
    private static Stream<String> lines(Path file) throws IOException {
        BufferedReader reader = new BufferedReader(
                new InputStreamReader(new FileInputStream(file.toFile()), StandardCharsets.ISO_8859_1));
        return reader.lines().onClose(() -> close(reader));
    }

    private static void close(BufferedReader reader) {
        try {
            reader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The path in a line: a new line is written as a number. */
    private static String path(String word) {
        return word.replace("\\012", "\n");
    }

    /** Whether pages at an address are mapped with MAP_SYNC. It may take milliseconds: the kernel counts all pages. */
    public static boolean isSynchronous(long address) {
        try (Stream<String> lines = lines(SMAPS)) {
            return lines.dropWhile(line -> !holds(line, address)).filter(line -> line.startsWith("VmFlags:"))
                    .findFirst().filter(flags -> List.of(flags.split(" ")).contains("sf")).isPresent();
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }

    /** Whether an address is in the mapping of a line "begin-end rights offset device inode file". */
    private static boolean holds(String line, long address) {
        int dash = line.indexOf('-');
        int space = line.indexOf(' ');
        if (dash < 1 || space < dash || !line.substring(0, space).matches("[0-9a-f]+-[0-9a-f]+")) { return false; }
        return Long.compareUnsigned(Long.parseUnsignedLong(line.substring(0, dash), HEXADECIMAL), address) <= 0 && Long
                .compareUnsigned(Long.parseUnsignedLong(line.substring(dash + 1, space), HEXADECIMAL), address) > 0;
    }

    private static Mapping mapping(String line) {
        String[] words = line.split(" +", FILE + 1);
        Optional<String> mount = mount(decimal(words[DEVICE]));
        String type = mount.map(FileMappings::typeIn).or(() -> typeOf(words.length > FILE ? words[FILE] : ""))
                .orElse("");
        boolean mayBeDirect = type.equals("xfs")
                || mount.filter(text -> text.matches(".*[ ,]dax([ ,=].*|$)")).isPresent();
        if (type.equals(OVERLAY)) { type = mount.flatMap(FileMappings::typeOfUpperFolder).orElse(type); }
        return new Mapping(Long.parseUnsignedLong(words[0].substring(0, words[0].indexOf('-')), HEXADECIMAL),
                Long.parseUnsignedLong(words[OFFSET], HEXADECIMAL), words[RIGHTS].endsWith("s"), type, mayBeDirect,
                words[DEVICE] + " " + words[NUMBER], words.length > FILE ? path(words[FILE]) : "");
    }

    /** Converts a device, "major:minor", from the hexadecimal numbers of maps to the decimal ones of mountinfo. */
    private static String decimal(String device) {
        String[] parts = device.split(":");
        return Integer.parseInt(parts[0], HEXADECIMAL) + ":" + Integer.parseInt(parts[1], HEXADECIMAL);
    }

    private static Optional<String> mount(String device) {
        try (Stream<String> lines = lines(MOUNTS)) {
            return lines.filter(line -> line.split(" ")[MOUNTED_DEVICE].equals(device)).findFirst();
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    /** The type in a line "… - type source options". */
    private static String typeIn(String mount) {
        return mount.substring(mount.indexOf(" - ") + 3).split(" ")[0];
    }

    /** Empty where this process does not see the folder, as in a container. */
    private static Optional<String> typeOfUpperFolder(String mount) {
        Matcher folder = UPPER_FOLDER.matcher(mount);
        return folder.find() ? typeOf(folder.group(1)) : Optional.empty();
    }

    /** The type as the JDK finds it: on btrfs the device of a file is not that of its mount. */
    private static Optional<String> typeOf(String file) {
        try {
            return file.startsWith("/") ? Optional.of(Files.getFileStore(Path.of(file)).type()) : Optional.empty();
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }
}
