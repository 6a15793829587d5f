package io.ofi4j.examples.soak;

import io.ofi4j.examples.CommandFailure;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The process that operates on the target's memory, watched from here: it must neither die nor hang. */
final class Driver {
    /** To start, and to end the last round. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(180);
    private static final int SIGNALLED = 128;

    private final List<String> arguments;
    private final Duration duration;

    Driver(List<String> arguments, Duration duration) {
        this.arguments = arguments;
        this.duration = duration;
    }

    /** {@return its exit code} */
    int run() {
        Process process = Jvm.start(arguments, ProcessBuilder::inheritIO);
        Thread onEnd = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(onEnd);
        try {
            if (!process.waitFor(duration.plus(ALLOWANCE).toMillis(), TimeUnit.MILLISECONDS)) {
                Stacks.print(process);
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new CommandFailure("The soak did not end " + ALLOWANCE.toSeconds()
                        + " s after its time: it hangs, or other work leaves it no processor. See above where its threads"
                        + " are, and what processor time they have had.");
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        if (process.exitValue() > SIGNALLED) {
            throw new CommandFailure("The soak's JVM died of signal " + (process.exitValue() - SIGNALLED) + ".");
        }
        return process.exitValue();
    }
}
