package io.ofi4j.job;

import io.ofi4j.CompletionQueue;
import io.ofi4j.job.internal.BellFolder;
import io.ofi4j.job.internal.Deadline;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * Wakes a thread that waits for what processes of the same machine do, over a provider without descriptors, such as
 * {@code shm}. There {@link CompletionQueue#await} looks again and again, with pauses of up to half a millisecond. A
 * thread that sleeps at a doorbell looks every 10 ms, and is woken at once by a peer that rings.
 *
 * <pre>{@code
 * Doorbell bell = Doorbell.open();                                       // and peers get bell.address()
 * while (running) {
 *     bell.await(() -> queue.poll(handler, 64), Duration.ofSeconds(1), Duration.ofNanos(20_000));
 * }
 * }</pre>
 *
 * <p>The peer opens a {@link RemoteDoorbell} and calls {@link RemoteDoorbell#ring} after what it has posted. That costs
 * a memory barrier and a read while this thread is awake, and a write to a socket when it sleeps. A peer that does not
 * ring is seen at the next look. So is what libfabric does by itself: the end of a long transfer, or the first answer
 * of a peer.
 *
 * <p>It is a folder of this user with a file of one page and a socket, in {@code /dev/shm} or, where there is none, the
 * folder for temporary files. A process that was killed leaves it; the next doorbell of this user removes it.
 *
 * <p><b>Threads.</b> One thread at a time waits. Any thread may call {@link #ring} and {@link #close}.
 */
public final class Doorbell implements AutoCloseable {
    private static final Duration LONGEST_SLEEP = Duration.ofMillis(10);
    private static final long NANOS_OF_MILLI = 1_000_000;
    private static final int RINGS = 64;

    private final BellFolder folder;
    private final ServerSocketChannel listener;
    private final Selector selector;
    private final long longestSleepNanos;
    private final Set<SocketChannel> peers = ConcurrentHashMap.newKeySet();
    private final ByteBuffer rings = ByteBuffer.allocateDirect(RINGS);
    private final Consumer<SelectionKey> take = this::take;
    private volatile boolean rung;
    private volatile boolean closed;

    private Doorbell(BellFolder folder, Duration longestSleep) throws IOException {
        this.folder = folder;
        this.longestSleepNanos = longestSleep.toNanos();
        this.selector = Selector.open();
        ServerSocketChannel opened = null;
        try {
            opened = folder.listen();
            opened.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            this.listener = opened;
        } catch (IOException | RuntimeException | Error e) {
            selector.close();
            if (opened != null) { opened.close(); }
            throw e;
        }
    }

    /**
     * Opens a doorbell.
     *
     * @throws RendezvousException if there is no folder for it, the process may open no more files, or the thread is
     *         interrupted, which stays so
     */
    public static Doorbell open() { return open(LONGEST_SLEEP); }

    /** As {@link #open()}, with another time between looks. */
    static Doorbell open(Duration longestSleep) {
        try {
            BellFolder folder = BellFolder.create();
            try {
                return new Doorbell(folder, longestSleep);
            } catch (IOException | RuntimeException | Error e) {
                folder.close();
                throw e;
            }
        } catch (ClosedByInterruptException e) {
            throw new RendezvousException("opening a doorbell was interrupted", e);
        } catch (IOException e) {
            throw new RendezvousException("no doorbell can be opened: " + e.getMessage()
                    + ". Is there room and a free descriptor, and may this user write to /dev/shm?", e);
        }
    }

    /** {@return what {@link RemoteDoorbell#open} takes; up to 100 bytes, for the data of a {@link PeerHello}} */
    public byte[] address() {
        return folder.address();
    }

    /**
     * Polls until there is something, and sleeps in between.
     *
     * @param poll polls what the thread waits for, and returns how much it has found; it is called again and again
     * @param deadline the longest time to wait
     * @param spin how long to poll without sleeping first: a ring takes microseconds on its way
     * @return what the poll has returned; 0 after the deadline or {@link #ring}
     * @throws IllegalStateException if this is closed, before or during the wait
     * @throws RendezvousException if the thread is interrupted, which stays so
     */
    public int await(IntSupplier poll, Duration deadline, Duration spin) {
        Objects.requireNonNull(poll, "poll");
        long limit = Deadline.nanos(deadline);
        long spinNanos = Deadline.nanos(spin);
        long start = System.nanoTime();
        boolean asleep = false;
        try {
            while (true) {
                requireOpen();
                int found = poll.getAsInt();
                if (found > 0) { return found; }
                long elapsed = System.nanoTime() - start;
                if (elapsed >= limit || takeRing()) { return 0; }
                requireNotInterrupted();
                if (elapsed < spinNanos) {
                    Thread.onSpinWait();
                } else if (!asleep) {
                    folder.sleeps(true); // who posts from now on rings; what came before, the next poll sees
                    asleep = true;
                } else {
                    sleep(Math.min(longestSleepNanos, limit - elapsed));
                    folder.sleeps(false);
                    asleep = false;
                }
            }
        } finally {
            if (asleep) { folder.sleeps(false); }
        }
    }

    private boolean takeRing() {
        if (!rung) { return false; }
        rung = false;
        return true;
    }

    private void requireNotInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw new RendezvousException("waiting at a doorbell was interrupted", null);
        }
    }

    private void sleep(long nanos) {
        try {
            selector.select(take, Math.ceilDiv(nanos, NANOS_OF_MILLI));
        } catch (IOException e) {
            throw new RendezvousException("a doorbell cannot be waited at: " + e.getMessage(), e);
        } catch (ClosedSelectorException _) {
            requireOpen();
        }
    }

    /** Accepts a peer, or takes its rings, or lets it go. */
    private void take(SelectionKey key) {
        try {
            if (key.channel() == listener) {
                SocketChannel peer = listener.accept();
                if (peer != null) { greet(peer); }
                return;
            }
            rings.clear();
            if (((SocketChannel) key.channel()).read(rings) < 0) { leave((SocketChannel) key.channel()); }
        } catch (IOException e) { // the listener goes on: this process may have no free descriptor now
            if (key.channel() != listener) { leave((SocketChannel) key.channel()); }
        }
    }

    private void greet(SocketChannel peer) throws IOException {
        peers.add(peer);
        try {
            peer.configureBlocking(false).register(selector, SelectionKey.OP_READ);
        } catch (IOException | RuntimeException | Error e) {
            leave(peer);
            throw e;
        }
        if (closed) { leave(peer); }
    }

    private void leave(SocketChannel peer) {
        peers.remove(peer);
        try {
            peer.close();
        } catch (IOException e) {
            assert !peer.isOpen();
        }
    }

    /** Ends the wait in progress; if there is none, the next one. For threads of this process. */
    public void ring() {
        rung = true;
        selector.wakeup();
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /** Removes it; a thread that waits throws. Peers that ring from now on ring for nobody. */
    @Override
    public void close() {
        if (closed) { return; }
        closed = true;
        try {
            listener.close();
            selector.close();
        } catch (IOException e) {
            assert !selector.isOpen();
        } finally {
            peers.forEach(this::leave);
            folder.close();
        }
    }

    @Override
    public String toString() { return "Doorbell at " + folder; }
}
