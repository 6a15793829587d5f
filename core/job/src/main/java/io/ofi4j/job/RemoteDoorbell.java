package io.ofi4j.job;

import io.ofi4j.job.internal.BellFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;

/**
 * The {@link Doorbell} of another process of this machine and this user.
 *
 * <p>Any thread may call the methods.
 */
public final class RemoteDoorbell implements AutoCloseable {
    private final BellFolder folder;
    private final SocketChannel socket;
    /** What is sent; its lock keeps one ring from changing it under another. */
    private final ByteBuffer ring = ByteBuffer.allocateDirect(1);

    private RemoteDoorbell(BellFolder folder, SocketChannel socket) {
        this.folder = folder;
        this.socket = socket;
    }

    /**
     * Opens the doorbell of a peer.
     *
     * @param address what {@link Doorbell#address} has returned there
     * @throws IllegalArgumentException if that is no address of a doorbell
     * @throws RendezvousException if it is closed, its process has ended, or it is on another machine, in another
     *         container or another user's; 1,025 peers have opened it since its owner last slept; or the thread is
     *         interrupted, which stays so
     */
    public static RemoteDoorbell open(byte[] address) {
        try {
            BellFolder folder = BellFolder.open(address);
            try {
                return new RemoteDoorbell(folder, folder.connect());
            } catch (IOException | RuntimeException | Error e) {
                folder.close();
                throw e;
            }
        } catch (ClosedByInterruptException e) {
            throw new RendezvousException("opening the doorbell of a peer was interrupted", e);
        } catch (IOException e) {
            throw new RendezvousException("the doorbell of a peer cannot be reached: " + e.getMessage()
                    + ". Is its process running, on this machine, as this user, with the same /dev/shm?", e);
        }
    }

    /**
     * Wakes the peer if it sleeps. Call it after what the peer waits for was posted, and also where a post was refused
     * for want of room, which the peer makes when it polls. It costs a memory barrier and a read while the peer is
     * awake, and never waits.
     *
     * @return whether the peer slept and was woken; false also if its process has ended
     * @throws IllegalStateException if this is closed
     */
    public boolean ring() {
        if (!folder.wakes()) { return false; }
        try {
            synchronized (ring) {
                return socket.write(ring.clear()) > 0;
            }
        } catch (IOException e) {
            return false; // it has ended
        }
    }

    /** Closes the connection to the doorbell. */
    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            assert !socket.isOpen();
        } finally {
            folder.close();
        }
    }

    @Override
    public String toString() { return "RemoteDoorbell at " + folder; }
}
