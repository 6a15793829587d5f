package io.ofi4j.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The threads, in whatever process, that may hold a spin lock in a file they have mapped. Who holds it executes a few instructions and
 * system calls and lets it go: it neither sleeps, nor is it busy outside the kernel for long. So who sleeps does not hold it, nor
 * who has been busy for long: he waits for it. Who is ready to run, or was stopped, may have been interrupted while he held it.
 * Processes of other containers, which share the file and cannot be seen, are the exception: of them only time tells.
 */
final class LockSuspects {
    private static final Path PROCESSES = Path.of("/proc");
    private static final Path MYSELF = Path.of("/proc/thread-self");
    /** Where these stand in /proc/PROCESS/task/THREAD/stat, behind the command's name. */
    private static final int STATE = 0;
    private static final int BUSY = 11;
    private static final String SLEEPING_OR_ENDED = "SIZX";
    private static final String OVER = "X 0 0 0 0 0 0 0 0 0 0 0";
    private static final String ENDED = "No such process";
    /** In hundredths of a second. */
    private static final long LONG = 50;
    private static final long LONG_ENOUGH_ONCE = 10;
    /** That many looks in a row find nobody: a thread that sleeps until another lets go of something is awake in the next. */
    private static final int LOOKS = 3;

    /** Each with how busy it has been when it became one. */
    private final Map<Path, Long> threads = new HashMap<>();
    private int innocentLooks;

    private LockSuspects() {
    }

    /** @throws IOException if it cannot be found out who they are */
    static LockSuspects thatMap(Path file) throws IOException {
        LockSuspects suspects = new LockSuspects();
        Path me = PROCESSES.resolve(Files.readSymbolicLink(MYSELF));
        for (Path process : list(PROCESSES)) {
            if (Character.isDigit(process.getFileName().toString().charAt(0)) && maps(process, file)) {
                for (Path thread : list(process.resolve("task"))) {
                    suspects.threads.put(thread, Long.parseLong(facts(thread)[BUSY]));
                }
            }
        }
        if (suspects.threads.remove(me) == null) {
            throw new IOException("not even this thread was found");
        }
        return suspects;
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> paths = Files.list(folder)) {
            return paths.toList();
        } catch (NoSuchFileException e) {
            return List.of(); // it has ended
        }
    }

    private static boolean maps(Path process, Path file) throws IOException {
        return read(process.resolve("maps")).contains(" " + file + "\n");
    }

    /** Nothing of who has ended; nothing either of another user's, who may not map what this one has. */
    private static String read(Path file) throws IOException {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException | AccessDeniedException e) {
            return "";
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains(ENDED)) {
                return "";
            }
            throw e;
        }
    }

    /** Of one that has ended, as if it slept. */
    private static String[] facts(Path thread) throws IOException {
        String text = read(thread.resolve("stat"));
        return text.isEmpty() ? OVER.split(" ") : text.substring(text.lastIndexOf(')') + 2).split(" ");
    }

    /**
     * Whether certainly none of them holds the lock.
     *
     * @throws IOException if that cannot be found out now
     */
    boolean areInnocent() throws IOException {
        boolean innocent = true;
        for (Map.Entry<Path, Long> one : threads.entrySet()) {
            innocent &= isInnocent(one, LONG);
        }
        innocentLooks = innocent ? innocentLooks + 1 : 0;
        return innocentLooks >= LOOKS;
    }

    private static boolean isInnocent(Map.Entry<Path, Long> thread, long enough) throws IOException {
        String[] facts = facts(thread.getKey());
        return SLEEPING_OR_ENDED.contains(facts[STATE]) || Long.parseLong(facts[BUSY]) - thread.getValue() >= enough;
    }

    /**
     * Whether each of them has been seen innocent at some time since they were looked for: certain of something that is held once.
     *
     * @throws IOException if that cannot be found out now
     */
    boolean haveAlibis() throws IOException {
        for (Map.Entry<Path, Long> one : List.copyOf(threads.entrySet())) {
            if (isInnocent(one, LONG_ENOUGH_ONCE)) {
                threads.remove(one.getKey());
            }
        }
        return threads.isEmpty();
    }
}
