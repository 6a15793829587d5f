package io.ofi4j.command.doctor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Files in /dev/shm that endpoints of the shm provider lived in whose process was killed, 16 MB each as a rule. Closing
 * an endpoint removes its file, and so does the end of its process, unless that is a kill. The provider's names begin
 * with the number of their process. The file of an endpoint that was given a name is known by that name, which the
 * provider writes into it, too.
 */
public final class AbandonedShmFiles {
    private static final Path FOLDER = Path.of("/dev/shm");
    /** Process, user, number; and a random number where the provider found that name taken. */
    private static final Pattern NAME = Pattern.compile("(\\d{1,10}):\\d+:\\d+(:\\d+)?");

    /** No endpoint's file is shorter. */
    private static final long MIN_LENGTH = 1 << 20;
    private static final int HEADER_LENGTH = 8;
    private static final int PROCESS_OFFSET = 4;
    /** Of the layout. */
    private static final int MAX_VERSION = 31;
    private static final long MAX_LENGTH = 256 << 20;
    /** Files of psm3 and sm2. They are not removed: these providers may use a file that no process has open. */
    private static final Pattern OTHERS = Pattern.compile("psm3_shm[.].*|fi_sm2_mmaps");

    private AbandonedShmFiles() {}

    /** {@return the unused files of other providers, psm3 and sm2, which are left alone} */
    static List<Path> ofOtherProviders() {
        FileLease lease = new FileLease(new SystemCalls());
        return all().filter(file -> OTHERS.matcher(file.getFileName().toString()).matches()).filter(lease::isUnused)
                .toList();
    }

    /**
     * {@return those whose process has ended and that no process has open or mapped: this user's and, for root,
     * everybody's}
     *
     * @throws IllegalCallerException if the JVM refuses native access
     */
    public static List<Path> find() {
        FileLease lease = new FileLease(new SystemCalls());
        return all().filter(AbandonedShmFiles::mayBeAbandoned).filter(lease::isUnused)
                .filter(AbandonedShmFiles::isOfEndpoint).toList();
    }

    /**
     * {@return those of {@link #find} that this call removed}
     *
     * @throws IllegalCallerException if the JVM refuses native access
     */
    public static List<Path> remove() {
        FileLease lease = new FileLease(new SystemCalls());
        return find().stream().filter(lease::removeUnused).toList();
    }

    private static Stream<Path> all() {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.sorted().toList().stream();
        } catch (IOException e) {
            return Stream.empty(); // without the folder there is no shm provider either
        }
    }

    /** By its name or its first bytes, before anybody is kept from opening it. Both are true in its container only. */
    private static boolean mayBeAbandoned(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        return name.matches()
                ? ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty()
                : beginsAsOfEndedProcess(file);
    }

    /**
     * Whether it begins with a small version, a zero byte, and at byte 4 the number of a process that is not there, as
     * an endpoint's file does up to libfabric 2.4.
     */
    private static boolean beginsAsOfEndedProcess(Path file) {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) { return false; }
        ByteBuffer header = ByteBuffer.allocate(HEADER_LENGTH).order(ByteOrder.nativeOrder());
        try (FileChannel channel = FileChannel.open(file)) {
            if (channel.size() < MIN_LENGTH || channel.size() > MAX_LENGTH || channel.read(header) < HEADER_LENGTH) {
                return false;
            }
        } catch (IOException e) {
            return false; // another user's
        }
        int version = header.get(0);
        int process = header.getInt(PROCESS_OFFSET);
        return version > 0 && version <= MAX_VERSION && header.get(1) == 0 && process > 0
                && ProcessHandle.of(process).isEmpty();
    }

    private static boolean isOfEndpoint(Path file) {
        return NAME.matcher(file.getFileName().toString()).matches() || hasItsNameInside(file);
    }

    /** Reads it: a mapping would last until the garbage collector comes, and the file would be in use. */
    private static boolean hasItsNameInside(Path file) {
        try {
            String content = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
            byte[] name = file.getFileName().toString().getBytes(StandardCharsets.UTF_8);
            return content.contains(new String(name, StandardCharsets.ISO_8859_1) + "\0");
        } catch (IOException e) {
            return false; // another user's
        }
    }
}
