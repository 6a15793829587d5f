package io.ofi4j.internal.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets a thread block on descriptors in one system call, ppoll(2), for as long as it takes: an eventfd with which
 * {@link #wake} and an interrupt end the call, and the memory of the call. A wait takes one, and gives it back at its
 * end, so that a process has as many as threads have waited at the same time. The first block opens the eventfd; later
 * ones allocate nothing, unless they have more descriptors than any before.
 *
 * <p>An eventfd stays open for later waits while somebody has {@link #retain}ed them. The last {@link #release} closes
 * those that no wait uses, and a wait that ends after it closes its own.
 *
 * <p>Only the thread that has taken it may use it, except for {@link #wake}.
 */
public final class Blocker {
    /** How long a thread blocks at a time if this process may open no more files, so that it notices an interrupt. */
    private static final long SLICE_NANOS = 10_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** {@code struct timespec}: seconds and nanoseconds. */
    private static final long TIMESPEC = 16;
    private static final long TIMESPEC_NANOS = 8;
    /** {@code struct pollfd}: descriptor, requested events, returned events. */
    private static final long POLLFD = 8;
    private static final long POLLFD_EVENTS = 4;
    private static final long POLLFD_RETURNED = 6;
    private static final short POLLIN = 1;
    private static final int INITIAL_ENTRIES = 8;

    /** How many are kept for later waits. */
    private static final int MAX_FREE = 64;
    private static final Blocker[] FREE = new Blocker[MAX_FREE];
    /** The number of those in {@link #FREE}, which is locked meanwhile, as for all that follows. */
    private static int free;
    /** How many have retained the eventfds. */
    private static int retained;

    static {
        new Waker(-1); // initializes the classes of java.nio while there is stack for it
        take().give();
    }

    /** The thread that has taken this, or null. */
    private volatile Thread thread;
    /** Null without an eventfd: before the first block, and before the first one after the last release. */
    private Waker waker;
    /** A timespec, and entries for poll, of which the first is the eventfd's. */
    private MemorySegment memory = Arena.ofAuto().allocate(TIMESPEC + INITIAL_ENTRIES * POLLFD, POLLFD);
    private int count;
    /** Whether the thread may be inside the system call. */
    private volatile boolean isBlocking;
    /** Whether {@link #wake} was called since the last block. */
    private volatile boolean isWoken;

    private Blocker() {}

    /** {@return one for the current thread, which gives it back} */
    public static Blocker take() {
        Blocker taken = takeFree();
        if (taken == null) { taken = new Blocker(); }
        taken.thread = Thread.currentThread();
        taken.count = 0;
        return taken;
    }

    private static Blocker takeFree() {
        synchronized (FREE) {
            return free == 0 ? null : FREE[--free];
        }
    }

    /** Gives it back. A {@link #wake} that comes too late ends a block of the next thread, which checks again. */
    public void give() {
        thread = null;
        synchronized (FREE) {
            boolean isKept = free < MAX_FREE;
            if (!isKept || retained == 0) { closeEvent(); }
            if (isKept) { FREE[free++] = this; }
        }
    }

    /** Has eventfds stay open between waits, until {@link #release}. */
    public static void retain() {
        synchronized (FREE) {
            retained++;
        }
    }

    /**
     * Ends a {@link #retain}. The last one closes the eventfds that no wait uses; each wait in progress closes its own.
     */
    public static void release() {
        synchronized (FREE) {
            retained--;
            for (int i = 0; retained == 0 && i < free; i++) {
                FREE[i].closeEvent();
            }
        }
    }

    private void closeEvent() {
        if (waker != null) { waker.closeEvent(); }
        waker = null;
    }

    /**
     * Has an interrupt of the thread signal its eventfd. Of AbstractSelector it needs only that, the way in which
     * java.nio lets code outside the JDK end a blocking call when its thread is interrupted.
     */
    private static final class Waker extends AbstractSelector {
        private final int event;
        private boolean isClosed;

        Waker(int event) {
            super(null);
            this.event = event;
        }

        void beginBlocking() { begin(); }

        void endBlocking() { end(); }

        @Override
        public synchronized Selector wakeup() { // so that the descriptor is not closed meanwhile
            if (!isClosed) { Descriptors.signal(event); }
            return this;
        }

        synchronized void closeEvent() {
            isClosed = true;
            Descriptors.close(event);
        }

        @Override
        protected void implCloseSelector() { throw new UnsupportedOperationException(); }

        @Override
        protected SelectionKey register(AbstractSelectableChannel channel, int operations, Object attachment) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Set<SelectionKey> keys() { throw new UnsupportedOperationException(); }

        @Override
        public Set<SelectionKey> selectedKeys() { throw new UnsupportedOperationException(); }

        @Override
        public int selectNow() { throw new UnsupportedOperationException(); }

        @Override
        public int select(long timeout) { throw new UnsupportedOperationException(); }

        @Override
        public int select() { throw new UnsupportedOperationException(); }
    }

    /** Forgets the descriptors that were added. */
    public Blocker clear() {
        count = 0;
        return this;
    }

    /** Adds a descriptor that ends the next {@link #block(long)} when it is readable. */
    public Blocker add(int descriptor) {
        count++;
        requireRoom();
        set(count, descriptor);
        return this;
    }

    private void requireRoom() {
        long entries = count + 1L;
        if (memory.byteSize() >= TIMESPEC + entries * POLLFD) { return; }
        MemorySegment larger = Arena.ofAuto().allocate(TIMESPEC + 2 * entries * POLLFD, POLLFD);
        memory = larger.copyFrom(memory);
    }

    private void set(int index, int descriptor) {
        long entry = TIMESPEC + index * POLLFD;
        memory.set(JAVA_INT, entry, descriptor);
        memory.set(JAVA_SHORT, entry + POLLFD_EVENTS, POLLIN);
    }

    /** As {@link #block(long)}, on this descriptor alone. */
    public boolean block(long nanos, int descriptor) {
        return clear().add(descriptor).block(nanos);
    }

    /**
     * Blocks until a descriptor that was added is readable, or {@link #wake} was called after the last block, or the
     * thread is interrupted, or the time is over; ppoll(2). It may return early for no reason. A virtual thread would
     * hold its carrier.
     *
     * @param nanos how long at most; 0 or less only looks
     * @return whether a descriptor that was added is readable
     */
    public boolean block(long nanos) {
        if (waker == null) { open(); }
        set(0, waker == null ? -1 : waker.event); // ppoll passes over -1
        long longest = waker == null ? Math.min(nanos, SLICE_NANOS) : nanos;
        isBlocking = true;
        try {
            if (waker != null) { waker.beginBlocking(); }
            return poll(isWoken ? 0 : Math.max(0, longest));
        } finally {
            isBlocking = false;
            isWoken = false; // whoever has blocked checks its conditions again
            if (waker != null) { waker.endBlocking(); }
        }
    }

    private void open() {
        int event = Descriptors.event();
        if (event >= 0) { waker = new Waker(event); }
    }

    /** {@return whether a descriptor is readable now} Any thread may call this. */
    public static boolean isReadable(int descriptor) {
        return events(descriptor) != 0;
    }

    /** {@return what poll(2) says of a descriptor now; 0 if there is nothing to read} Any thread may call this. */
    public static short events(int descriptor) {
        Blocker blocker = take();
        try {
            blocker.set(0, descriptor);
            return blocker.call(0) > 0 ? blocker.memory.get(JAVA_SHORT, TIMESPEC + POLLFD_RETURNED) : 0;
        } finally {
            blocker.give();
        }
    }

    private int call(long nanos) {
        memory.set(JAVA_LONG, 0, nanos / NANOS_PER_SECOND);
        memory.set(JAVA_LONG, TIMESPEC_NANOS, nanos % NANOS_PER_SECOND);
        long address = memory.address();
        return Descriptors.ppoll(address + TIMESPEC, count + 1, address);
    }

    private boolean poll(long nanos) {
        int readable = call(nanos);
        if (readable <= 0) { return false; }
        if (memory.get(JAVA_SHORT, TIMESPEC + POLLFD_RETURNED) == 0) { return true; }
        Descriptors.reset(waker.event);
        return readable > 1;
    }

    /** Ends the thread's block, or its next one, and its sleep. Any thread may call this. */
    public void wake() {
        isWoken = true;
        if (isBlocking) { // read first: then what block has stored before it is visible
            Waker its = waker;
            if (its != null) { its.wakeup(); }
        }
        LockSupport.unpark(thread);
    }
}
