package io.ofi4j.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Another process that this one can see.
 *
 * @param number its own
 * @param begin when it began, in the kernel's words: numbers are given again
 */
record OtherProcess(long number, String begin) {
    /** Where these stand in /proc/NUMBER/stat, behind the command's name. */
    private static final int STATE = 0;
    private static final int THREADS = 17;
    private static final int BEGIN = 19;

    /** The process of a number that has mapped a file; nothing where it is another's number, as in another container. */
    static Optional<OtherProcess> thatMaps(Path file, long number) {
        try {
            String[] facts = facts(number);
            boolean maps = new String(Files.readAllBytes(folder(number).resolve("maps")), StandardCharsets.ISO_8859_1)
                    .contains(" " + file + "\n");
            return maps ? Optional.of(new OtherProcess(number, facts[BEGIN])) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether it certainly runs no more; also where its parent has not asked yet how it ended. */
    boolean hasEnded() {
        try {
            String[] facts = facts(number);
            boolean isOver = "ZX".contains(facts[STATE]) && facts[THREADS].equals("1");
            return isOver || !facts[BEGIN].equals(begin);
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException e) {
            return false; // it ends just now, or this process may open no more files
        }
    }

    private static String[] facts(long number) throws IOException {
        String text = new String(Files.readAllBytes(folder(number).resolve("stat")), StandardCharsets.ISO_8859_1);
        return text.substring(text.lastIndexOf(')') + 2).split(" ");
    }

    private static Path folder(long number) {
        return Path.of("/proc", Long.toString(number));
    }
}
