package io.ofi4j.job.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The functions of PMIx that a job needs, from libpmix.so.2, which is loaded with this class. Their structs are written
 * by hand, so that no build needs PMIx's headers; they are the same in PMIx 3.2, 4.2, 5.0 and 6.1.
 *
 * <p>{@code pmix_proc_t}: the name space in 256 bytes, the rank in 4. {@code pmix_value_t}, 32 bytes: the type in 2,
 * and the data from offset 8, where an array of bytes has its address and, from offset 16, its length.
 * {@code pmix_info_t}, 552 bytes: the key in 512, flags in 4, and a value from offset 520.
 *
 * <p>What waits for other ranks is called in its form that returns at once. PMIx calls back in a thread of its own; the
 * methods that it calls throw nothing. One process has one object.
 */
@SuppressWarnings("restricted")
final class Pmix {
    static final int SUCCESS = 0;
    static final int TIMEOUT = -24;

    private static final String FILE = System.getProperty("io.ofi4j.pmix", "libpmix.so.2");

    private static final long NAMESPACE = 256;
    private static final long PROC = 260;
    private static final long VALUE = 32;
    private static final long DATA = 8;
    private static final long DATA_LENGTH = 16;
    private static final long INFO = 552;
    private static final long INFO_VALUE = 520;

    private static final short TYPE_BOOL = 1;
    private static final short TYPE_INT = 6;
    private static final short TYPE_UINT32 = 14;
    private static final short TYPE_PROC = 22;
    private static final short TYPE_BYTES = 27;
    private static final byte GLOBAL = 3;
    private static final int ALL_RANKS = -2;
    /** The call is done, and does not call back. */
    private static final int DONE_ALREADY = -157;
    private static final int ACTION_COMPLETE = -334;
    /** A process was aborted, asked for it, ended without finishing, or was ended by a signal. */
    private static final int[] LOSSES = {-7, -8, -200, -402};

    private static final FunctionDescriptor COMPLETED = FunctionDescriptor.ofVoid(JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor GOT = FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor REGISTERED = FunctionDescriptor.ofVoid(JAVA_INT, JAVA_LONG, ADDRESS);
    private static final FunctionDescriptor NOTIFIED = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS,
            JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
    private static final FunctionDescriptor NOTED = FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS,
            ADDRESS, ADDRESS);

    private final SymbolLookup library;
    private final MethodHandle errorString;
    private final Arena arena = Arena.global(); // PMIx may keep pointers
    private final MemorySegment self = arena.allocate(PROC, Integer.BYTES);
    private final MethodHandle put;
    private final MethodHandle commit;
    private final MethodHandle fence;
    private final MethodHandle get;
    private final MemorySegment completed = upcall("completed", COMPLETED);
    private final MemorySegment got = upcall("got", GOT);
    private final MethodHandle noted = Linker.nativeLinker().downcallHandle(NOTED);
    /** The calls that PMIx has not answered yet; the number of each is what PMIx hands back. */
    private final Map<Long, Request> requests = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private volatile Losses losses = rank -> {};

    /** A call that PMIx answers later. */
    static final class Request {
        /** What PMIx may read until it answers. */
        private final Arena memory = Arena.ofAuto();
        private final CountDownLatch answered = new CountDownLatch(1);
        private volatile int status;
        private volatile byte[] value;

        CountDownLatch answered() { return answered; }

        int status() { return status; }

        /** {@return the bytes that were asked for, or null} */
        byte[] value() { return value; }

        private void answer(int itsStatus, byte[] itsValue) {
            value = itsValue;
            status = itsStatus;
            answered.countDown();
        }
    }

    /** What is called when a rank is lost, in PMIx's thread. It does not wait. */
    interface Losses {
        void lost(int rank);
    }

    /** Loads the library, and announces this process; PMIx_Init. */
    Pmix() {
        try {
            library = FILE.contains("/")
                    ? SymbolLookup.libraryLookup(Path.of(FILE), arena)
                    : SymbolLookup.libraryLookup(FILE, arena);
        } catch (IllegalArgumentException e) {
            throw new LauncherException("PMIX_NAMESPACE says that PMIx started this process, and " + FILE
                    + " cannot be loaded: install it ('apt-get install libpmix2' on Debian and Ubuntu), or name its"
                    + " file with -Dio.ofi4j.pmix=/path/to/libpmix.so.2.", e);
        }
        errorString = handle("PMIx_Error_string", FunctionDescriptor.of(ADDRESS, JAVA_INT));
        put = handle("PMIx_Put", ints(JAVA_BYTE, ADDRESS, ADDRESS));
        commit = handle("PMIx_Commit", ints());
        fence = handle("PMIx_Fence_nb", ints(ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
        get = handle("PMIx_Get_nb", ints(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
        MethodHandle init = handle("PMIx_Init", ints(ADDRESS, ADDRESS, JAVA_LONG));
        check("PMIx_Init", NativeCalls.call(() -> (int) init.invokeExact(self, MemorySegment.NULL, 0L)));
    }

    private MethodHandle handle(String name, FunctionDescriptor descriptor) {
        MemorySegment function = library.find(name)
                .orElseThrow(() -> new LauncherException(FILE + " is not a PMIx library: it has no function " + name));
        return Linker.nativeLinker().downcallHandle(function, descriptor);
    }

    /** {@return the address of a method of this object, for PMIx to call} */
    private MemorySegment upcall(String method, FunctionDescriptor descriptor) {
        MethodType type = descriptor.toMethodType();
        try {
            MethodHandle handle = MethodHandles.lookup().findVirtual(Pmix.class, method, type).bindTo(this);
            return Linker.nativeLinker().upcallStub(handle, descriptor, arena);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static FunctionDescriptor ints(MemoryLayout... arguments) {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }

    private void check(String call, long status) {
        if (status != SUCCESS) { throw new LauncherException(call + " failed: " + text((int) status)); }
    }

    /** {@return a status as text} */
    String text(int status) {
        try {
            String text = NativeCalls.string((MemorySegment) errorString.invokeExact(status));
            return text + " (" + status + ")" + (status == TIMEOUT ? ". Did every rank start?" : "");
        } catch (Throwable t) {
            throw NativeCalls.unexpected(t);
        }
    }

    int rank() { return self.get(JAVA_INT, NAMESPACE); }

    /** {@return the number of ranks; PMIx_Get} The memory that it allocates is not freed. */
    int jobSize() {
        AddressLayout result = ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(VALUE, JAVA_BYTE));
        MemorySegment name = arena.allocateFrom("pmix.job.size");
        MemorySegment found = arena.allocate(result);
        MemorySegment job = process(arena, ALL_RANKS);
        MethodHandle getNow = handle("PMIx_Get", ints(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
        check("PMIx_Get of pmix.job.size",
                NativeCalls.call(() -> (int) getNow.invokeExact(job, name, MemorySegment.NULL, 0L, found)));
        MemorySegment value = found.get(result, 0);
        short type = value.get(JAVA_SHORT, 0);
        if (type != TYPE_UINT32 && type != TYPE_INT) {
            throw new LauncherException("pmix.job.size has type " + type + ", not the type of a number");
        }
        return value.get(JAVA_INT, DATA);
    }

    private MemorySegment process(Arena where, int rank) {
        MemorySegment process = where.allocate(PROC, Integer.BYTES).copyFrom(self);
        process.set(JAVA_INT, NAMESPACE, rank);
        return process;
    }

    /** Gives PMIx a value, for all ranks, and has it known; PMIx_Put and PMIx_Commit. PMIx copies the bytes. */
    void put(String key, byte[] bytes) {
        try (Arena memory = Arena.ofConfined()) {
            MemorySegment value = memory.allocate(VALUE, Long.BYTES);
            value.set(JAVA_SHORT, 0, TYPE_BYTES);
            value.set(ADDRESS, DATA, memory.allocateFrom(JAVA_BYTE, bytes));
            value.set(JAVA_LONG, DATA_LENGTH, bytes.length);
            MemorySegment name = memory.allocateFrom(key);
            check("PMIx_Put", NativeCalls.call(() -> (int) put.invokeExact(GLOBAL, name, value)));
        }
        check("PMIx_Commit", NativeCalls.call(() -> (int) commit.invokeExact()));
    }

    /**
     * Begins to wait for all ranks, and to collect what they have put; PMIx_Fence_nb. Without the collection, Slurm
     * 22.05 says that all have come when those of one node have.
     */
    Request fence(int seconds) {
        Request request = new Request();
        MemorySegment options = options(request.memory, seconds, "pmix.collect");
        send(request, "PMIx_Fence_nb",
                number -> (int) fence.invokeExact(MemorySegment.NULL, 0L, options, 2L, completed, number));
        return request;
    }

    /**
     * Begins to ask for a value of a rank; PMIx_Get_nb.
     *
     * @param refresh whether the rank's server is asked again, even if values of the rank are known here
     */
    Request get(int rank, String key, int seconds, boolean refresh) {
        Request request = new Request();
        MemorySegment options = options(request.memory, seconds, "pmix.get.refresh");
        long count = refresh ? 2 : 1;
        MemorySegment owner = process(request.memory, rank);
        MemorySegment name = request.memory.allocateFrom(key);
        send(request, "PMIx_Get_nb", number -> (int) get.invokeExact(owner, name, options, count, got, number));
        return request;
    }

    /** The timeout, and an option that is on. */
    private static MemorySegment options(Arena memory, int seconds, String on) {
        MemorySegment options = memory.allocate(2 * INFO, Long.BYTES);
        options.setString(0, "pmix.timeout");
        options.set(JAVA_SHORT, INFO_VALUE, TYPE_INT);
        options.set(JAVA_INT, INFO_VALUE + DATA, seconds);
        options.setString(INFO, on);
        options.set(JAVA_SHORT, INFO + INFO_VALUE, TYPE_BOOL);
        options.set(JAVA_BYTE, INFO + INFO_VALUE + DATA, (byte) 1);
        return options;
    }

    /** A call that is told the number of its request. */
    private interface Numbered {
        int invoke(long number) throws Throwable;
    }

    private void send(Request request, String call, Numbered invocation) {
        long number = numbers.incrementAndGet();
        requests.put(number, request);
        int status = (int) NativeCalls.call(() -> invocation.invoke(number));
        if (status == SUCCESS) { return; }
        requests.remove(number);
        if (status != DONE_ALREADY) { throw new LauncherException(call + " failed: " + text(status)); }
        request.answer(SUCCESS, null);
    }

    /** Called by PMIx when a fence has ended. */
    private void completed(int status, long number) {
        try {
            Request request = requests.remove(number);
            if (request != null) { request.answer(status, null); }
        } catch (Throwable t) {
            return; // it must not reach PMIx; who waits has a deadline
        }
    }

    /** Called by PMIx with a value, which is PMIx's. */
    private void got(int status, MemorySegment value, long number) {
        try {
            Request request = requests.remove(number);
            if (request != null) { request.answer(status, status == SUCCESS ? bytes(value) : null); }
        } catch (Throwable t) {
            return; // it must not reach PMIx; who waits has a deadline
        }
    }

    private static byte[] bytes(MemorySegment pointer) {
        if (pointer.address() == 0) { return null; }
        MemorySegment value = pointer.reinterpret(VALUE);
        if (value.get(JAVA_SHORT, 0) != TYPE_BYTES) { return null; }
        return value.get(ADDRESS, DATA).reinterpret(value.get(JAVA_LONG, DATA_LENGTH)).toArray(JAVA_BYTE);
    }

    /** Asks to be told of ranks that are lost, where the server tells; PMIx_Register_event_handler. */
    void onLoss(Losses handler) {
        losses = handler;
        MethodHandle register = handle("PMIx_Register_event_handler",
                FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
        MemorySegment codes = arena.allocateFrom(JAVA_INT, LOSSES);
        MemorySegment notified = upcall("notified", NOTIFIED);
        MemorySegment registered = upcall("registered", REGISTERED);
        NativeCalls.call(() -> {
            register.invokeExact(codes, (long) LOSSES.length, MemorySegment.NULL, 0L, notified, registered,
                    MemorySegment.NULL);
            return 0;
        });
    }

    /** Called by PMIx when it has registered the handler or has not: then the deadlines tell. */
    private void registered(int status, long reference, MemorySegment data) {
        // Nobody waits for it.
    }

    /** Called by PMIx when a rank is lost. PMIx waits until it is told that this was noted. */
    private void notified(long reference, int status, MemorySegment source, MemorySegment info, long count,
            MemorySegment results, long resultCount, MemorySegment reply, MemorySegment data) {
        try {
            losses.lost(affected(source, info, count));
        } catch (Throwable t) {
            // it must not reach PMIx
        }
        try {
            if (reply.address() != 0) {
                noted.invokeExact(reply, ACTION_COMPLETE, MemorySegment.NULL, 0L, MemorySegment.NULL,
                        MemorySegment.NULL, data);
            }
        } catch (Throwable t) {
            return; // as above
        }
    }

    /** {@return the rank that an event names as affected, or else its source; -1 if it is of another job} */
    private int affected(MemorySegment source, MemorySegment info, long count) {
        MemorySegment all = info.reinterpret(count * INFO);
        for (long at = 0; at < count * INFO; at += INFO) {
            if (all.getString(at).equals("pmix.evproc") && all.get(JAVA_SHORT, at + INFO_VALUE) == TYPE_PROC) {
                return rank(all.get(ADDRESS, at + INFO_VALUE + DATA));
            }
        }
        return rank(source);
    }

    /** {@return the rank of a process, or -1 if it is of another job} */
    private int rank(MemorySegment process) {
        MemorySegment its = process.reinterpret(PROC);
        return its.getString(0).equals(self.getString(0)) ? its.get(JAVA_INT, NAMESPACE) : -1;
    }

    void abort(int code, String why) {
        MemorySegment message = arena.allocateFrom(why);
        MethodHandle abort = handle("PMIx_Abort", ints(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));
        NativeCalls.call(() -> (int) abort.invokeExact(code, message, MemorySegment.NULL, 0L));
    }

    void finish() {
        MethodHandle finish = handle("PMIx_Finalize", ints(ADDRESS, JAVA_LONG));
        NativeCalls.call(() -> (int) finish.invokeExact(MemorySegment.NULL, 0L));
    }
}
