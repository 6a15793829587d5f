package io.ofi4j.conformance;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a process ended, in words. */
final class Ending {
    private static final int SIGNALED = 128;
    private static final int KILLED = SIGNALED + 9;
    private static final Pattern SIGNAL = Pattern.compile("# +(SIG[A-Z]+) ");
    private static final Pattern FRAME = Pattern.compile("# C +\\[(.+?)\\+0x[0-9a-f]+] *([A-Za-z_0-9]*).*");

    /** Which options the JVM has found in its environment. */
    private static final String OPTIONS = "Picked up ";

    private Ending() {}

    /**
     * In words.
     *
     * @param status of the process, with 128 added to a signal's number, as Java has it
     * @param errors what it printed to standard error, such as the JVM's report of a crash
     */
    static String of(int status, List<String> errors) {
        if (status == KILLED) { return JavaProcess.KILLED; }
        Optional<String> signal = first(errors, SIGNAL).map(match -> match.group(1));
        Optional<String> frame = first(errors, FRAME)
                .map(match -> match.group(2).isEmpty() ? match.group(1) : match.group(2) + " of " + match.group(1));
        String how = signal.orElse(status > SIGNALED ? "signal " + (status - SIGNALED) : JavaProcess.STATUS + status);
        if (frame.isPresent()) { return how + " in " + frame.get(); }
        if (status == 0) { return how; } // what it printed is no reason
        Optional<String> said = errors.stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#") && !line.startsWith(OPTIONS)).findFirst();
        return how + said.map(line -> ": " + line).orElse("");
    }

    private static Optional<Matcher> first(List<String> lines, Pattern pattern) {
        return lines.stream().map(pattern::matcher).filter(Matcher::lookingAt).findFirst();
    }
}
