package io.ofi4j.jmh;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A queue with a descriptor, and messages that have come to it and nobody has read; and the system calls with which a C
 * program waits for the same descriptor. They are plain calls, which cost 5 to 8 ns more than in C.
 */
@State(Scope.Thread)
@SuppressWarnings("restricted")
public class ReadyQueue implements CompletionHandler {
    /** How many messages are there at the beginning of an invocation. */
    static final int READY = 64;

    private static final int LENGTH = 8;
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final int POLLIN = 1;
    private static final MethodHandle POLL = handle("poll",
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle EPOLL_WAIT = handle("epoll_wait",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));

    /** A provider whose queues have descriptors, as libfabric names it. */
    @Param("tcp;ofi_rxm")
    public String provider;

    private Fabric fabric;
    private Domain domain;
    private AddressVector vector;
    private CompletionQueue sends;
    private CompletionQueue queue;
    private Endpoint source;
    private Endpoint target;
    private MemoryRegion memory;
    private Peer peer;
    private int descriptor;
    /** A pollfd, and room for an epoll_event behind it. */
    private long entries;
    private int sent;
    private int received;

    private static MethodHandle handle(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type);
    }

    /** Opens both ends, and lets the first messages make the connection. */
    @Setup(Level.Trial)
    public void open() {
        FabricHints hints = FabricHints.messages().provider(provider).source("127.0.0.1", null);
        Libfabric libfabric = Libfabric.load();
        fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
        domain = fabric.openDomain();
        sends = domain.openCompletionQueue();
        queue = domain.openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(WaitObject.FD));
        vector = domain.openAddressVector();
        source = domain.openEndpoint().bind(vector).bind(sends).enable();
        target = domain.openEndpoint().bind(vector).bind(queue).enable();
        memory = domain.allocate(2 * LENGTH, Access.SEND, Access.RECEIVE);
        peer = vector.insert(target.address());
        descriptor = queue.waitDescriptor();
        MemorySegment pollfd = Arena.global().allocate(64, Long.BYTES);
        pollfd.set(JAVA_INT, 0, descriptor);
        pollfd.set(JAVA_SHORT, JAVA_INT.byteSize(), (short) POLLIN);
        entries = pollfd.address();
        post(queue);
        while (sent < READY || received < READY) {
            sends.poll(this, READY);
            queue.poll(this, READY);
        }
    }

    /** With the queue that makes the progress that a send without room needs. */
    private void post(CompletionQueue other) {
        sent = 0;
        received = 0;
        for (int i = 0; i < READY; i++) {
            while (!target.messages().tryReceive(memory, LENGTH, LENGTH, 1)) {
                other.poll(this, READY);
            }
        }
        for (int i = 0; i < READY; i++) {
            while (!source.messages().trySend(memory, 0, LENGTH, peer, 0)) {
                sends.poll(this, READY);
                other.poll(this, READY);
            }
        }
    }

    /** Sends the messages. */
    @Setup(Level.Invocation)
    public void send() {
        post(sends); // there is a connection now
        while (sent < READY) {
            sends.poll(this, READY);
        }
    }

    /** Reads what the invocation has left. */
    @TearDown(Level.Invocation)
    public void read() {
        while (received < READY) {
            queue.poll(this, READY);
        }
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void close() {
        source.close();
        target.close();
        memory.close();
        vector.close();
        queue.close();
        sends.close();
        domain.close();
        fabric.close();
    }

    /** Takes one message, and waits for it if need be. */
    public int await() { return queue.await(this, 1, DEADLINE); }

    /** Takes one message. */
    public int poll() { return queue.poll(this, 1); }

    /** Asks poll(2) whether the queue's descriptor is readable. */
    public int pollDescriptor() {
        try {
            return (int) POLL.invokeExact(entries, 1L, -1);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Asks epoll_wait(2), as the queue's descriptor is an epoll(7). */
    public int epollDescriptor() {
        try {
            return (int) EPOLL_WAIT.invokeExact(descriptor, entries + 16, 1, -1);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        if (token == 1) {
            received++;
        } else {
            sent++;
        }
    }
}
