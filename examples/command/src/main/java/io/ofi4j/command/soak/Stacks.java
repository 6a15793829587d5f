package io.ofi4j.command.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Where the threads of other JVMs are. */
final class Stacks {
    private static final Duration TO_PRINT = Duration.ofSeconds(5);

    private Stacks() {}

    /**
     * Has a process and those that it started print their threads' stacks to stderr (SIGQUIT), and gives them some
     * seconds for it. One that prints nothing has a thread in a native call that holds up all others.
     */
    static void print(Process process) {
        try {
            for (ProcessHandle one : Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList()) {
                if (isJvm(one)) { quit(one.pid()); }
            }
            process.waitFor(TO_PRINT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The signal ends any other, such as a shell. */
    private static boolean isJvm(ProcessHandle process) {
        try {
            return Files.isSameFile(Path.of("/proc", Long.toString(process.pid()), "exe"),
                    Path.of(System.getProperty("java.home"), "bin", "java"));
        } catch (IOException e) {
            return false; // it has ended
        }
    }

    private static void quit(long process) throws InterruptedException {
        try {
            new ProcessBuilder(List.of("sh", "-c", "kill -QUIT " + process)).start().waitFor();
        } catch (IOException e) {
            throw new IllegalStateException("there is no shell to send a signal with", e);
        }
    }
}
