package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What the kernel has said since it started; dmesg(1). */
final class KernelLog {
    private KernelLog() {}

    /**
     * Soft-RoCE fails in the kernel where ofi4j would let something through. Only the log of a virtual machine is ours
     * to judge.
     */
    static void requireNoFailure() throws IOException {
        if (System.getenv("OFI4J_OTHER_PROCESSOR") == null) { return; }
        List<String> log = lines();
        assertThat(log).as("the kernel's log").isNotEmpty();
        assertThat(log.stream().filter(line -> line.matches(".*(Oops|BUG:|WARNING:|general protection|hung task).*")))
                .isEmpty();
    }

    private static List<String> lines() throws IOException {
        Process process = new ProcessBuilder("dmesg").redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return output.lines().toList();
    }
}
