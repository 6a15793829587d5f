package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Ties the threads that measure to a processor each, with taskset(1). Two that spin would otherwise now and then find
 * themselves on one, where an exchange takes until one of them is made to wait.
 */
final class Processors {
    private static final int COUNT = Runtime.getRuntime().availableProcessors();
    private static final int MANY = 4;
    private static final int SECONDS = 5;
    /** Where one JVM must not run on two processors, {@code scripts/verbs} says which one a second JVM may have. */
    private static final String OTHER = System.getenv("OFI4J_OTHER_PROCESSOR");

    private Processors() {}

    /** Ties the first process's thread; both sides have the same. */
    static void first(String thread) {
        tie(thread, COUNT - 1);
    }

    /** {@return the words that start a second process, where it must have a processor from its start} */
    static List<String> second(List<String> command) {
        return OTHER == null ? command : Stream.concat(Stream.of("taskset", "-c", OTHER), command.stream()).toList();
    }

    /** Ties the second process's thread, to what is probably another core. */
    static void second(String thread) {
        tie(thread, COUNT >= MANY ? COUNT / 2 - 2 : 0);
    }

    /** Where this is not allowed, it is left to the system. */
    private static void tie(String thread, int processor) {
        if (COUNT < 2) { return; }
        try {
            new ProcessBuilder("taskset", "-p", "-c", Integer.toString(processor), thread).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor(SECONDS, TimeUnit.SECONDS);
        } catch (IOException e) {
            // there is no taskset
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
