package io.ofi4j.internal.engine;

import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.MsgOps;
import io.ofi4j.internal.ffi.TaggedOps;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeMemory;
import java.lang.foreign.Arena;
import java.util.function.LongUnaryOperator;

/**
 * Receives the messages that wait at an endpoint, and drops them. The program posts no more receives there: the
 * endpoint is about to be closed. Used inside the guard of its queue.
 */
public final class MessageDrain {
    /** The provider may end the process at a message that is longer than its receive. */
    private static final long MAX_LENGTH = 1L << 34;
    private static final long MIN_LENGTH = 1L << 16;
    /** A receive that takes a message whose other half does not come stays pending, and another one is posted. */
    private static final int MAX_RECEIVES = 16;
    /** When it stops taking messages: peers may send all the time. */
    private static final long TIMEOUT_NANOS = 500_000_000;
    private static final int PENDING = -1;

    /**
     * Where the buffer of another drain was. An emulator of a processor may describe each page that was ever mapped:
     * qemu-user of QEMU 7.2 needs 130 MB for a buffer at another address, and does not give them back.
     */
    private static volatile long lastBuffer;

    private final Handle endpoint;
    private final Arena memory = Arena.ofShared();
    private final long contexts = memory.allocate(MAX_RECEIVES * ContextSlab.CONTEXT_SIZE, ContextSlab.CONTEXT_SIZE)
            .address();
    /** The address that all messages are received at; 0 while no memory is reserved. */
    private long buffer;
    private long length = MAX_LENGTH;
    /** The receive that is posted next; those before it are pending. */
    private int next;
    /** The error number with which the last receive ended, 0 if it has succeeded, or {@link #PENDING}. */
    private int outcome;

    public MessageDrain(Handle endpoint) { this.endpoint = endpoint; }

    /**
     * Takes the messages that are there.
     *
     * @param progress reads all completions that there are, and calls {@link #ended} for those of its receives
     */
    public void run(boolean hasMessages, boolean hasTags, Runnable progress) {
        allocate();
        if (hasMessages) {
            MsgOps messages = new MsgOps(endpoint, false, false);
            drain(context -> messages.fi_recv(buffer, length, 0, FabricConstants.FI_ADDR_UNSPEC, context), progress);
        }
        if (hasTags) {
            TaggedOps tagged = new TaggedOps(endpoint, false, false);
            drain(context -> tagged.fi_trecv(buffer, length, 0, FabricConstants.FI_ADDR_UNSPEC, 0, -1, context),
                    progress);
        }
        if (next == 0) { free(); }
    }

    private void allocate() {
        if (buffer == 0) { buffer = NativeMemory.reserve(length, lastBuffer); }
        while (buffer == 0 && length > MIN_LENGTH) {
            length /= 2;
            buffer = NativeMemory.reserve(length, lastBuffer);
        }
        if (buffer != 0) { lastBuffer = buffer; }
    }

    private void free() {
        if (buffer != 0) { NativeMemory.unmap(buffer, length); }
        buffer = 0;
    }

    /** Posts one receive after the other, until one can be canceled: it has found no message. */
    private void drain(LongUnaryOperator receive, Runnable progress) {
        long start = System.nanoTime();
        do {
            if (buffer == 0 || next == MAX_RECEIVES) { return; }
            outcome = PENDING;
            if (receive.applyAsLong(context(next)) != 0) { return; }
            progress.run();
            if (outcome == PENDING) {
                EndpointOps.fi_cancel(endpoint, context(next));
                progress.run();
            }
            if (outcome == PENDING) { next++; }
        } while (outcome != Errno.ECANCELED && System.nanoTime() - start < TIMEOUT_NANOS);
    }

    private long context(int receive) { return contexts + receive * ContextSlab.CONTEXT_SIZE; }

    /**
     * Notes that a receive has ended.
     *
     * @param error the error number, or 0
     * @return whether the context is of one of its receives
     */
    boolean ended(long context, int error) {
        if (context < contexts || context >= context(MAX_RECEIVES)) { return false; }
        if (context == context(next)) { outcome = error; }
        return true;
    }

    /** Frees what the receives use; the provider must have closed the endpoint. */
    void release() {
        free();
        memory.close();
    }

    boolean isOf(Handle other) { return endpoint == other; }
}
