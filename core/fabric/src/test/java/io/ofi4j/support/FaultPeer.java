package io.ofi4j.support;

import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointAddress;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A {@link FaultTarget} in a process of its own, and what is done to it. */
public final class FaultPeer implements AutoCloseable {
    /**
     * Has a command run on the processor that is kept for another JVM than this one, where one is; see
     * {@code scripts/verbs}.
     */
    public static final List<String> ELSEWHERE = Stream.ofNullable(System.getenv("OFI4J_OTHER_PROCESSOR"))
            .flatMap(processor -> Stream.of("taskset", "-c", processor)).toList();

    public final EndpointAddress address;
    public final RemoteRegion region;
    /** How many slots of eight bytes its memory begins with, for who writes growing values. */
    public static final int SLOTS = 64;
    /** The last value that went to each slot, by anybody. */
    public final long[] written = new long[SLOTS];
    public long lastWritten;

    private final Forked.Running running;
    private final Path memory;
    private final String[] ready;

    public FaultPeer(String provider, String service) { this(List.of(), provider, service, FaultTarget.ANY); }

    public FaultPeer(List<String> prefix, String provider, String service, String node) {
        this(prefix, FaultTarget.class, provider, service, node);
    }

    /** @param rest what the main class takes behind the provider and the file */
    public FaultPeer(List<String> prefix, Class<?> main, String provider, String... rest) {
        memory = memory();
        List<String> arguments = new ArrayList<>(List.of("-XX:+UseSerialGC", provider, memory.toString()));
        arguments.addAll(List.of(rest));
        running = Forked.startBehind(prefix, main, arguments.toArray(String[]::new));
        ready = running.awaitLine("ready ").split(" ");
        address = EndpointAddress.of(HexFormat.of().parseHex(ready[0]));
        region = region(0);
    }

    public RemoteRegion region(int index) { return RemoteRegion.decode(HexFormat.of().parseHex(ready[1 + index])); }

    /** Changes its memory. */
    public void put(long offset, long value) {
        try (RandomAccessFile content = new RandomAccessFile(memory.toFile(), "rw")) {
            content.seek(offset);
            content.writeLong(Long.reverseBytes(value));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path memory() {
        try {
            Path file = Files.createTempFile("ofi4j-fault", ".memory");
            try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
                content.setLength(FaultTarget.LENGTH);
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL; its memory stays readable. */
    public void kill() {
        running.process().destroyForcibly();
        try {
            if (!running.process().waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the target cannot be killed");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public void signal(String name) {
        run(List.of("sh", "-c", "kill -" + name + " " + running.process().pid())); // a shell has its own
    }

    public long pid() { return running.process().pid(); }

    public boolean isAlive() { return running.process().isAlive(); }

    public String output() { return running.output(); }

    /** What stands at a place of its memory, in this machine's byte order. */
    public long value(long offset) {
        try (RandomAccessFile content = new RandomAccessFile(memory.toFile(), "r")) {
            byte[] bytes = new byte[Long.BYTES];
            content.seek(offset);
            content.readFully(bytes);
            return ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.nativeOrder()).getLong();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The port it listens on, of an address of IPv4. */
    public String port() {
        byte[] bytes = address.toBytes();
        return Integer.toString(Byte.toUnsignedInt(bytes[2]) << 8 | Byte.toUnsignedInt(bytes[3]));
    }

    /** Runs a command to its end; its output. */
    public static String run(List<String> command) {
        List<String> output = new ArrayList<>();
        int exit = exit(command, output);
        if (exit != 0) { throw new AssertionError(command + " failed with " + exit + ": " + output); }
        return output.getFirst();
    }

    public static int exit(List<String> command, List<String> output) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            output.add(new String(process.getInputStream().readAllBytes()).strip());
            return process.waitFor();
        } catch (IOException e) {
            output.add(e.getMessage());
            return -1;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        kill();
        try {
            Files.deleteIfExists(memory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
