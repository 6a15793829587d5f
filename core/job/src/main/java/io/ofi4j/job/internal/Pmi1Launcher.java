package io.ofi4j.job.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * PMI-1: lines of text over a descriptor that the launcher has opened, as Hydra's mpiexec, {@code srun --mpi=pmi2} and
 * Flux do. Values are written as hexadecimal digits, because a space ends a value. Slurm takes 512 characters.
 */
final class Pmi1Launcher implements Launcher {
    private static final FunctionDescriptor TRANSFER = FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final String KEY = "ofi4j-meeting";
    private static final String BARRIER = "cmd=barrier_in";

    private final int descriptor;
    private final int rank;
    private final int size;
    private final MethodHandle read = NativeCalls.require(() -> NativeCalls.handle("read", TRANSFER));
    private final MethodHandle write = NativeCalls.handle("write", TRANSFER);

    Pmi1Launcher(int descriptor, int rank, int size) {
        this.descriptor = descriptor;
        this.rank = rank;
        this.size = size;
    }

    @Override
    public String name() { return "PMI-1"; }

    @Override
    public int rank() { return rank; }

    @Override
    public int size() { return size; }

    @Override
    public String exchange(String line) {
        query("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
        String space = query("cmd=get_my_kvsname", "my_kvsname").get("kvsname");
        if (rank == 0) {
            String value = HexFormat.of().formatHex(line.getBytes(UTF_8));
            query("cmd=put kvsname=" + space + " key=" + KEY + " value=" + value, "put_result");
        }
        query(BARRIER, "barrier_out");
        String value = query("cmd=get kvsname=" + space + " key=" + KEY, "get_result").get("value");
        return new String(HexFormat.of().parseHex(value), UTF_8);
    }

    @Override
    public void finish() { if (size > 1) { query("cmd=finalize", "finalize_ack"); } }

    @Override
    public void abort(int code, String why) { send("cmd=abort exitcode=" + code); }

    private synchronized Map<String, String> query(String line, String answer) {
        send(line);
        String received = receive();
        Map<String, String> words = Arrays.stream(received.strip().split(" +")).filter(word -> word.contains("="))
                .map(word -> word.split("=", 2))
                .collect(Collectors.toMap(word -> word[0], word -> word[1], (a, b) -> a));
        if (!answer.equals(words.get("cmd")) || !words.getOrDefault("rc", "0").equals("0")) {
            throw new LauncherException("the launcher answered '" + received.strip() + "' to '" + line.split(" ")[0]
                    + "' over PMI_FD: did every rank start?");
        }
        return words;
    }

    private void send(String line) {
        byte[] bytes = (line + "\n").getBytes(UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocateFrom(JAVA_BYTE, bytes);
            for (long sent = 0; sent < bytes.length;) {
                MemorySegment rest = buffer.asSlice(sent);
                long count = NativeCalls.call(() -> (long) write.invokeExact(descriptor, rest, rest.byteSize()));
                if (count <= 0) { throw connectionClosed(); }
                sent += count;
            }
        }
    }

    private String receive() {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocate(1);
            while (true) { // a launcher answers line by line, with few lines
                long count = NativeCalls.call(() -> (long) read.invokeExact(descriptor, one, 1L));
                if (count <= 0) { throw connectionClosed(); }
                if (one.get(JAVA_BYTE, 0) == '\n') { return line.toString(UTF_8); }
                line.write(one.get(JAVA_BYTE, 0));
            }
        }
    }

    private static LauncherException connectionClosed() {
        return new LauncherException("the launcher has closed its connection (PMI_FD): has it ended the job?");
    }
}
