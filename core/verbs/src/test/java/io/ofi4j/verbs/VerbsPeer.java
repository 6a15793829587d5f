package io.ofi4j.verbs;

import java.net.InetSocketAddress;
import java.util.concurrent.locks.LockSupport;

/** A process that gives a peer a window, and is killed while that is bound. */
final class VerbsPeer {
    static final int WINDOW = 512;

    private VerbsPeer() {}

    /** The address to listen on. */
    public static void main(String[] arguments) {
        Verbs verbs = Verbs.load();
        ConnectionListener listener = verbs.listen(new InetSocketAddress(arguments[0], 0), 1);
        System.out.println("port " + listener.address().getPort());
        // The other process loads its classes meanwhile.
        VerbsLink.VerbsSide side = new VerbsLink.VerbsSide(listener.next(VerbsLink.DEADLINE.multipliedBy(3)), 16);
        side.connection.accept(new byte[0], VerbsLink.DEADLINE);
        MemoryWindow window = side.domain.openWindow(MemoryWindow.Type.TWO);
        side.pair.tryBind(window, side.region, 1024, WINDOW, 0, 1, VerbsAccess.REMOTE_WRITE, VerbsAccess.REMOTE_READ);
        byte[] encoded = window.remote().encode();
        side.region.segment().asSlice(0, encoded.length).copyFrom(java.lang.foreign.MemorySegment.ofArray(encoded));
        side.pair.trySend(side.region, 0, encoded.length, WorkFlags.SIGNALED | WorkFlags.INLINE, 2);
        side.next();
        side.next();
        System.out.println("given " + window.state());
        while (true) {
            LockSupport.parkNanos(1_000_000_000L); // until it is killed
        }
    }
}
