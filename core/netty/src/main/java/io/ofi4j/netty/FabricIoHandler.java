package io.ofi4j.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.RendezvousException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs an event loop over a fabric: the channels of the loop share one endpoint. Experimental: this API may change
 * after 0.1.0.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(2,
 *         FabricIoHandler.newFactory(FabricHints.messages().provider("shm")));
 * new Bootstrap().group(group).channel(FabricChannel.class)
 *         .option(FabricChannelOption.SECRET, secret); // and the rest as over TCP
 * }</pre>
 *
 * <p>Each loop opens its endpoint, and 8 MiB of registered memory, when its first channel is registered; where that
 * fails, the registration does, with the exception that {@link io.ofi4j.Libfabric} throws. It takes 16 MiB when a long
 * buffer is allocated, up to 16 MiB where the program keeps what it has read, and up to 256 MiB where peers do not
 * receive what was sent to them. All but the memory for long buffers is a quarter of that over a provider that is a
 * layer, such as {@code tcp;ofi_rxm}. A loop polls for a while before it sleeps: for 50 microseconds, or as long as
 * {@link #newFactory(FabricHints, Duration)} is told. Over providers without wait descriptors, such as shm,
 * peers of the same machine wake it with a {@link io.ofi4j.job.Doorbell}. Where the provider fails, the channels of the
 * loop are closed with an {@link IOException}, and the next one that is registered opens another endpoint.
 */
public final class FabricIoHandler implements IoHandler {
    private static final Duration DEFAULT_SPIN = Duration.ofNanos(50_000);
    /** Shorter waits are the other side's at another core, and a yield would only make them longer. */
    private static final long YIELD_NANOS = 1_000;
    /** How long the other sides may take to answer that all has come when the loop ends. */
    private static final Duration LINGER = Duration.ofSeconds(10);
    /** Between two looks at whether they have. */
    private static final long PAUSE_NANOS = 50_000;
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(FabricIoHandler.class);

    /** What the loop's thread does; who wakes it sets the first. */
    private static final int AWAKE = 0;
    private static final int POLLING = 1;
    private static final int ASLEEP = 2;

    /** What a channel is to this handler. */
    interface Handle extends IoHandle {
        /** Whether bytes go through it, so that it needs an endpoint. */
        boolean needsLoop();

        /** The loop ends. */
        @Override
        void close();
    }

    private final FabricHints hints;
    private final SpinPace pace;
    private final ThreadAwareExecutor executor;
    private final Set<Handle> handles = new HashSet<>();
    /** Null until a channel is registered. */
    private volatile FabricLoop loop;
    private volatile Thread thread;
    private final AtomicInteger state = new AtomicInteger(AWAKE);

    private FabricIoHandler(FabricHints hints, Duration spin, ThreadAwareExecutor executor) {
        this.hints = hints;
        this.pace = new SpinPace(spin);
        this.executor = executor;
    }

    /** As {@link #newFactory(FabricHints, Duration)}, with 50 microseconds. */
    public static IoHandlerFactory newFactory(FabricHints hints) {
        return newFactory(hints, DEFAULT_SPIN);
    }

    /**
     * {@return what makes the handlers of an event loop group}
     *
     * @param hints the provider, and the address of this machine that the endpoints shall have; messages in order are
     *        asked for in any case
     * @param spin how long a loop without anything to do polls before it sleeps; after the first microsecond it lets
     *        others run on its core between polls. What comes meanwhile does not have to wake it, which takes tens of
     *        microseconds, and the time is taken from whatever else could run on that core. A loop that has polled in
     *        vain eight times running sleeps at once for a while, of 256 times as long and a second at most. With 0 it
     *        always sleeps at once; with {@code ChronoUnit.FOREVER.getDuration()} it neither sleeps nor lets others
     *        run: give such loops a core each
     */
    public static IoHandlerFactory newFactory(FabricHints hints, Duration spin) {
        Objects.requireNonNull(hints, "hints");
        Objects.requireNonNull(spin, "spin");
        if (spin.isNegative()) { throw new IllegalArgumentException("a loop cannot poll for " + spin); }
        return executor -> new FabricIoHandler(hints, spin, executor);
    }

    @Override
    public int run(IoHandlerContext context) {
        FabricLoop open = loop;
        if (open == null) {
            park(context);
            return 0;
        }
        try {
            int found = open.poll();
            if (found > 0 || !context.canBlock()) { return found; }
            return await(open, context);
        } catch (RuntimeException | OutOfMemoryError e) {
            boolean mayBeInterrupt = e instanceof FabricException || e instanceof RendezvousException;
            if (!mayBeInterrupt || !Thread.interrupted()) { fail(e); } // a task may have interrupted its own thread
            return 0;
        }
    }

    private int await(FabricLoop open, IoHandlerContext context) {
        state.set(POLLING);
        try {
            if (!context.canBlock()) { return 0; } // a task has come meanwhile, perhaps without a wake-up
            long nanos = Math.min(context.delayNanos(System.nanoTime()), open.longestWaitNanos());
            return nanos <= 0 ? 0 : await(open, nanos);
        } finally {
            state.set(AWAKE);
        }
    }

    /** Polls for a while, and then sleeps. */
    private int await(FabricLoop open, long nanos) {
        long start = System.nanoTime();
        long spin = pace.spinNanos(start);
        long elapsed = 0;
        while (elapsed < Math.min(spin, nanos)) {
            int found = open.poll();
            if (found > 0 || state.get() != POLLING) {
                pace.paid();
                return found;
            }
            if (Thread.interrupted()) { return 0; } // as above
            if (elapsed < YIELD_NANOS || spin == Long.MAX_VALUE) { // who never sleeps has a core to itself
                Thread.onSpinWait();
            } else {
                Thread.yield(); // whom this waits for may have no other core
            }
            elapsed = System.nanoTime() - start;
        }
        if (elapsed >= nanos || !state.compareAndSet(POLLING, ASLEEP)) { return 0; }
        if (spin > 0) { pace.wasInVain(start + elapsed); }
        return open.await(Duration.ofNanos(nanos - elapsed));
    }

    /** The provider has failed: the channels learn why, and the next one that is registered gets another loop. */
    private void fail(Throwable why) {
        FabricLoop failed = loop;
        loop = null;
        LOGGER.warn("an event loop over a fabric has failed, and closes its channels", why);
        for (FabricChannel channel : failed.channels()) {
            channel.broken(new IOException("the event loop of this channel has failed: " + why.getMessage(), why));
        }
        end(failed);
    }

    private static void end(FabricLoop ended) {
        ended.channels().forEach(FabricChannel::release);
        try {
            ended.close();
        } catch (RuntimeException e) {
            LOGGER.warn("what an event loop over a fabric had open stays open", e);
        }
    }

    private void park(IoHandlerContext context) {
        thread = Thread.currentThread();
        if (context.canBlock()) { LockSupport.parkNanos(this, context.delayNanos(System.nanoTime())); }
        Thread.interrupted(); // or no later pause would be one
    }

    @Override
    public void wakeup() {
        if (executor.isExecutorThread(Thread.currentThread())) { return; }
        FabricLoop open = loop;
        if (open == null) {
            LockSupport.unpark(thread);
        } else if (state.getAndSet(AWAKE) == ASLEEP) { open.wake(); } // one that polls sees its task
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        Handle own = (Handle) handle;
        if (loop == null && own.needsLoop()) { loop = open(); }
        handles.add(own);
        own.registered();
        return new Registration(own);
    }

    private FabricLoop open() {
        try {
            return FabricLoop.open(hints);
        } catch (Error e) { // Netty tells the channel of exceptions alone
            throw new IllegalStateException("an event loop over a fabric cannot be opened: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return Handle.class.isAssignableFrom(handleType);
    }

    @Override
    public void prepareToDestroy() { List.copyOf(handles).forEach(Handle::close); }

    @Override
    public void destroy() {
        FabricLoop ending = loop;
        loop = null;
        if (ending == null) { return; }
        try {
            drain(ending);
        } catch (RuntimeException | OutOfMemoryError e) {
            LOGGER.warn("an event loop over a fabric has failed at its end", e);
        }
        end(ending);
    }

    private static void drain(FabricLoop ending) {
        long end = System.nanoTime() + LINGER.toNanos();
        while (ending.hasChannels() && System.nanoTime() - end < 0) {
            if (ending.poll() > 0) { continue; }
            ending.channels().forEach(FabricChannel::releaseIfGone); // no task runs here any more
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Of a channel; its attachment is the loop. */
    private final class Registration implements IoRegistration {
        private final Handle handle;
        private final AtomicBoolean isCanceled = new AtomicBoolean();

        private Registration(Handle handle) { this.handle = handle; }

        @SuppressWarnings("unchecked")
        @Override
        public <T> T attachment() { return (T) loop; }

        @Override
        public long submit(IoOps ops) {
            throw new UnsupportedOperationException("a fabric has no operations to submit");
        }

        @Override
        public boolean isValid() { return !isCanceled.get(); }

        @Override
        public boolean cancel() {
            if (!isCanceled.compareAndSet(false, true)) { return false; }
            if (executor.isExecutorThread(Thread.currentThread())) {
                remove();
            } else {
                executor.execute(this::remove);
            }
            return true;
        }

        private void remove() { if (handles.remove(handle)) { handle.unregistered(); } }
    }
}
