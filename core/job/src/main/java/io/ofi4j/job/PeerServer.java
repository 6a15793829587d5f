package io.ofi4j.job;

import io.ofi4j.job.internal.Deadline;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Accepts any number of peers that come and go, for endpoints without connections: each peer brings the address of its
 * endpoint, its regions and a few bytes, gets those of the server, and is told to have gone when its process has ended.
 * The peers connect over TCP with {@link PeerLink#connect}, and a secret.
 *
 * <pre>{@code
 * PeerServer server = PeerServer.listen(new InetSocketAddress(7471), secret, queue::signal);
 * while (running) {
 *     queue.await(completions, 64, Duration.ofSeconds(1));      // also returns when a peer comes or goes
 *     server.poll(link -> {
 *         clients.put(link, vector.insert(link.hello().address()));
 *         link.accept(PeerHello.of(endpoint, inbox.remote()));
 *     }, link -> vector.remove(clients.remove(link)));
 * }
 * }</pre>
 *
 * <p>One thread watches all links of the process, and one for each server accepts. They wait for nobody: each
 * connection costs a descriptor and a few hundred bytes, and the system's limit of descriptors is the only limit of
 * peers. The hellos are encrypted and authenticated, with keys derived from the secret, as those of a
 * {@link Rendezvous}: {@link Rendezvous#newSecret} makes one. A connection with another secret, with garbage, with
 * another release of ofi4j or without a word within ten seconds is closed, and disturbs nobody; of such connections
 * there are 1024 at most.
 *
 * <p>Any thread may call the methods, but only one at a time polls or awaits. They throw {@link IllegalStateException}
 * once the server is closed.
 */
public final class PeerServer implements AutoCloseable {
    /** The largest number of connections that have not shown yet that they know the secret. */
    private static final int MAX_STRANGERS = 1024;
    /** The time in which a new connection must show that it knows the secret. */
    private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(10);
    private static final long STACK_SIZE = 256 << 10;
    private static final Duration LONGEST_ACCEPT = Duration.ofSeconds(1);
    private static final Duration PAUSE_WITHOUT_DESCRIPTORS = Duration.ofMillis(10);

    /** What {@link #poll} tells: a link is in the queue once when it comes, and once when it goes. */
    private record Change(PeerLink link, boolean isGone) {
        /** Wakes who awaits a server that is closed. */
        static final Change NONE = new Change(null, false);
    }

    private final ServerSocketChannel listener;
    private final Selector selector;
    private final InetSocketAddress address;
    private final String secret;
    private final Runnable onChange;
    private final Thread acceptor;
    private final BlockingQueue<Change> changes = new LinkedBlockingQueue<>();
    private final Set<PeerLink> links = ConcurrentHashMap.newKeySet();
    /** The oldest first; guarded by itself. */
    private final Set<PeerHandshake> strangers = new LinkedHashSet<>();
    private volatile boolean stopped;
    private volatile boolean closed;

    private PeerServer(ServerSocketChannel listener, Selector selector, String secret, Runnable onChange)
            throws IOException {
        this.listener = listener;
        this.selector = selector;
        this.address = (InetSocketAddress) listener.getLocalAddress();
        this.secret = secret;
        this.onChange = onChange;
        this.acceptor = Thread.ofPlatform().daemon().name("ofi4j-peer-server").stackSize(STACK_SIZE)
                .unstarted(this::accept);
    }

    /** As {@link #listen(InetSocketAddress, String, Runnable)}, and tells nobody. */
    public static PeerServer listen(InetSocketAddress at, String secret) {
        return listen(at, secret, () -> {});
    }

    /**
     * Opens a server.
     *
     * @param at where to listen; for port 0 the system chooses a port, which {@link #address} has
     * @param secret at least 16 characters
     * @param onChange called when {@link #poll} has something to tell, by a thread that must not be kept: usually
     *        {@code queue::signal}, which ends the queue's {@code await}
     * @throws IllegalArgumentException if the secret is shorter
     * @throws RendezvousException if the address is in use, or is not one of this machine
     */
    public static PeerServer listen(InetSocketAddress at, String secret, Runnable onChange) {
        Rendezvous.requireSecret(secret);
        Objects.requireNonNull(onChange, "onChange");
        Rendezvous.requireResolved(at);
        try {
            ServerSocketChannel listener = ServerSocketChannel.open();
            Selector selector = null;
            try {
                listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                listener.bind(at, MAX_STRANGERS);
                listener.configureBlocking(false);
                selector = Selector.open();
                listener.register(selector, SelectionKey.OP_ACCEPT);
                PeerServer server = new PeerServer(listener, selector, secret, onChange);
                server.acceptor.start();
                return server;
            } catch (IOException | RuntimeException | Error e) {
                listener.close();
                if (selector != null) { selector.close(); }
                throw e;
            }
        } catch (IOException | OutOfMemoryError e) {
            throw new RendezvousException("no peer server can be opened at " + at + ": " + e.getMessage() + ". "
                    + Rendezvous.adviceOr("Choose another port, or an address of this machine."), e);
        }
    }

    /** {@return where the server listens, with the actual port; it may be the wildcard address} */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Tells which peers have come and which have gone, in that order for each peer, and never waits. If there is
     * nothing to tell, it reads a number and allocates nothing. A handler that throws ends the call; the next one goes
     * on with the next link.
     *
     * @param arrived takes links that are {@link PeerLink.State#ARRIVED}: {@linkplain PeerLink#accept accept} or
     *        {@linkplain PeerLink#refuse refuse} each, in the handler or later; their peers wait for it
     * @param gone takes links of the first handler that the peer has ended, once each, but not those that this side has
     *        closed
     * @return how many were told
     */
    public int poll(Consumer<PeerLink> arrived, Consumer<PeerLink> gone) {
        Objects.requireNonNull(arrived, "arrived");
        Objects.requireNonNull(gone, "gone");
        requireOpen();
        int number = 0;
        for (Change change = changes.poll(); change != null; change = changes.poll()) {
            if (tell(change, arrived, gone)) { number++; }
        }
        return number;
    }

    /**
     * As {@link #poll}, but waits until there is something to tell. It is for programs with a thread for it; others
     * pass {@code queue::signal} to {@link #listen}.
     *
     * @param deadline the longest wait
     * @return how many were told; 0 if the time ended first
     * @throws IllegalStateException also if another thread closes the server meanwhile
     * @throws RendezvousException if the thread is interrupted, which stays so
     */
    public int await(Consumer<PeerLink> arrived, Consumer<PeerLink> gone, Duration deadline) {
        Deadline end = Deadline.in(deadline);
        int number = poll(arrived, gone);
        while (number == 0 && !end.isOver()) {
            Change change = next(end);
            requireOpen();
            if (change != null && tell(change, arrived, gone)) { number = 1; }
            number += poll(arrived, gone);
        }
        return number;
    }

    private Change next(Deadline end) {
        try {
            return changes.poll(end.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RendezvousException("waiting for peers of " + this + " was interrupted", e);
        }
    }

    /** {@return whether there was something to tell} Nothing is told of a peer that went before anybody knew it. */
    private boolean tell(Change change, Consumer<PeerLink> arrived, Consumer<PeerLink> gone) {
        PeerLink link = change.link;
        if (change.isGone) {
            if (!link.isTold) { return false; }
            gone.accept(link);
        } else {
            if (link == null || link.isGone()) { return false; }
            link.isTold = true;
            arrived.accept(link);
        }
        return true;
    }

    private void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /** Runs in a thread of its own. */
    private void accept() {
        while (!stopped) {
            Thread.interrupted(); // which must not close the listener, as it would one that blocks
            try {
                selector.select();
                selector.selectedKeys().clear();
                SocketChannel socket = listener.accept();
                if (socket != null) { greet(socket); }
            } catch (IOException | ClosedSelectorException | OutOfMemoryError e) {
                // it is closed, or there is no free descriptor or memory now
                if (!stopped) { pause(); }
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_WITHOUT_DESCRIPTORS);
        } catch (InterruptedException e) {
            return; // nobody interrupts it
        }
    }

    private void greet(SocketChannel socket) throws IOException {
        try {
            PeerChannel channel = new PeerChannel(socket, secret, null);
            PeerHandshake stranger = new PeerHandshake(channel,
                    (greeted, hello) -> PeerLink.arrived(greeted, hello, this::ended));
            makeRoom(stranger);
            stranger.whenComplete((link, _) -> known(stranger, link));
            stranger.orTimeout(JOIN_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            channel.watch(stranger);
        } catch (IOException | RuntimeException | OutOfMemoryError e) { // it may have gone already
            socket.close();
            PeerLoop.wake();
        }
    }

    private void makeRoom(PeerHandshake newest) {
        PeerHandshake oldest = null;
        synchronized (strangers) {
            strangers.add(newest);
            if (strangers.size() > MAX_STRANGERS) { oldest = strangers.iterator().next(); }
        }
        if (oldest != null) { oldest.completeExceptionally(new IOException("too many have come")); }
        if (stopped) { newest.completeExceptionally(new IOException("the server is closed")); }
    }

    /** The first message of a stranger was right; or it will not come, and there is no link. */
    private void known(PeerHandshake stranger, PeerLink link) {
        synchronized (strangers) {
            strangers.remove(stranger);
        }
        if (link == null) { return; }
        links.add(link);
        if (closed) { link.closeWithServer(); }
        changes.add(new Change(link, false));
        PeerLoop.run(onChange);
    }

    private void ended(PeerLink link) {
        links.remove(link);
        link.tellGone(() -> {
            changes.add(new Change(link, true));
            onChange.run();
        });
    }

    /**
     * Stops to listen: the port is free, and no peer comes any more. The links that came before go on, and
     * {@link #poll} tells when their peers go.
     */
    public void stop() {
        stopped = true;
        try (selector) {
            listener.close();
        } catch (IOException e) {
            assert !listener.isOpen();
        }
        awaitAcceptor();
        List<PeerHandshake> waiting;
        synchronized (strangers) {
            waiting = List.copyOf(strangers);
        }
        waiting.forEach(stranger -> stranger.completeExceptionally(new IOException("the server is closed")));
    }

    /**
     * {@linkplain #stop Stops} to listen, and closes all links of this server: to the peers it has left. Those who wait
     * to be accepted try again until their deadline, as another server may come.
     */
    @Override
    public void close() {
        closed = true;
        stop();
        links.forEach(PeerLink::closeWithServer);
        changes.clear();
        changes.add(Change.NONE);
    }

    /** While a thread is in accept(2), the kernel keeps the port. */
    private void awaitAcceptor() {
        boolean interrupted = Thread.interrupted();
        try {
            acceptor.join(LONGEST_ACCEPT);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) { Thread.currentThread().interrupt(); }
    }

    @Override
    public String toString() { return "PeerServer at " + address; }
}
