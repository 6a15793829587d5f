package io.ofi4j.command.top;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Descriptor;
import io.ofi4j.command.WholeNumber;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ofi4j top}. */
@Command(name = "top",
        description = {
                "Shows what the endpoints and queues of another JVM do: rates, operations in "
                        + "flight, retries, failures, slow posts.",
                "Without a PID it lists the JVMs of this user that have libfabric."})
public final class TopCommand implements Runnable {
    private static final String CLEAR = "\033[H\033[J";
    private static final int MOST_SECONDS = 3600;
    private static final long MILLIS_PER_SECOND = 1000;

    @Parameters(arity = "0..1", paramLabel = "PID", converter = Number.class, description = {
            "The process to look at. It must run with", "-Dio.ofi4j.jmx=true, or call", "Libfabric.showOpenObjects()."})
    private Integer pid;

    @Option(names = {"-i", "--interval"}, paramLabel = "SECONDS", converter = Seconds.class,
            description = "How long between two looks, 1 to " + MOST_SECONDS + ". Without it 1.")
    private int interval = 1;

    @Option(names = {"-n", "--count"}, paramLabel = "COUNT", converter = Number.class,
            description = "How many tables. Without it, until the JVM ends.")
    private Integer count;

    @Option(names = "--json", description = "Print one JSON object with everything, after one interval, and end.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (pid == null) {
            if (count != null) { throw new ParameterException(spec.commandLine(), "-n goes with a PID"); }
            list(out);
        } else {
            try (Observed jvm = new Observed(pid)) {
                watch(jvm, Jvms.command(pid), out);
            }
        }
        out.flush();
    }

    private void list(PrintWriter out) {
        List<Jvms.Jvm> jvms = Jvms.withLibfabric();
        if (json) {
            out.println(TopJson.of(jvms));
        } else if (jvms.isEmpty()) {
            out.println("No JVM of this user has loaded libfabric.");
        } else {
            out.printf("%10s  %s%n", "PID", "JVM");
            jvms.forEach(jvm -> out.printf("%10d  %s%n", jvm.pid(), jvm.command()));
        }
    }

    private void watch(Observed jvm, String command, PrintWriter out) {
        TopTable table = new TopTable(out);
        boolean isTerminal = Descriptor.OUTPUT.isTerminal();
        Sample before = jvm.sample();
        int tables = json ? 1 : count == null ? Integer.MAX_VALUE : count;
        for (int printed = 0; printed < tables && !System.out.checkError(); printed++) { // its reader may end
            Sample now = next(jvm);
            if (now == null) { return; }
            Sample.Rates rates = now.since(before);
            if (json) {
                out.println(TopJson.of(pid, command, now, rates));
            } else {
                if (isTerminal) {
                    out.print(CLEAR);
                } else if (printed > 0) { out.println(); }
                table.print("JVM " + pid + " " + command, now, rates);
            }
            before = now;
        }
    }

    /** {@return what the JVM shows after the interval, or null where it has ended, which is what JVMs do} */
    private Sample next(Observed jvm) {
        try {
            Thread.sleep(interval * MILLIS_PER_SECOND);
            return jvm.sample();
        } catch (CommandFailure e) {
            if (json || !jvm.hasEnded()) { throw e; }
            PrintWriter err = spec.commandLine().getErr();
            err.println("JVM " + pid + " has ended.");
            err.flush();
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** A PID, or how many tables. */
    static final class Number implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) { return (int) WholeNumber.parse(text, 1, Integer.MAX_VALUE, "a number"); }
    }

    /** A number of seconds. */
    static final class Seconds implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return (int) WholeNumber.parse(text, 1, MOST_SECONDS, "a number of seconds");
        }
    }
}
