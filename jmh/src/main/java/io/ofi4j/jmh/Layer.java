package io.ofi4j.jmh;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Two endpoints of one process, one of which writes to and reads from the other, and one way of calling libfabric for
 * it. Every layer asks for the same objects with the same hints, and polls in the same order.
 */
@State(Scope.Thread)
public abstract class Layer {
    /** How many completions one poll takes at most. */
    static final int BATCH = 16;
    /** After how many injects the target's progress is made; a power of two. */
    static final int INJECTS_PER_POLL = 16;

    /** The provider, as libfabric names it. */
    @Param("shm")
    public String provider;

    /** What is asked for as threading model: a name of {@link io.ofi4j.info.ThreadingModel}. */
    @Param({"DOMAIN", "SAFE"})
    public String threading;

    /** How many bytes an operation moves. */
    @Param("8")
    public int size;

    private int injects;

    /** Opens everything, on the thread that will use it. */
    @Setup(Level.Trial)
    public final void setUp() { open(); }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public final void tearDown() { close(); }

    abstract void open();

    abstract void close();

    /** Writes, and polls until the completion is there; what identifies it. */
    public abstract long write();

    /** Reads, and polls until the completion is there; what identifies it. */
    public abstract long read();

    /** Writes without a completion. */
    abstract void postInject();

    /** Polls both queues, where no completion is awaited. */
    abstract void makeProgress();

    /** Polls the initiator's queue, where there is nothing; what the call gave. */
    public abstract int poll();

    /** Writes without a completion, and polls now and then, for the target to take them in. */
    public final void inject() {
        postInject();
        if ((++injects & INJECTS_PER_POLL - 1) == 0) { makeProgress(); }
    }

    /** The local address to ask the provider for, or null where it needs none. */
    final String sourceNode() {
        return provider.startsWith("shm") ? null : "127.0.0.1";
    }
}
