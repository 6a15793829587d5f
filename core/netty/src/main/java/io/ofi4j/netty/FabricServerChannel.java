package io.ofi4j.netty;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.RendezvousException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.HashMap;
import java.util.Map;

/**
 * Accepts {@link FabricChannel}s at an address of TCP, where peers say where their endpoints are. Experimental: this
 * API may change after 0.1.0.
 *
 * <p>Set {@link FabricChannelOption#SECRET} before it is bound. Who comes with another secret is turned away, and
 * disturbs nobody. Channels that were accepted go on when this is closed. {@code AUTO_READ} has no effect: it always
 * accepts.
 */
public final class FabricServerChannel extends AbstractServerChannel {
    private final FabricChannelConfig config = new FabricChannelConfig(this);
    /** Those that were accepted and have not gone; guarded by itself. */
    private final Map<PeerLink, FabricChannel> children = new HashMap<>();
    private IoRegistration registration;
    private volatile PeerServer server;
    private volatile boolean isClosed;
    /** Whether the program knows that this is bound, and may learn of peers; guarded by the children. */
    private boolean admits;
    /** Whether the server's links are closed; guarded by the children. */
    private boolean hasEnded;

    /** A channel that is not bound. */
    public FabricServerChannel() {}

    @Override
    protected AbstractUnsafe newUnsafe() { return new ServerUnsafe(); }

    /** Is registered like any channel, for its thread. */
    private final class ServerUnsafe extends AbstractUnsafe implements FabricIoHandler.Handle {
        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            safeSetFailure(promise, new UnsupportedOperationException("a server channel does not connect"));
        }

        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            throw new UnsupportedOperationException("a fabric has no events of its own");
        }

        @Override
        public boolean needsLoop() { return false; }

        @Override
        public void close() { close(voidPromise()); }
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof IoEventLoop of && of.isCompatible(ServerUnsafe.class);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        ((IoEventLoop) eventLoop()).register((ServerUnsafe) unsafe())
                .addListener((Future<IoRegistration> registered) -> {
                    if (registered.isSuccess()) {
                        registration = registered.getNow();
                        promise.setSuccess();
                    } else {
                        promise.setFailure(registered.cause());
                    }
                });
    }

    @Override
    protected void doBind(SocketAddress address) throws BindException {
        if (!(address instanceof InetSocketAddress at)) {
            throw new IllegalArgumentException(
                    "a FabricServerChannel is bound to an InetSocketAddress, and not to " + address);
        }
        if (server != null) { throw new AlreadyBoundException(); }
        try {
            server = PeerServer.listen(at, config.secret(), this::look);
        } catch (RendezvousException e) {
            throw (BindException) new BindException(e.getMessage()).initCause(e);
        }
        eventLoop().execute(() -> eventLoop().execute(this::admit)); // behind channelActive, whose task comes between
    }

    private void admit() {
        synchronized (children) {
            admits = true;
        }
        look();
    }

    /** Called by the thread of the links, which may wait for nobody. */
    private void look() {
        synchronized (children) {
            if (!admits || hasEnded) { return; }
            server.poll(this::come, this::go);
            endIfUnused();
        }
    }

    /** The links go on behind the end of this, as long as there are some. */
    private void endIfUnused() {
        if (!isClosed || hasEnded || !children.isEmpty() || server == null) { return; }
        hasEnded = true;
        server.close();
    }

    private void come(PeerLink link) {
        if (isClosed) {
            link.refuse("the server is closed");
            return;
        }
        FabricChannel child = new FabricChannel(this, link);
        children.put(link, child);
        eventLoop().execute(() -> {
            pipeline().fireChannelRead(child);
            pipeline().fireChannelReadComplete();
        });
    }

    private void go(PeerLink link) {
        FabricChannel child = children.remove(link);
        if (child != null && child.isRegistered()) { child.tellGone(); }
    }

    /** A channel that was accepted needs its link no more. */
    void forget(PeerLink link) {
        synchronized (children) {
            children.remove(link);
            endIfUnused();
        }
    }

    @Override
    protected void doBeginRead() {
        // It always accepts.
    }

    @Override
    protected void doClose() {
        isClosed = true;
        PeerServer open = server;
        if (open == null) { return; }
        open.stop();
        synchronized (children) {
            endIfUnused();
        }
    }

    @Override
    protected void doDeregister() {
        IoRegistration registered = registration;
        registration = null;
        if (registered != null) { registered.cancel(); }
    }

    @Override
    public ChannelConfig config() { return config; }

    @Override
    public boolean isOpen() { return !isClosed; }

    @Override
    public boolean isActive() { return server != null && !isClosed; }

    @Override
    protected SocketAddress localAddress0() {
        PeerServer open = server;
        return open == null ? null : open.address();
    }
}
