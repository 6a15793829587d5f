package io.ofi4j.command.soak;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Interrupt;
import io.ofi4j.conformance.JavaProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The process that operates on the target's memory, watched from here: it must neither die nor hang. */
final class Driver {
    /** To start, and to end the last round. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(180);
    private static final long LOOK_MILLIS = 100;
    private static final int SIGNALLED = 128;

    private final List<String> arguments;
    private final Duration duration;

    Driver(List<String> arguments, Duration duration) {
        this.arguments = arguments;
        this.duration = duration;
    }

    /** {@return whether it has ended in time} A Ctrl-C is handed on, where no terminal has done that. */
    private boolean await(Process process, Interrupt interrupt) throws InterruptedException {
        long end = System.nanoTime() + duration.plus(ALLOWANCE).toNanos();
        boolean handedOn = false;
        while (!process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
            if (System.nanoTime() > end) { return false; }
            if (interrupt.isAsked() && !handedOn) {
                handedOn = true;
                interrupt(process);
            }
        }
        return true;
    }

    private static void interrupt(Process process) {
        try {
            new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start();
        } catch (IOException e) {
            process.destroy(); // which has no summary
        }
    }

    /** {@return its exit code} */
    int run() {
        Process process = Jvm.start(arguments, ProcessBuilder::inheritIO);
        try {
            JavaProcess.endWithThis(process);
        } catch (IllegalStateException e) { // this process is being ended already
            throw new CommandFailure("The soak was ended before it began.");
        }
        try (Interrupt interrupt = new Interrupt()) {
            if (!await(process, interrupt)) {
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
        if (process.exitValue() > SIGNALLED && process.exitValue() != Interrupt.EXIT_CODE) {
            throw new CommandFailure("The soak's JVM died of signal " + (process.exitValue() - SIGNALLED) + ".");
        }
        return process.exitValue();
    }
}
