package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Ties the threads that measure to a processor each, with taskset(1). Two that spin would otherwise now and then find
 * themselves on one, where an exchange takes until one of them is made to wait.
 */
final class Processors {
    private static final int COUNT = Runtime.getRuntime().availableProcessors();
    private static final int MANY = 4;
    private static final int SECONDS = 5;

    private Processors() {
    }

    /** Ties the first process's thread; both sides have the same. */
    static void first(String thread) {
        tie(thread, COUNT - 1);
    }

    /** Ties the second process's thread, to what is probably another core. */
    static void second(String thread) {
        tie(thread, COUNT >= MANY ? COUNT / 2 - 2 : 0);
    }

    /** Where this is not allowed, it is left to the system. */
    private static void tie(String thread, int processor) {
        if (COUNT < 2) {
            return;
        }
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
