package io.ofi4j.command.verify;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NoSuchElementException;

/**
 * A completion queue with an endpoint without connections, opened with libfabric's own calls as a C program does it,
 * to measure what its {@code fi_cq_read} costs without ofi4j. The offsets are those of libfabric's ABI, which has not
 * changed them since 1.0. For the end of a process: nothing here mends what a provider does to the JVM.
 */
@SuppressWarnings("restricted")
final class BareQueue implements AutoCloseable {
    /** FI_VERSION(1, 5), from which on fi_info has what is read here. */
    private static final int VERSION = 1 << 16 | 5;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final FunctionDescriptor OPEN = FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS);
    /** {@code struct fi_info}: next, and the attributes of endpoint and fabric. */
    private static final long NEXT = 0;
    private static final long ENDPOINT = 88;
    private static final long FABRIC = 104;
    private static final long PROVIDER_NAME = 16;
    /** {@code struct fid}: its operations. Those of an object stand behind its fid. */
    private static final long FID_OPERATIONS = 16;
    private static final long OPERATIONS = 24;
    /** A table of operations begins with its size. */
    private static final long FIRST = 8;
    private static final long SECOND = 16;
    private static final long THIRD = 24;
    /** FI_ENABLE, for fi_control. */
    private static final int ENABLE = 6;
    /** FI_TRANSMIT and FI_RECV. */
    private static final long BOTH_DIRECTIONS = 1L << 11 | 1L << 10;
    /** FI_EP_RDM. */
    private static final int WITHOUT_CONNECTIONS = 3;
    private static final long POINTER = 8;
    private static final long QUEUE_ATTRIBUTES = 64;
    private static final long ROOM = 256;

    private final Arena arena = Arena.ofConfined();
    private final Deque<MemorySegment> opened = new ArrayDeque<>();
    private final MemorySegment queue;
    private final MemorySegment entries = arena.allocate(ROOM, POINTER);

    /**
     * Opens a queue.
     *
     * @param library what ofi4j has loaded
     * @param provider its name
     * @throws NoSuchElementException if the provider has no such endpoints without hints
     * @throws IllegalStateException if a call fails
     */
    BareQueue(String library, String provider) throws Throwable {
        SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
        MemorySegment info = find(lookup, provider);
        MethodHandle fabricOf = LINKER.downcallHandle(lookup.find("fi_fabric").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
        MemorySegment place = arena.allocate(ADDRESS);
        requireDone((int) fabricOf.invokeExact(pointer(info, FABRIC), place, MemorySegment.NULL));
        MemorySegment fabric = take(place);
        requireDone((int) open(fabric, FIRST).invokeExact(fabric, info, place, MemorySegment.NULL));
        MemorySegment domain = take(place);
        MemorySegment attributes = arena.allocate(QUEUE_ATTRIBUTES, POINTER);
        requireDone((int) open(domain, SECOND).invokeExact(domain, attributes, place, MemorySegment.NULL));
        queue = take(place);
        requireDone((int) open(domain, FIRST).invokeExact(domain, attributes, place, MemorySegment.NULL));
        MemorySegment vector = take(place);
        requireDone((int) open(domain, THIRD).invokeExact(domain, info, place, MemorySegment.NULL));
        MemorySegment endpoint = take(place);
        MethodHandle bind = LINKER.downcallHandle(pointer(pointer(endpoint, FID_OPERATIONS), SECOND),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));
        requireDone((int) bind.invokeExact(endpoint, vector, 0L));
        requireDone((int) bind.invokeExact(endpoint, queue, BOTH_DIRECTIONS));
        MethodHandle control = LINKER.downcallHandle(pointer(pointer(endpoint, FID_OPERATIONS), THIRD),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS));
        requireDone((int) control.invokeExact(endpoint, ENABLE, MemorySegment.NULL));
    }

    private MemorySegment find(SymbolLookup lookup, String provider) throws Throwable {
        MethodHandle getinfo = LINKER.downcallHandle(lookup.find("fi_getinfo").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
        MemorySegment place = arena.allocate(ADDRESS);
        requireDone((int) getinfo.invokeExact(VERSION, MemorySegment.NULL, MemorySegment.NULL, 0L, MemorySegment.NULL,
                place));
        MemorySegment info = pointer(place, 0);
        while (info.address() != 0) {
            String name = pointer(pointer(info, FABRIC), PROVIDER_NAME).reinterpret(ROOM).getString(0);
            int type = whole(pointer(info, ENDPOINT)).get(JAVA_INT, 0);
            if (name.equals(provider) && type == WITHOUT_CONNECTIONS) { return info; }
            info = pointer(info, NEXT);
        }
        throw new NoSuchElementException("fi_getinfo without hints has no " + provider);
    }

    private static MemorySegment whole(MemorySegment structure) { return structure.reinterpret(ROOM); }

    private static MemorySegment pointer(MemorySegment structure, long offset) {
        return whole(structure).get(ADDRESS, offset);
    }

    private static MethodHandle open(MemorySegment object, long entry) {
        return LINKER.downcallHandle(pointer(pointer(object, OPERATIONS), entry), OPEN);
    }

    private MemorySegment take(MemorySegment place) {
        opened.push(pointer(place, 0));
        return opened.getFirst();
    }

    private static void requireDone(int status) {
        if (status != 0) { throw new IllegalStateException("libfabric's status is " + status); }
    }

    /** {@return fi_cq_read of this queue} It takes the queue, {@link #entries} and their number. */
    MemorySegment read() {
        return pointer(pointer(queue, OPERATIONS), FIRST);
    }

    /** {@return the address of the queue} */
    long address() { return queue.address(); }

    /** {@return the address of room for one entry} */
    long entries() { return entries.address(); }

    @Override
    public void close() {
        try {
            for (MemorySegment object : opened) {
                MethodHandle close = LINKER.downcallHandle(pointer(pointer(object, FID_OPERATIONS), FIRST),
                        FunctionDescriptor.of(JAVA_INT, ADDRESS));
                int _ = (int) close.invokeExact(object);
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        arena.close();
    }
}
