package io.ofi4j.durable;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No save says that bytes survive a loss of power which a failing disk has lost, whoever was told of the error first.
 * The disk is ext4 on a loop device, whose file is on a tmpfs that is full.
 */
@Tag("long")
@Tag("once")
@Timeout(300)
class FailingDiskTest {
    private static final String DISK = """
            mount -t tmpfs -o size=48m tmpfs "$0" && mkdir "$0/disk" && truncate -s 256m "$0/image" &&
            mkfs.ext4 -q -b 4096 -O ^has_journal -E lazy_itable_init=0 "$0/image" && mount -o loop "$0/image" "$0/disk" || exit 77
            """;

    /** Who is told of the error before a save asks. */
    enum First {
        /** Nobody. */
        SAVE,
        /** Another process, which has synced the file system. */
        SYNC,
        /** The program, through the channel that it has mapped. */
        CHANNEL,
        /** The program, through the memory that it has registered. */
        MEMORY
    }

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void noSaveSaysThatLostBytesAreSafe(First first) {
        List<String> output = new ArrayList<>();
        boolean isAble = FaultPeer.exit(List.of("unshare", "-m", "sh", "-c", DISK, folder.toString()), output) == 0;
        assumeTrue(isAble, () -> "a disk that fails needs root, mkfs.ext4 and loop devices: " + output);
        Forked.Result result = Forked
                .startBehind(List.of("unshare", "-m", "sh", "-c", DISK + "exec \"$@\"", folder.toString()), Saves.class,
                        folder.toString(), first.name())
                .await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all as expected");
    }

    static final class Saves {
        private static final int LENGTH = 4 << 20;
        private static final int BLOCK = 4096;

        private static long lastToken;

        private Saves() {}

        public static void main(String[] arguments) throws Exception {
            Path disk = Path.of(arguments[0], "disk");
            First first = First.valueOf(arguments[1]);
            Path file = Files.write(disk.resolve("file"), new byte[0]);
            try (Saving pair = new Saving(Saving.hints("shm"));
                    MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE)) {
                pair.saver.saveThrough(pair.far, pair.service.ticket());
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                        Arena arena = Arena.ofShared()) {
                    MemorySegment memory = channel.map(MapMode.READ_WRITE, 0, LENGTH, arena);
                    try (MemoryRegion target = first == First.MEMORY
                            ? pair.domain.register(memory, Access.REMOTE_WRITE)
                            : first == First.CHANNEL
                                    ? pair.domain.map(channel, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)
                                    : pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                            MemoryRegion other = pair.domain.map(file, MapMode.READ_WRITE, 0, BLOCK,
                                    Access.REMOTE_WRITE)) {
                        require(target.kind() == MemoryKind.FILE, "it is " + target.kind());
                        loses(pair, source, target, other, disk, () -> tell(first, channel, memory, disk));
                    }
                }
                Files.delete(disk.resolveSibling("full")); // the disk works again
                try (MemoryRegion anew = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE)) {
                    write(pair, source, anew, (byte) 9);
                    requireSave(pair, anew, 0);
                }
            }
            run("umount", disk.toString());
            run("mount", "-o", "loop", disk.resolveSibling("image").toString(), disk.toString());
            byte[] bytes = Files.readAllBytes(file);
            require(bytes.length == LENGTH && bytes[0] == 9 && bytes[LENGTH - 1] == 9,
                    "lost after a save: " + bytes.length + " bytes, " + bytes[0] + " " + bytes[LENGTH - 1]);
            System.out.println("all as expected");
        }

        private static void loses(Saving pair, MemoryRegion source, MemoryRegion target, MemoryRegion other, Path disk,
                Telling telling) throws Exception {
            target.force();
            fill(disk.resolveSibling("full"));
            write(pair, source, target, (byte) 7);
            telling.tell();
            List<Integer> errors = new ArrayList<>();
            for (int save = 0; save < 8; save++) { // all in flight at once
                long offset = save * (long) LENGTH / 8;
                pair.saver.save(pair.far, target.remote().slice(offset, BLOCK), Durability.POWER_SAFE, ++lastToken);
            }
            while (errors.size() < 8) {
                errors.add(pair.awaitError().errno());
            }
            require(errors.stream().allMatch(error -> error == Errno.EIO), "errors " + errors);
            requireSave(pair, other, Errno.EIO);
            requireSave(pair, target, Errno.EIO);
        }

        private static void write(Saving pair, MemoryRegion source, MemoryRegion target, byte value) {
            source.segment().fill(value);
            pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1_000);
            pair.saver.save(pair.far, target.remote(), Durability.PROCESS_SAFE, ++lastToken);
            pair.await(lastToken);
            require(target.segment().get(JAVA_BYTE, LENGTH - 1) == value, "not there");
        }

        private static void requireSave(Saving pair, MemoryRegion region, int expected) {
            pair.saver.save(pair.far, region.remote(), Durability.POWER_SAFE, ++lastToken);
            if (expected == 0) {
                pair.await(lastToken);
            } else {
                require(pair.awaitError().errno() == expected, "another error");
            }
        }

        /** Fills the tmpfs, so that the loop device can write only where it has written before. */
        private static void fill(Path filler) {
            try (FileChannel channel = FileChannel.open(filler, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                while (channel.write(ByteBuffer.allocate(BLOCK)) == BLOCK) {
                    continue;
                }
            } catch (IOException e) {
                return; // full
            }
        }

        interface Telling {
            void tell() throws Exception;
        }

        private static void tell(First first, FileChannel channel, MemorySegment memory, Path disk) throws Exception {
            switch (first) {
                case SAVE -> {
                    return;
                }
                case SYNC -> requireError(() -> {
                    if (FaultPeer.exit(List.of("sync", "-f", disk.toString()), new ArrayList<>()) != 0) {
                        throw new IOException("sync");
                    }
                });
                case CHANNEL -> requireError(() -> channel.force(true));
                case MEMORY -> requireError(() -> {
                    try {
                        memory.force();
                    } catch (UncheckedIOException e) {
                        throw e.getCause();
                    }
                });
            }
        }

        private static void requireError(Telling write) throws Exception {
            try {
                write.tell();
            } catch (IOException e) {
                return;
            }
            throw new AssertionError("the disk did not fail");
        }

        private static void run(String... command) {
            List<String> output = new ArrayList<>();
            require(FaultPeer.exit(List.of(command), output) == 0, List.of(command) + ": " + output);
        }

        private static void require(boolean holds, String otherwise) {
            if (!holds) { throw new AssertionError(otherwise); }
        }
    }
}
