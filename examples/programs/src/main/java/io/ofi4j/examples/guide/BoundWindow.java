package io.ofi4j.examples.guide;

import io.ofi4j.Waiting;
import io.ofi4j.verbs.ConnectionListener;
import io.ofi4j.verbs.MemoryWindow;
import io.ofi4j.verbs.ProtectionDomain;
import io.ofi4j.verbs.QueuePair;
import io.ofi4j.verbs.QueuePairAttributes;
import io.ofi4j.verbs.RemoteMemory;
import io.ofi4j.verbs.Verbs;
import io.ofi4j.verbs.VerbsAccess;
import io.ofi4j.verbs.VerbsCompletionQueue;
import io.ofi4j.verbs.VerbsConnection;
import io.ofi4j.verbs.VerbsMemoryRegion;
import io.ofi4j.verbs.WorkFlags;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** An owner lets a peer write into 1 KiB of a region through a memory window. The peer gives the window back. */
public final class BoundWindow {
    private static final Duration SOON = Duration.ofSeconds(60);

    private BoundWindow() {}

    /** Arguments: the owner's address of an RDMA device, and the peer's, which may be the same. */
    public static void main(String[] arguments) {
        Verbs verbs = Verbs.load(); // the exception says what to install
        try (ConnectionListener listener = verbs.listen(new InetSocketAddress(arguments[0], 0), 1)) {
            InetSocketAddress owner = listener.address();
            InetSocketAddress from = new InetSocketAddress(arguments[1], 0);
            CompletableFuture<Void> peer = CompletableFuture.runAsync(() -> write(verbs, from, owner));
            lend(listener);
            peer.join();
        }
    }

    private static void lend(ConnectionListener listener) {
        try (VerbsConnection connection = listener.next(SOON);
                ProtectionDomain domain = connection.context().openProtectionDomain();
                VerbsMemoryRegion region = domain.allocate(8192, VerbsAccess.LOCAL_WRITE, VerbsAccess.WINDOW_BIND);
                VerbsCompletionQueue queue = connection.context().openCompletionQueue(256);
                QueuePair pair = connection.openQueuePair(domain, QueuePairAttributes.of(queue));
                MemoryWindow window = domain.openWindow(MemoryWindow.Type.TWO)) {
            pair.tryReceive(region, 0, 0, 1);
            connection.accept(new byte[0], SOON);
            pair.tryBind(window, region, 4096, 1024, 0, 2, VerbsAccess.REMOTE_WRITE);
            await(queue);
            byte[] forThePeer = window.remote().encode(); // a key of its own, bounds and rights
            MemorySegment.copy(forThePeer, 0, region.segment(), ValueLayout.JAVA_BYTE, 0, forThePeer.length);
            pair.trySend(region, 0, forThePeer.length, WorkFlags.SIGNALED, 3);
            await(queue); // the key has been sent ...
            await(queue); // ... and the peer's message has come
            System.out.println(
                    "the peer wrote: " + region.segment().getString(4096) + "; the window is " + window.state());
        }
    }

    private static void write(Verbs verbs, InetSocketAddress from, InetSocketAddress owner) {
        try (VerbsConnection connection = verbs.resolve(from, owner, SOON);
                ProtectionDomain domain = connection.context().openProtectionDomain();
                VerbsMemoryRegion region = domain.allocate(4096, VerbsAccess.LOCAL_WRITE);
                VerbsCompletionQueue queue = connection.context().openCompletionQueue(256);
                QueuePair pair = connection.openQueuePair(domain, QueuePairAttributes.of(queue))) {
            pair.tryReceive(region, 0, RemoteMemory.ENCODED_LENGTH, 1);
            connection.connect(new byte[0], SOON);
            await(queue);
            RemoteMemory window = RemoteMemory
                    .decode(region.segment().asSlice(0, RemoteMemory.ENCODED_LENGTH).toArray(ValueLayout.JAVA_BYTE));
            region.segment().setString(1024, "Hello, window");
            pair.tryWrite(region, 1024, 64, window, 0, WorkFlags.SIGNALED, 2);
            await(queue);
            pair.trySendInvalidate(region, 0, 0, window, WorkFlags.SIGNALED, 3); // a message that invalidates the key
            await(queue);
        }
    }

    /** Polls until an operation has completed. A failed one throws. */
    private static void await(VerbsCompletionQueue queue) {
        Waiting.YIELD.until(() -> queue.poll((token, kind, length, flags, word) -> {}, 1) > 0, SOON);
    }
}
