package io.ofi4j.command.device;

import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.durable.SaveService;
import io.ofi4j.command.device.Memory.Place;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** An {@link Other} that was started, as the process that tells it what to do sees it. */
final class OtherProcess implements AutoCloseable {
    private static final Duration START = Duration.ofSeconds(25);
    private static final String END = "the other process has ended";

    final Peer peer;
    final RemoteRegion host;
    final RemoteRegion gpu;

    private final Node node;
    private final Process process;
    private final PrintStream commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    OtherProcess(Node node, String provider, String device, long length, boolean registersDevice,
            Capability... capabilities) throws IOException {
        this.node = node;
        process = Programs
                .java(Other.class, provider, device, Long.toString(length), Boolean.toString(registersDevice),
                        Arrays.stream(capabilities).map(Enum::name).collect(Collectors.joining(",")))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        commands = new PrintStream(process.getOutputStream(), true);
        Thread reader = new Thread(this::read, "answers");
        reader.setDaemon(true);
        reader.start();
        String[] words = answer(false, START).split(" ");
        if (!words[0].equals("ready")) { throw new IllegalStateException(String.join(" ", words)); }
        peer = node.vector.insert(EndpointAddress.of(HexFormat.of().parseHex(words[1])));
        host = RemoteRegion.decode(HexFormat.of().parseHex(words[2]));
        gpu = RemoteRegion.decode(HexFormat.of().parseHex(words[3]));
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.add(line);
            }
        } catch (IOException e) {
            // as at the end
        }
        answers.add(END);
    }

    RemoteRegion remote(Place place) { return place == Place.host ? host : gpu; }

    /** Waits for the next line, making progress meanwhile: what the other waits for may need it. */
    private String answer() {
        return answer(true, Node.deadline.multipliedBy(2));
    }

    private String answer(boolean polls, Duration longest) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < longest.toNanos()) {
            try {
                String line = polls ? answers.poll() : answers.poll(100, TimeUnit.MILLISECONDS);
                if (line != null) {
                    if (line.equals(END)) { throw new IllegalStateException(END + exit()); }
                    return line;
                }
                if (polls) { node.poll(); }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException("the other process did not answer in " + longest.toSeconds() + " s");
    }

    private String exit() throws InterruptedException {
        return process.waitFor(5, TimeUnit.SECONDS) ? ": " + Programs.end(process) : "";
    }

    /** {@return how it has ended, as the end of a sentence; empty if it has not} */
    String end() {
        try {
            return process.waitFor(200, TimeUnit.MILLISECONDS) ? Programs.end(process) : "";
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Has it do something, and fails unless it says that it went well; what it said behind that. */
    String tell(String command) {
        commands.println(command);
        return good(answer());
    }

    private static String good(String line) {
        if (!line.startsWith("ok")) { throw new IllegalStateException("the other process: " + line); }
        return line.substring(2).strip();
    }

    /** Has it post a receive. */
    void post(String command) {
        commands.println(command);
        String line = answer();
        if (!line.equals("posted")) { throw new IllegalStateException("the other process: " + line); }
    }

    /** Waits until the receive has ended. */
    void received() { good(answer()); }

    /** {@return what is wrong with its bytes; empty if nothing is} */
    String mismatch(Place place, long length, int seed) {
        commands.println("check " + place + " " + length + " " + seed);
        String line = answer();
        return line.equals("ok") ? "" : line;
    }

    RemoteRegion map(String file) { return RemoteRegion.decode(HexFormat.of().parseHex(tell("map " + file))); }

    SaveService.Ticket saveService() {
        return SaveService.Ticket.decode(HexFormat.of().parseHex(tell("save-service")));
    }

    @Override
    public void close() {
        commands.close();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) { process.destroyForcibly().waitFor(); }
        } catch (InterruptedException e) {
            process.destroyForcibly();
        }
    }
}
