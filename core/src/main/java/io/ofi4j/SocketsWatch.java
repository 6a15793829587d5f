package io.ofi4j;

import io.ofi4j.internal.UnreadBytes;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks after the connections of the provider sockets, while a domain of it is open, on a thread of its own: the provider takes the
 * header of a message as a whole or not at all (sock_pe_peek_hdr), and leaves its first bytes in the connection. Where TCP gets no room
 * for the rest of it by that, no operation of the connection ends any more, not those of this side, and not those of the peer.
 */
final class SocketsWatch {
    static final SocketsWatch OF_THIS_PROCESS = new SocketsWatch();

    /** {@code struct sock_msg_hdr} has so many bytes. */
    private static final int HEADER = 24;
    private static final long PAUSE_NANOS = 100_000_000;

    private final UnreadBytes unread = new UnreadBytes(HEADER);
    private int domains;
    private volatile Thread thread;

    private SocketsWatch() {
    }

    private static boolean concerns(FabricInfo info) {
        return info.provider().equals("sockets");
    }

    synchronized void opened(FabricInfo info) {
        if (concerns(info) && domains++ == 0) {
            Thread watching = Thread.ofPlatform().daemon().name("ofi4j-sockets").unstarted(this::run);
            thread = watching;
            try {
                watching.start();
            } catch (OutOfMemoryError e) {
                // There is room for no thread: as in a C program, which has none.
            }
        }
    }

    synchronized void closed(FabricInfo info) {
        if (concerns(info) && --domains == 0) {
            LockSupport.unpark(thread);
            thread = null;
        }
    }

    private void run() {
        while (thread == Thread.currentThread()) {
            LockSupport.parkNanos(PAUSE_NANOS);
            synchronized (unread) { // the last one may not have ended yet
                unread.enlargeWhereTheyStay();
            }
        }
    }
}
