package io.ofi4j.verbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What the kernel has said since it started; dmesg(1). */
final class KernelLog {
    private KernelLog() {}

    static List<String> lines() throws IOException {
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
