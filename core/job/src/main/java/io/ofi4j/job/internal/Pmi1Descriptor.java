package io.ofi4j.job.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** PMI-1 over the descriptor that the launcher has opened, PMI_FD. */
final class Pmi1Descriptor implements Pmi1Lines {
    private static final FunctionDescriptor TRANSFER = FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor POLL = FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final int BUFFER_LENGTH = 4096;
    /** {@code struct pollfd}: the descriptor, the events in 2 bytes, what has happened in 2. */
    private static final long POLLFD_LENGTH = 8;
    private static final long EVENTS = 4;
    private static final short POLLIN = 1;
    private static final int MAX_INTERRUPTS = 100;

    private final int descriptor;
    private final MethodHandle read = NativeCalls.require(() -> NativeCalls.handle("read", TRANSFER));
    private final MethodHandle write = NativeCalls.handle("write", TRANSFER);
    private final MethodHandle poll = NativeCalls.handle("poll", POLL);
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_LENGTH);
    private final MemorySegment polled = Arena.ofAuto().allocate(POLLFD_LENGTH, Integer.BYTES);
    /** What has come after the last whole line. */
    private final ByteArrayOutputStream rest = new ByteArrayOutputStream();

    Pmi1Descriptor(int descriptor) {
        this.descriptor = descriptor;
        polled.set(JAVA_INT, 0, descriptor);
        polled.set(JAVA_SHORT, EVENTS, POLLIN);
    }

    @Override
    public void send(String line) {
        byte[] bytes = (line + "\n").getBytes(UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocateFrom(JAVA_BYTE, bytes);
            int failures = 0; // a signal may end each call, before one byte was written
            for (long sent = 0; sent < bytes.length;) {
                MemorySegment left = all.asSlice(sent);
                long count = NativeCalls.call(() -> (long) write.invokeExact(descriptor, left, left.byteSize()));
                if (count == 0 || count < 0 && failures++ == MAX_INTERRUPTS) { throw connectionClosed(); }
                sent += Math.max(0, count);
            }
        }
    }

    @Override
    public String receive(int millis) {
        long ready = NativeCalls.call(() -> (int) poll.invokeExact(polled, 1L, millis));
        if (ready <= 0) { return null; } // or a signal came first: the caller comes again
        long count = NativeCalls.call(() -> (long) read.invokeExact(descriptor, buffer, (long) BUFFER_LENGTH));
        if (count <= 0) { throw connectionClosed(); }
        rest.writeBytes(buffer.asSlice(0, count).toArray(JAVA_BYTE));
        String all = rest.toString(UTF_8);
        if (!all.endsWith("\n")) { return null; } // the launcher sends one line for each of ours
        rest.reset();
        return all.stripTrailing();
    }

    private static LauncherException connectionClosed() {
        return new LauncherException("the launcher has closed its connection (PMI_FD): has it ended the job?");
    }
}
