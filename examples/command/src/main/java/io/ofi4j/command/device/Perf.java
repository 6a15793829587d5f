package io.ofi4j.command.device;

import io.ofi4j.command.Ofi4j;
import io.ofi4j.command.device.Rows.Result;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** {@code ofi4j perf --device}, as a person types it: both ends in one process, and in two. */
final class Perf {
    private static final List<String> COMMON = List.of("-p", "shm");
    private static final List<String> MEASURED = List.of("-S", "8,4k,1m", "-I", "200", "-w", "50", "-v", "--json");
    private static final Pattern PORT = Pattern.compile("serving .*:([0-9]+): ");
    private static final Pattern SIZE = Pattern.compile("\"size\":([0-9]+)");
    private static final Pattern MEDIAN = Pattern.compile("\"p50Ns\":([0-9]+)");
    private static final int SECONDS = 40;

    private final Rows rows;
    private final String device;

    /** @param device the value of {@code --device} */
    Perf(Rows rows, String device) {
        this.rows = rows;
        this.device = device;
    }

    private record Ended(int status, String out, String err) {}

    void run() {
        for (String operation : List.of("write", "read", "msg", "tagged", "atomic")) {
            rows.row("perf " + operation + " --device " + device + ", one process",
                    () -> measured(run(command(operation, List.of("--device", device), measured(operation)))));
        }
        for (String operation : List.of("write", "read", "msg")) {
            for (String[] ends : new String[][]{{device, device}, {device, "host"}, {"host", device}}) {
                rows.row("perf " + operation + ", client --device " + ends[0] + ", server --device " + ends[1],
                        () -> betweenProcesses(operation, ends[0], ends[1]));
            }
        }
        if (device.equals(DeviceRun.HOST)) { return; }
        refused("perf write --device cuda:99", "none with 99", "--device", "cuda:99", "-p", "shm");
        refused("perf write -p tcp --device " + device, "takes no memory of devices", "--device", device, "-p", "tcp");
    }

    private void refused(String name, String words, String... options) {
        rows.row(name, () -> {
            Ended ended = run(command("write", List.of(options), List.of("-S", "8", "-I", "10")));
            return new Result(ended.status == 1 && ended.err.contains(words), ended.status + ": " + ended.err,
                    Double.NaN, 0);
        });
    }

    private static List<String> measured(String operation) {
        return operation.equals("atomic") ? MEASURED.subList(2, MEASURED.size()) : MEASURED;
    }

    private static List<String> command(String operation, List<String> options, List<String> more) {
        List<String> command = new ArrayList<>(List.of("perf", operation));
        command.addAll(options);
        if (!options.contains("-p")) { command.addAll(COMMON); }
        command.addAll(more);
        return command;
    }

    private static ProcessBuilder start(List<String> arguments) throws IOException {
        return Programs.java(List.of(), Ofi4j.class, arguments);
    }

    private static Ended run(List<String> arguments) throws IOException, InterruptedException {
        Process process = start(arguments).start();
        String[] said = new String[1];
        Thread errors = Thread.ofPlatform().daemon().start(() -> said[0] = text(process.errorReader()));
        Thread.ofPlatform().daemon().start(() -> {
            try {
                if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) { process.destroyForcibly(); }
            } catch (InterruptedException e) {
                process.destroyForcibly();
            }
        });
        String out = text(process.inputReader());
        errors.join();
        return new Ended(process.waitFor(), out, said[0]);
    }

    private static String text(BufferedReader reader) {
        StringBuilder text = new StringBuilder();
        reader.lines().forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    /** {@return the medians, of a run whose every byte was verified} */
    private static Result measured(Ended ended) {
        List<String> lines = ended.out.lines().toList();
        if (ended.err.contains("(FI_HMEM) for 'perf")) { // as atomics of shm of libfabric 1.17
            return Result.good("not offered");
        }
        boolean isGood = ended.status == 0 && !lines.isEmpty()
                && lines.stream().allMatch(line -> line.contains("\"errors\":0") && line.contains("\"verified\":true"));
        if (!isGood) { return Result.bad(ended.status + ": " + ended.err + " " + ended.out); }
        List<String> medians = new ArrayList<>();
        for (String line : lines) {
            Matcher size = SIZE.matcher(line);
            Matcher median = MEDIAN.matcher(line);
            if (size.find() && median.find()) {
                medians.add(String.format(Locale.ROOT, "%s %.1f us", Transfers.text(Long.parseLong(size.group(1))),
                        Long.parseLong(median.group(1)) / 1e3));
            }
        }
        return Result.good("p50 " + String.join(", ", medians));
    }

    private Result betweenProcesses(String operation, String client, String server)
            throws IOException, InterruptedException {
        Process serving = start(
                command(operation, List.of("--device", server), List.of("--server", "-B", "0", "--timeout", "20")))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader said = serving.inputReader()) {
            String line = said.readLine();
            Matcher port = PORT.matcher(line == null ? "" : line);
            if (!port.find()) { return Result.bad("the server said: " + line); }
            return measured(run(command(operation, List.of("--device", client), Stream
                    .concat(measured(operation).stream(), Stream.of("127.0.0.1", "-P", port.group(1))).toList())));
        } finally {
            serving.destroy();
            serving.waitFor();
        }
    }
}
