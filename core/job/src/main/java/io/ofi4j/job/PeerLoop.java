package io.ofi4j.job;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;

/**
 * The thread that watches the sockets of all peer links of this process. It starts with the first
 * socket and ends with the last one.
 */
final class PeerLoop {
    /** What is done with a socket. Both methods run in the loop's thread. */
    interface Watched {
        /** The socket can be used. An exception leads to {@link #failed}. */
        void ready(SelectionKey key) throws IOException;

        /** The socket is of no more use. */
        void failed(Throwable why);
    }

    private static final long STACK_SIZE = 256 << 10;
    private static final Duration PAUSE_AFTER_ERROR = Duration.ofMillis(10);

    /** Null if there are no sockets; guarded by the class. */
    private static PeerLoop running;

    private final Selector selector;

    private PeerLoop(Selector selector) { this.selector = selector; }

    /** Watches a socket until it is closed, which a call of {@link #wake} must follow. */
    static SelectionKey watch(SelectableChannel socket, int operations, Watched watched) throws IOException {
        synchronized (PeerLoop.class) {
            if (running == null) { start(); }
            SelectionKey key = socket.register(running.selector, operations, watched);
            running.selector.wakeup();
            return key;
        }
    }

    private static void start() throws IOException {
        PeerLoop loop = new PeerLoop(Selector.open());
        try {
            Thread.ofPlatform().daemon().name("ofi4j-peers").stackSize(STACK_SIZE).start(loop::run);
        } catch (OutOfMemoryError e) { // there can be no more threads
            loop.selector.close();
            throw new IOException(e.getMessage(), e);
        }
        running = loop;
    }

    /** Has the thread see what has changed. */
    static void wake() {
        synchronized (PeerLoop.class) {
            if (running != null) { running.selector.wakeup(); }
        }
    }

    private void run() {
        while (selector.isOpen()) {
            Thread.interrupted(); // of a callback: no later select would wait
            try {
                if (hasSockets()) {
                    selector.select(PeerLoop::handle);
                } else {
                    selector.close();
                }
            } catch (IOException | RuntimeException | Error e) { // such as no memory: the sockets are still there
                pause();
            }
        }
    }

    private boolean hasSockets() {
        synchronized (PeerLoop.class) {
            // A selector that has been woken may still have keys of sockets that are closed.
            if (selector.keys().stream().anyMatch(SelectionKey::isValid)) { return true; }
            if (running == this) { running = null; }
            return false;
        }
    }

    private static void handle(SelectionKey key) {
        Watched watched = (Watched) key.attachment();
        try {
            watched.ready(key);
        } catch (IOException | RuntimeException | Error e) { // also a key that another thread has canceled
            watched.failed(e);
        }
    }

    /** Runs a callback of the program. What it throws goes where what ends a thread goes. */
    static void run(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_AFTER_ERROR);
        } catch (InterruptedException e) {
            return; // a callback has interrupted its own thread
        }
    }
}
