package io.ofi4j.command.powerfail;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/** Compares what is left of the files with what was acknowledged. */
final class Check {
    private Check() {}

    /**
     * Arguments: what the writer printed, and the files as they are now. Prints for each file
     * {@code FILE ACKNOWLEDGED CHECKED LOST}: how many writes were acknowledged by saves, how many of them are the last
     * to their slots, and how many of those are missing.
     */
    static void run(String[] arguments) throws IOException {
        String printed = Files.readString(Path.of(arguments[0]));
        printed = printed.substring(0, printed.lastIndexOf('\n') + 1); // the last line may have been cut off
        long[] saved = new long[arguments.length - 1];
        printed.lines().filter(line -> line.startsWith("saved ")).map(line -> line.split(" "))
                .forEach(words -> saved[Integer.parseInt(words[1])] = Long.parseLong(words[2]));
        for (int file = 0; file < saved.length; file++) {
            Path path = Path.of(arguments[file + 1]);
            byte[] bytes = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
            long checked = Math.min(saved[file], SlotFile.SLOTS);
            System.out.println(file + " " + saved[file] + " " + checked + " " + lost(bytes, saved[file], checked));
        }
    }

    private static long lost(byte[] bytes, long newest, long count) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Math.max(1, bytes.length), Long.BYTES).asSlice(0, bytes.length);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            long lost = 0;
            for (long write = newest - count + 1; write <= newest; write++) {
                if (!SlotFile.has(memory, write)) { lost++; }
            }
            return lost;
        }
    }
}
