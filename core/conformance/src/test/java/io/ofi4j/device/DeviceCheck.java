package io.ofi4j.device;

import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.Capability;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Runs the checks of device memory, each group in a process of its own with a deadline, prints a row for each, and
 * writes them as JSON. A process that dies or hangs costs the row that it was at: what is left of its group goes on in
 * another one. The exit status is 0 if every row is as it should be, 1 if not, and 77 where there is no device.
 *
 * <p>Options: {@code --out FOLDER} for the JSON and logs, {@code --device N}, {@code --program FILE} for the C program,
 * {@code --only GROUP} (may be repeated), {@code --deadline SECONDS}, and {@code --rehearse BYTES}: memory of the host
 * takes the device's place, and a transfer has that many bytes at most. The system property {@code io.ofi4j.library}
 * names libfabric.
 */
public final class DeviceCheck {
    private static final int SKIPPED = 77;
    private static final int MISUSED = 2;
    private static final List<String> NUMBERS = List.of("--device", "--rehearse", "--deadline");
    private static final List<String> OPTIONS = List.of("--out", "--program", "--only", "--device", "--rehearse",
            "--deadline");
    private static final long MAX_LENGTH = 256L << 20;
    private static final int DEADLINE_SECONDS = 225;
    private static final int MISUSES_AT_ONCE = 6;
    private static final int MISUSE_SECONDS = 40;
    private static final int MAX_RESTARTS = 4;
    private static final int LAST_LINES = 12;

    /** Groups of transfers, and how long each may take. */
    private static final Map<String, Integer> GROUPS = new LinkedHashMap<>();

    static {
        GROUPS.put("shm", 75);
        GROUPS.put("bench", 60);
        GROUPS.put("perf", 60);
        GROUPS.put("tcp;ofi_rxm", 40);
        GROUPS.put("tcp", 40);
    }

    /** A row as it is printed and written. */
    private record Line(String group, String name, String outcome, String words, String microseconds,
            String gigabytesPerSecond) {
        boolean isGood() { return outcome.equals("ok"); }

        String text() {
            return String.format(Locale.ROOT, "%-6s  %-12s %-52s %12s %10s  %s", outcome, group, name, microseconds,
                    gigabytesPerSecond, words).stripTrailing();
        }

        String json() {
            return "{\"group\":" + quoted(group) + ",\"check\":" + quoted(name) + ",\"outcome\":" + quoted(outcome)
                    + ",\"words\":" + quoted(words)
                    + (microseconds.isEmpty()
                            ? ""
                            : ",\"microseconds\":" + microseconds + ",\"gigabytesPerSecond\":" + gigabytesPerSecond)
                    + "}";
        }
    }

    private final Map<String, String> options = new LinkedHashMap<>();
    private final List<String> only = new ArrayList<>();
    private final List<Line> lines = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, String> about = Collections.synchronizedMap(new LinkedHashMap<>());
    private final Path out;
    private final long end;

    private DeviceCheck(String[] arguments) throws IOException {
        for (int at = 0; at + 1 < arguments.length; at += 2) {
            if (arguments[at].equals("--only")) {
                only.add(arguments[at + 1]);
            } else {
                options.put(arguments[at], arguments[at + 1]);
            }
        }
        out = Path.of(options.getOrDefault("--out", "device-check-out")).toAbsolutePath();
        Files.createDirectories(out);
        System.setProperty(Programs.LOGS, out.toString());
        end = System.nanoTime() + TimeUnit.SECONDS
                .toNanos(Integer.parseInt(options.getOrDefault("--deadline", Integer.toString(DEADLINE_SECONDS))));
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("group")) {
            group(arguments);
            System.exit(0);
        }
        String wrong = wrong(arguments);
        if (!wrong.isEmpty()) {
            System.out.println("device-check: " + wrong);
            System.exit(MISUSED);
        }
        System.exit(new DeviceCheck(arguments).run());
    }

    /** {@return what is wrong with the options; empty if nothing is} */
    private static String wrong(String[] arguments) {
        for (int at = 0; at < arguments.length; at += 2) {
            if (!OPTIONS.contains(arguments[at])) {
                return "there is no option " + arguments[at] + ": there are " + String.join(", ", OPTIONS);
            }
            if (at + 1 == arguments.length) { return arguments[at] + " needs a value"; }
            String value = arguments[at + 1];
            if (arguments[at].equals("--only") && !GROUPS.containsKey(value) && !value.equals("misuse")) {
                return "there is no group " + value + ": there are misuse, " + String.join(", ", GROUPS.keySet());
            }
            if (NUMBERS.contains(arguments[at]) && !value.matches("[0-9]{1,9}")) {
                return arguments[at] + " needs a number, not " + value;
            }
        }
        return "";
    }

    // ---- the processes of groups --------------------------------------------------------------------------------

    /** {@code group NAME DEVICE LONGEST SKIP PROGRAM}. */
    private static void group(String[] arguments) throws Exception {
        String name = arguments[1];
        String device = arguments[2];
        long longest = Long.parseLong(arguments[3]);
        Rows rows = new Rows(System.out, Integer.parseInt(arguments[4]));
        switch (name) {
            case "probe" -> probe(device);
            case "bench" -> {
                try (Bench bench = new Bench(rows, device, longest, arguments[5],
                        System.getProperty("io.ofi4j.library"))) {
                    bench.run();
                }
            }
            case "perf" -> new Perf(rows, device).run();
            case "shm", "tcp;ofi_rxm", "tcp" -> {
                try (Transfers transfers = new Transfers(rows, name, device, longest)) {
                    transfers.run();
                }
            }
            default -> new Misuses(rows, device).run(name);
        }
    }

    /** Says what the device is; the first line is empty, or says why there is none. */
    private static void probe(String device) {
        if (device.equals("host")) {
            System.out.println();
            System.out.println("card\tnone: memory of this machine stands in for it, no figure is a device's");
        } else {
            int number = Integer.parseInt(device.split(":", 2)[1]);
            String whyNot = Cuda.whyNot(number);
            System.out.println(whyNot);
            if (!whyNot.isEmpty()) { return; }
            try (Cuda cuda = Cuda.open(number)) {
                System.out.println("card\t" + cuda.name());
                System.out.println("memory\t" + cuda.totalMemory());
                System.out.println("CUDA of the driver\t" + cuda.version());
                System.out.println("DMA_BUF_SUPPORTED\t" + cuda.attribute(Cuda.DMA_BUF_SUPPORTED));
                System.out.println("INTEGRATED\t" + cuda.attribute(Cuda.INTEGRATED));
                System.out.println("PAGEABLE_MEMORY_ACCESS\t" + cuda.attribute(Cuda.PAGEABLE_MEMORY_ACCESS));
            }
        }
        System.out.println("libfabric\t" + Libfabric.load().version());
        System.out.println("java\t" + Runtime.version());
        System.out.println("processors\t" + Runtime.getRuntime().availableProcessors());
        System.out.println("kernel\t" + System.getProperty("os.version"));
        if (!device.equals("host")) { System.out.println("registered\t" + registered(device)); }
    }

    /** {@return whether this libfabric takes memory of the device} */
    private static String registered(String device) {
        try (DeviceMemory memory = DeviceMemory.open(device);
                Node node = new Node("shm", Capability.RMA, Capability.HMEM);
                MemoryRegion region = node.domain
                        .register(memory.attributes(memory.allocate(4096), 4096).access(Memory.ALL))) {
            return "yes, " + region.kind();
        } catch (RuntimeException e) {
            return "no: " + Rows.words(e);
        }
    }

    // ---- the process that starts them ---------------------------------------------------------------------------

    private boolean isRehearsal() { return options.containsKey("--rehearse"); }

    private String device() { return isRehearsal() ? "host" : "cuda:" + options.getOrDefault("--device", "0"); }

    private String longest() { return options.getOrDefault("--rehearse", Long.toString(MAX_LENGTH)); }

    private int run() throws Exception {
        String whyNot = probe();
        if (!whyNot.isEmpty()) {
            System.out.println("no device: " + whyNot);
            return SKIPPED;
        }
        about.forEach((key, value) -> System.out.println("# " + key + ": " + value));
        if (!isRehearsal() && isWanted("misuse")) {
            // beside the first group: they are about what happens, not how fast
            try (ExecutorService several = Executors.newFixedThreadPool(MISUSES_AT_ONCE)) {
                List<Future<?>> all = new ArrayList<>();
                for (String name : new Misuses(new Rows(System.out, 0), device()).names()) {
                    all.add(several.submit(() -> runGroup("misuse", name, MISUSE_SECONDS)));
                }
                for (Future<?> one : all) {
                    one.get();
                }
                write();
            }
        }
        for (Map.Entry<String, Integer> group : GROUPS.entrySet()) {
            if (!isWanted(group.getKey())) { continue; }
            if (group.getKey().equals("bench") && options.get("--program") == null) {
                add(new Line("bench", "the C program", "left out", "none was given with --program", "", ""));
                continue;
            }
            runGroup(group.getKey(), group.getKey(), group.getValue());
            write();
        }
        long bad = lines.stream().filter(line -> !line.isGood() && !line.outcome.equals(Rows.ENDS)).count();
        long ending = lines.stream().filter(line -> line.outcome.equals(Rows.ENDS)).count();
        System.out.println("# " + lines.size() + " rows, of which " + bad + " are not as they should be, and " + ending
                + " end the process of whoever does it, as in C");
        return bad == 0 ? 0 : 1;
    }

    private boolean isWanted(String group) { return only.isEmpty() || only.contains(group); }

    private String probe() throws Exception {
        Process process = start("probe", 0);
        List<String> said = new ArrayList<>();
        try (BufferedReader reader = process.inputReader()) {
            reader.lines().forEach(said::add);
        }
        if (!process.waitFor(30, TimeUnit.SECONDS)) { process.destroyForcibly(); }
        if (said.isEmpty()) { return "the probe ended with status " + process.waitFor() + ": " + lastOf("probe"); }
        if (!said.getFirst().isEmpty()) { return said.getFirst(); }
        said.stream().skip(1).map(line -> line.split("\t", 2)).filter(words -> words.length == 2)
                .forEach(words -> about.put(words[0], words[1]));
        String registered = about.getOrDefault("registered", "yes");
        return registered.startsWith("yes")
                ? ""
                : "there is one, and this libfabric does not take its memory: " + registered;
    }

    private Process start(String name, int skip) throws IOException {
        List<String> more = name.endsWith(Misuses.PLAIN) ? List.of("-Dio.ofi4j.quirks=none") : List.of();
        ProcessBuilder builder = Programs.java(more, DeviceCheck.class, "group", name, device(), longest(),
                Integer.toString(skip), options.getOrDefault("--program", ""));
        builder.environment().putIfAbsent("FI_LOG_LEVEL", "warn");
        return builder.redirectError(ProcessBuilder.Redirect.appendTo(log(name).toFile())).start();
    }

    private Path log(String name) {
        String file = name.replaceAll("[^a-zA-Z0-9]+", "-");
        return out.resolve("stderr-" + file + ".log");
    }

    /** Runs a group to its end, in as many processes as it takes. */
    private void runGroup(String group, String name, int seconds) {
        try {
            long deadline = Math.min(end, System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
            int done = 0;
            for (int starts = 0; starts <= MAX_RESTARTS; starts++) {
                if (deadline - System.nanoTime() < TimeUnit.SECONDS.toNanos(3)) {
                    add(new Line(group, name, "left out", "no time was left", "", ""));
                    return;
                }
                Follower follower = new Follower(group, done);
                Process process = start(name, done);
                Thread reader = Thread.ofPlatform().daemon().start(() -> follower.follow(process));
                boolean ended = process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                List<ProcessHandle> others = process.descendants().toList();
                if (!ended) { process.destroyForcibly().waitFor(); }
                others.forEach(ProcessHandle::destroyForcibly);
                reader.join(2000);
                done = follower.rows;
                if (ended && process.exitValue() == 0) { return; }
                String how = ended ? Programs.end(process) : "did not end in time";
                if (follower.begun != null) {
                    add(new Line(group, follower.begun, ended ? "DIED" : "HUNG", how + "; " + lastOf(name), "", ""));
                    done++;
                } else {
                    add(new Line(group, name, ended ? "DIED" : "HUNG", "between rows: " + how + "; " + lastOf(name), "",
                            ""));
                    if (starts > 0 || !ended) { return; }
                }
                if (group.equals("misuse")) { return; }
            }
        } catch (IOException | InterruptedException e) {
            add(new Line(group, name, "FAILED", Rows.words(e), "", ""));
        }
    }

    /** What a process says while it runs. */
    private final class Follower {
        private final String group;
        private int rows;
        private String begun;

        Follower(String group, int rows) {
            this.group = group;
            this.rows = rows;
        }

        void follow(Process process) {
            try (BufferedReader reader = process.inputReader()) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    take(line);
                }
            } catch (IOException e) {
                // its output ended with it
            }
        }

        private void take(String line) {
            if (line.startsWith(Rows.BEGIN)) {
                begun = line.substring(Rows.BEGIN.length());
            } else if (line.startsWith(Rows.END)) {
                String[] words = line.substring(Rows.END.length()).split("\t", -1);
                add(new Line(group, words[0], words[1], words[2], words[3], words[4]));
                begun = null;
                rows++;
            } else {
                System.out.println("# " + group + ": " + line);
            }
        }
    }

    private void add(Line line) {
        lines.add(line);
        System.out.println(line.text());
        System.out.flush();
    }

    /** {@return the end of what a group wrote to standard error, and where a JVM says that it crashed} */
    private String lastOf(String name) {
        try {
            List<String> said = Files.exists(log(name))
                    ? Files.readAllLines(log(name), StandardCharsets.ISO_8859_1)
                    : List.of();
            String last = String.join(" | ", said.subList(Math.max(0, said.size() - LAST_LINES), said.size()));
            return last.length() > 1500 ? last.substring(last.length() - 1500) : last;
        } catch (IOException e) {
            return Rows.words(e);
        }
    }

    private void write() throws IOException {
        try (PrintWriter json = new PrintWriter(Files.newBufferedWriter(out.resolve("results.json")))) {
            json.println("{");
            about.forEach((key, value) -> json.println("  " + quoted(key) + ": " + quoted(value) + ","));
            json.println("  \"rows\": [");
            List<Line> all = List.copyOf(lines);
            for (int at = 0; at < all.size(); at++) {
                json.println("    " + all.get(at).json() + (at + 1 < all.size() ? "," : ""));
            }
            json.println("  ]");
            json.println("}");
        }
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(one -> {
            if (one == '"' || one == '\\') {
                quoted.append('\\').append((char) one);
            } else if (one < ' ') {
                quoted.append(' ');
            } else {
                quoted.append((char) one);
            }
        });
        return quoted.append('"').toString();
    }
}
