package io.ofi4j.util;

import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Waitable;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.engine.Backoff;
import io.ofi4j.internal.engine.Interrupts;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Deadlines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * Several completion queues, event queues, channels and file descriptors in one loop with one deadline.
 *
 * <pre>{@code
 * try (PollGroup group = new PollGroup()) {
 *     group.add(queue, completions).add(events, event -> handle(event));
 *     group.add(socket, SelectionKey.OP_READ, key -> read());
 *     while (running) {
 *         group.await(Duration.ofSeconds(1));
 *     }
 * }
 * }</pre>
 *
 * <p>A wait spins a thousand times, or for as long as the caller says. After that it blocks if every member of the
 * group has a wait descriptor ({@link io.ofi4j.info.WaitObject#FD}); otherwise it polls with the pauses of
 * {@link Waiting#BACKOFF}. While it blocks, it looks at channels once a millisecond, and without channels at all
 * members ten times a second. Handlers run on the thread that polls, and may add and remove members.
 *
 * <p>One thread at a time may use it; a second one gets {@link IllegalStateException}. The threading model of every
 * queue must permit that thread. Any thread may call {@link #wake}. The group does not own its members: the program
 * removes queues and channels from it before it closes them.
 */
public final class PollGroup implements AutoCloseable {
    private static final int SPINS = 1000;
    private static final int BATCH = 64;
    /** The event of poll(2) for a descriptor that is not open. */
    private static final short POLLNVAL = 0x20;
    private static final long CHANNEL_NANOS = 1_000_000;
    /** How long a block lasts that nothing ends: poll(2) does not tell that a descriptor was closed. */
    private static final long CLOSE_CHECK_NANOS = 100_000_000;

    /** With which the wait in progress blocks, or null. */
    private volatile Blocker blocker;
    /** The members. A change replaces the array, so that handlers may make changes. */
    private Member[] members = {};
    private volatile boolean woken;
    /** The thread that is inside a call, or null. */
    private final AtomicReference<Thread> user = new AtomicReference<>();
    /** The selector, or null if there are no channels. */
    private Selector selector;
    /** The number of ready channels that the current selection has handled. */
    private int readyChannels;
    private boolean isSelecting;
    private final Consumer<SelectionKey> handleKey = this::handle;
    private volatile boolean closed;

    /**
     * @param object the queue, channel or descriptor that was added
     * @param poll handles what is there, and returns how much that was
     * @param waitable the object with the wait descriptor, or null if there is none
     * @param descriptor the descriptor of a member that is not a Waitable, or -1
     */
    private record Member(Object object, IntSupplier poll, Waitable waitable, int descriptor) {
        boolean canBlock() { return waitable != null || descriptor >= 0; }

        int number() { return waitable == null ? descriptor : waitable.waitDescriptor(); }
    }

    /** Makes a group without members. */
    public PollGroup() {
        // declared for its javadoc
    }

    /** Adds a completion queue, whose completions go to this handler, as with {@link CompletionQueue#poll}. */
    public PollGroup add(CompletionQueue queue, CompletionHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return add(queue, () -> queue.poll(handler, BATCH));
    }

    /** Adds an event queue, whose events go to this handler, as {@link EventQueue#read()} returns them. */
    public PollGroup add(EventQueue queue, Consumer<? super Event> handler) {
        Objects.requireNonNull(handler, "handler");
        return add(queue, () -> queue.read().map(event -> {
            handler.accept(event);
            return 1;
        }).orElse(0));
    }

    private PollGroup add(Waitable queue, IntSupplier poll) {
        requireNew(queue);
        boolean hasDescriptor = true;
        try {
            queue.waitDescriptor();
        } catch (IllegalStateException e) { // it is closed, which the next poll reports, or has no descriptor
            hasDescriptor = false;
        }
        return add(new Member(queue, poll, hasDescriptor ? queue : null, -1));
    }

    /**
     * Adds a channel in non-blocking mode.
     *
     * @param channel the channel
     * @param operations the operations to look for, such as {@link SelectionKey#OP_READ}
     * @param handler called with the channel's key while the channel is ready
     * @return this group
     * @throws IllegalArgumentException if the channel does not have these operations, or is in the group already
     * @throws IllegalStateException if the channel is in blocking mode
     * @throws UncheckedIOException if the channel is closed
     */
    public PollGroup add(SelectableChannel channel, int operations, Consumer<? super SelectionKey> handler) {
        Objects.requireNonNull(handler, "handler");
        requireNew(channel);
        if ((operations & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException(
                    channel + " has the operations " + channel.validOps() + " of SelectionKey, not " + operations);
        }
        if (channel.isBlocking()) {
            throw new IllegalStateException(channel + " blocks: call configureBlocking(false) first");
        }
        try {
            if (selector == null) { selector = Selector.open(); }
            channel.register(selector, operations, handler);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /**
     * Adds a file descriptor, as poll(2) takes it.
     *
     * @param descriptor 0 or more; the caller owns it. If it is not open, {@link #poll} throws IllegalStateException
     * @param handler called while the descriptor is readable
     */
    public PollGroup add(int descriptor, Runnable handler) {
        Objects.requireNonNull(handler, "handler");
        if (descriptor < 0) { throw new IllegalArgumentException("a file descriptor is 0 or more, not " + descriptor); }
        requireNew(descriptor);
        return add(new Member(descriptor, () -> {
            short events = Blocker.events(descriptor);
            if (events == 0) { return 0; }
            if ((events & POLLNVAL) != 0) {
                throw new IllegalStateException(
                        "descriptor " + descriptor + " is not open: remove it from the group before you close it");
            }
            handler.run();
            return 1;
        }, null, descriptor));
    }

    private PollGroup add(Member member) {
        members = Arrays.copyOf(members, members.length + 1);
        members[members.length - 1] = member;
        return this;
    }

    private void requireNew(Object object) {
        requireOpen();
        requireSameThread(user.get());
        Objects.requireNonNull(object);
        boolean isKnown = Arrays.stream(members).anyMatch(member -> member.object.equals(object))
                || selector != null && object instanceof SelectableChannel channel && channel.keyFor(selector) != null;
        if (isKnown) { throw new IllegalArgumentException(object + " is in the group already: remove it first"); }
    }

    /** Removes a queue, channel or descriptor, if it is in the group. */
    public void remove(Object object) {
        Objects.requireNonNull(object);
        requireOpen();
        requireSameThread(user.get());
        members = Arrays.stream(members).filter(member -> !member.object.equals(object)).toArray(Member[]::new);
        if (selector != null && object instanceof SelectableChannel channel) {
            SelectionKey key = channel.keyFor(selector);
            if (key != null) { key.cancel(); }
        }
    }

    /**
     * {@return the number of completions, events, ready channels and descriptors that were handled; 0 if there were
     * none} It never waits.
     */
    public int poll() {
        boolean entered = enter();
        try {
            return pollAll();
        } finally {
            leave(entered);
        }
    }

    private int pollAll() {
        int handled = 0;
        Member[] now = members;
        for (Member member : now) {
            if (now == members || Arrays.asList(members).contains(member)) { handled += member.poll.getAsInt(); }
        }
        return selector == null || closed ? handled : handled + select();
    }

    private int select() {
        if (isSelecting) { return 0; } // the handler of a channel polls
        readyChannels = 0;
        isSelecting = true;
        try {
            selector.selectNow(handleKey);
            return readyChannels;
        } catch (ClosedSelectorException e) { // a channel's handler has closed this group
            if (!closed) { throw e; }
            return readyChannels;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            isSelecting = false;
        }
    }

    @SuppressWarnings("unchecked")
    private void handle(SelectionKey key) {
        readyChannels++;
        ((Consumer<? super SelectionKey>) key.attachment()).accept(key);
    }

    /**
     * As {@link #poll}, but waits until something was handled.
     *
     * @param deadline the longest wait
     * @return the number that was handled; 0 after the deadline or {@link #wake}
     * @throws FabricException if the thread is interrupted, with errno {@code EINTR} (4); its interrupt status stays
     *         set
     */
    public int await(Duration deadline) { return await(Deadlines.nanos(deadline), 0, SPINS); }

    /**
     * As {@link #await(Duration)}, but spins for this time in place of a thousand times.
     *
     * @param spin how long to poll before it blocks; at most until the deadline
     */
    public int await(Duration deadline, Duration spin) {
        return await(Deadlines.nanos(deadline), Deadlines.nanos(spin), 0);
    }

    private int await(long limit, long spinNanos, int spins) {
        long start = System.nanoTime();
        boolean entered = enter();
        Blocker outer = blocker; // of a wait whose handler has called this
        Blocker own = Blocker.take();
        blocker = own;
        try {
            return await(start, limit, spinNanos, spins, own);
        } finally {
            blocker = outer;
            own.give();
            leave(entered);
        }
    }

    private int await(long start, long limit, long spinNanos, int spins, Blocker own) {
        int turn = 0;
        while (true) {
            int handled = closed ? 0 : pollAll();
            long elapsed = System.nanoTime() - start;
            if (handled > 0 || elapsed >= limit || closed || consumeWake()) { return handled; }
            Interrupts.check("PollGroup.await");
            boolean isVirtual = Thread.currentThread().isVirtual();
            if (elapsed < spinNanos) {
                spin(isVirtual);
                continue;
            }
            if (turn < spins || isVirtual || !canBlock()) {
                Backoff.STANDARD.pause(turn, limit - elapsed);
            } else {
                block(limit - elapsed, own);
            }
            turn = turn + 1 & Integer.MAX_VALUE;
        }
    }

    private static void spin(boolean isVirtual) {
        if (isVirtual) {
            Thread.yield(); // others need its carrier
        } else {
            Thread.onSpinWait();
        }
    }

    private boolean canBlock() {
        for (Member member : members) {
            if (!member.canBlock()) { return false; }
        }
        return true;
    }

    private void block(long left, Blocker own) {
        own.clear();
        for (Member member : members) {
            if (member.waitable != null && !member.waitable.tryWait()) { return; }
            own.add(member.number());
        }
        own.block(Math.min(left, selector == null ? CLOSE_CHECK_NANOS : CHANNEL_NANOS));
    }

    /** Ends the wait in progress, or the next one. Any thread may call this. */
    public void wake() {
        requireOpen();
        woken = true;
        Blocker waiting = blocker;
        if (waiting != null) { waiting.wake(); }
    }

    private boolean consumeWake() {
        if (!woken) { return false; }
        woken = false;
        return true;
    }

    /** Enters this group; a handler may enter it again. Returns whether the caller must leave it. */
    private boolean enter() {
        requireOpen();
        Thread inside = user.compareAndExchange(null, Thread.currentThread());
        requireSameThread(inside);
        return inside == null;
    }

    private void leave(boolean entered) { if (entered) { user.set(null); } }

    private static void requireSameThread(Thread inside) {
        if (inside != null && inside != Thread.currentThread()) {
            throw new IllegalStateException("thread '" + inside.getName()
                    + "' uses this poll group, and one thread at a time may: wake() ends its wait");
        }
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException("the poll group is closed"); } }

    /** Removes all members, and closes none of them. */
    @Override
    public void close() {
        if (closed) { return; }
        boolean entered = enter();
        closed = true;
        leave(entered);
        members = new Member[0];
        try {
            if (selector != null) { selector.close(); }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() { return "PollGroup"; }
}
