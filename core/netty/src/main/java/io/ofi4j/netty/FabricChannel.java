package io.ofi4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.RendezvousException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A stream of bytes to a channel of another process, or of this one, over the endpoints of their loops. The server's
 * address is one of TCP, through which both sides say where their endpoints are; the bytes go over the fabric.
 * Experimental: this API may change after 0.1.0.
 *
 * <p>It is a {@link DuplexChannel}, and behaves as those of NIO do: what is written and flushed before a close arrives,
 * a peer that reads nothing makes the channel unwritable, and a peer whose process ends without a word, or whose bytes
 * have not all come, ends in an {@link IOException} and a close. It writes {@link ByteBuf}s alone. Long ones of
 * {@link #alloc} are sent from where they are, if the program has no other reference to them, and so are long ones that
 * were read; other bytes are copied. What is read is not copied where it is long, and the program does not keep too
 * much of it.
 *
 * <p>Its options are those of any channel, {@link io.netty.channel.ChannelOption#ALLOW_HALF_CLOSURE}, and
 * {@link FabricChannelOption#SECRET}, without which it does not connect. A connect fails with a
 * {@link ConnectException}: at once if nobody listens, or the server has another secret or cannot reach this side's
 * provider, and after {@code CONNECT_TIMEOUT_MILLIS} if nobody answers.
 */
public final class FabricChannel extends AbstractChannel implements DuplexChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** How long the loop of the other side may take to say that all has come. */
    private static final Duration LINGER = Duration.ofSeconds(10);
    /** What came before the connection has ended: a window, beside what others send. */
    private static final int LAST_POLLS = 16;

    private enum State {
        OPEN, CONNECTING, CONNECTED, CLOSED
    }

    private final FabricChannelConfig config = new FabricChannelConfig(this);
    private final Queue<ByteBuf> unread = new ArrayDeque<>();
    private volatile State state = State.OPEN;
    private volatile boolean isInputShut;
    private volatile boolean isOutputShut;
    private volatile SocketAddress local;
    private volatile SocketAddress remote;
    private final Copier copier = new Copier();
    private IoRegistration registration;
    /** Null until this is registered. */
    private FabricLoop loop;
    /** Where the other side sends to. */
    private Frames.Target target;
    private volatile PeerLink link;
    private LoopPeer peer;
    /** Where this side sends to. */
    private Frames.Target peerTarget;
    private int messageLength;
    /** How many messages this side may send, and may have on their way. */
    private int credits;
    private int maxCredits;
    /** How many messages the other side may send. */
    private int granted = FabricLoop.WINDOW;
    /** The numbers of the next messages of bytes or of an end, to the other side and from it. */
    private int nextSent;
    private int nextReceived;
    /** Messages that were read, and for which the other side has no credit yet. */
    private int consumed;
    private boolean isReading;
    private boolean hasRead;
    /** The other side sends no more bytes: some may be unread. */
    private boolean isEnded;
    /** It has said so itself. */
    private boolean hasFin;
    private boolean owesFin;
    private boolean owesClose;
    private boolean isPeerClosed;
    /** The other side waits to learn that all it has sent is here. */
    private boolean owesAnswer;
    private Thread connecting;
    private ChannelPromise connectPromise;
    /** What releases this where the other side does not answer its close. */
    private Future<?> lingering;

    /** A channel that is not connected. */
    public FabricChannel() { super(null); }

    /** Of a peer that has come to a server. */
    FabricChannel(Channel server, PeerLink link) {
        super(server);
        this.link = link;
        this.local = server.localAddress();
        this.remote = new FabricAddress(link.hello().address());
    }

    @Override
    protected AbstractUnsafe newUnsafe() { return new FabricUnsafe(); }

    /** Connects, and tries again what had no room. */
    private final class FabricUnsafe extends AbstractUnsafe implements FabricIoHandler.Handle {
        @Override
        public void connect(SocketAddress to, SocketAddress from, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) { return; }
            try {
                if (from != null) { throw sourceOfLoop(); }
                begin(to, promise);
                promise.addListener(_ -> {
                    if (promise.isCancelled()) { cancel(promise); }
                });
            } catch (RuntimeException e) {
                safeSetFailure(promise, e);
                closeIfClosed();
            }
        }

        private void cancel(ChannelPromise promise) { if (connectPromise == promise) { close(voidPromise()); } }

        private void flushAgain() { flush0(); }

        private void fulfill(ChannelPromise promise) {
            boolean isSet = promise.trySuccess();
            pipeline().fireChannelActive();
            if (!isSet) { close(voidPromise()); }
        }

        private void fail(ChannelPromise promise, Throwable why) {
            promise.tryFailure(annotateConnectException(why, remote));
            close(voidPromise());
        }

        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            throw new UnsupportedOperationException("a fabric has no events of its own");
        }

        @Override
        public boolean needsLoop() { return true; }

        @Override
        public void close() { close(voidPromise()); }
    }

    private FabricUnsafe own() { return (FabricUnsafe) unsafe(); }

    @Override
    protected boolean isCompatible(EventLoop eventLoop) {
        return eventLoop instanceof IoEventLoop of && of.isCompatible(FabricUnsafe.class);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        ((IoEventLoop) eventLoop()).register(own()).addListener((Future<IoRegistration> registered) -> {
            if (!registered.isSuccess()) {
                promise.setFailure(registered.cause());
                return;
            }
            registration = registered.getNow();
            loop = registration.attachment();
            config.use(loop.allocator());
            try {
                if (link != null) { accept(); }
            } catch (IOException | RuntimeException e) {
                doDeregister();
                promise.setFailure(e);
                return;
            }
            promise.setSuccess();
            if (link != null && link.isGone()) { tellGone(); } // while nobody could tell it
        });
    }

    /** At the server: answers the peer, which waits for it. */
    private void accept() throws IOException {
        target = loop.add(this);
        try {
            meet(link.hello());
        } catch (IOException | RuntimeException e) { // such as an address of another provider
            link.refuse("the server cannot reach this side: " + e.getMessage());
            throw e;
        }
        state = State.CONNECTED;
        link.accept(loop.hello(target));
    }

    /**
     * Takes what the other side has said of itself.
     *
     * @throws IllegalArgumentException if its endpoint is of another provider
     */
    private void meet(PeerHello hello) throws FabricProtocolException {
        Frames.Greeting greeting = Frames.Greeting.decode(hello.data());
        peer = loop.reach(hello.address(), greeting.doorbell());
        peerTarget = greeting.target();
        messageLength = Math.min(greeting.messageLength(), loop.slotLength());
        maxCredits = Math.min(greeting.window(), FabricLoop.WINDOW);
        credits = maxCredits;
    }

    private void begin(SocketAddress to, ChannelPromise promise) {
        if (connectPromise != null) { throw new ConnectionPendingException(); }
        if (state != State.OPEN) { throw new AlreadyConnectedException(); }
        if (!(to instanceof InetSocketAddress server)) {
            throw new IllegalArgumentException("a FabricChannel connects to an InetSocketAddress, and not to " + to);
        }
        String secret = config.secret();
        target = loop.add(this);
        PeerHello mine = loop.hello(target);
        int millis = config.getConnectTimeoutMillis();
        state = State.CONNECTING;
        connectPromise = promise;
        remote = server;
        connecting = Thread.ofVirtual().name("ofi4j-netty-connect").start(() -> {
            try {
                long start = System.nanoTime();
                requireListener(server, millis);
                Duration left = Duration.ofMillis(millis == 0 ? Integer.MAX_VALUE : millis)
                        .minusNanos(System.nanoTime() - start);
                hand(PeerLink.connect(server, secret, mine, left, this::tellGone));
            } catch (Throwable e) { // also an Error: somebody waits for the connect
                tell(() -> failed(e));
            }
        });
    }

    /**
     * A peer link waits for a server that is still starting; who connects a channel wants to know at once.
     *
     * @param millis the longest wait, as Netty's option has it: without an end if it is 0
     */
    private static void requireListener(InetSocketAddress server, int millis) throws IOException {
        try (Socket probe = new Socket()) {
            probe.setSoLinger(true, 0); // or its port stays in use for a minute
            probe.connect(server, millis);
        } catch (SocketTimeoutException e) {
            throw new ConnectTimeoutException("nobody answers within " + millis + " ms");
        }
    }

    private void hand(PeerLink made) {
        try {
            eventLoop().execute(() -> connected(made));
        } catch (RejectedExecutionException e) { // the loop has ended meanwhile
            made.close();
        }
    }

    private void connected(PeerLink made) {
        ChannelPromise promise = connectPromise;
        if (state != State.CONNECTING) {
            made.close();
            return;
        }
        connectPromise = null;
        link = made;
        local = new FabricAddress(loop.hello(target).address());
        try {
            meet(made.hello());
        } catch (IOException | RuntimeException e) {
            own().fail(promise, e);
            return;
        }
        state = State.CONNECTED;
        own().fulfill(promise);
        if (made.isGone()) { tellGone(); } // before there was a connection that could be told
    }

    private void failed(Throwable why) {
        ChannelPromise promise = connectPromise;
        if (state != State.CONNECTING) { return; }
        connectPromise = null;
        Throwable told = why instanceof RendezvousException
                ? (ConnectException) new ConnectException(why.getMessage()).initCause(why)
                : why;
        own().fail(promise, told);
    }

    Frames.Target target() { return target; }

    /** {@return the loop of this channel, or null} */
    FabricLoop loop() { return loop; }

    /** What a message of the other side says; the buffer has its bytes. */
    void received(int kind, int count, ByteBuffer bytes) {
        if (state == State.CLOSED) { // nothing else is of use
            if ((kind == Frames.CLOSE || kind == Frames.GOT_ALL) && !owesClose) { release(); }
            return;
        }
        try {
            understand(kind, count, bytes);
        } catch (FabricProtocolException e) {
            broken(e);
        }
    }

    private void understand(int kind, int count, ByteBuffer bytes) throws FabricProtocolException {
        require(bytes.hasRemaining() == (kind == Frames.DATA), "a message of kind " + kind + " and another's length");
        require(!isPeerClosed, "a message behind its last");
        if (kind != Frames.CREDIT) {
            require(count == nextReceived, "message " + count + " where " + nextReceived
                    + " is next: its provider has lost some, or it does not keep them in order");
            nextReceived = Frames.next(nextReceived);
        }
        switch (kind) {
            case Frames.DATA -> take(bytes);
            case Frames.CREDIT -> {
                require(count > 0 && count <= maxCredits - credits, "credit for what was not sent");
                credits += count;
                retry();
            }
            case Frames.FIN -> {
                require(!hasFin, "two ends");
                hasFin = true;
                end();
            }
            case Frames.CLOSE -> {
                hasFin = true;
                owesAnswer = true;
                sendAnswer();
                peerClosed();
            }
            default -> throw new FabricProtocolException("the other side has sent a message of kind " + kind);
        }
    }

    private static void require(boolean isRight, String wrong) throws FabricProtocolException {
        if (!isRight) { throw new FabricProtocolException("the other side has sent " + wrong); }
    }

    /** They may come before this side knows that it is connected. */
    private void take(ByteBuffer bytes) throws FabricProtocolException {
        require(!hasFin, "bytes behind their end");
        require(granted > 0, "more than it has credit for");
        granted--;
        if (isInputShut) {
            returnCredit();
            return;
        }
        if (wantsMore() && unread.isEmpty()) {
            ByteBuf own = loop.handOut(bytes);
            deliver(own == null ? copy(bytes) : own);
        } else {
            unread.add(copy(bytes));
        }
    }

    private ByteBuf copy(ByteBuffer bytes) {
        return config.getAllocator().ioBuffer(bytes.remaining()).writeBytes(bytes);
    }

    /** One read of the program is for what comes in one poll, if it reads automatically, and for one message if not. */
    private boolean wantsMore() {
        return isReading || hasRead && config.isAutoRead();
    }

    private void deliver(ByteBuf bytes) {
        isReading = false; // whoever reads again meanwhile, reads again
        if (!hasRead) {
            hasRead = true;
            loop.reads(this);
        }
        pipeline().fireChannelRead(bytes);
        returnCredit();
    }

    private void returnCredit() {
        consumed++;
        sendCredit();
    }

    private void sendCredit() {
        if (consumed < FabricLoop.WINDOW / 2 || state != State.CONNECTED || isPeerClosed) { return; }
        if (loop.send(this, peer, peerTarget, Frames.CREDIT, consumed)) {
            granted += consumed;
            consumed = 0;
        }
    }

    /** The program reads automatically no more, and takes back what it has asked for. */
    void autoReadCleared() {
        if (isRegistered()) { inLoop(() -> isReading = false); }
    }

    @Override
    protected void doBeginRead() {
        isReading = true;
        if (!unread.isEmpty() || isEnded) { eventLoop().execute(this::readOn); }
    }

    /** What came while nobody wanted to read. */
    private void readOn() {
        while (wantsMore() && !unread.isEmpty()) {
            deliver(unread.poll());
        }
        readComplete();
    }

    /** A poll has ended. */
    void readComplete() {
        if (hasRead) {
            hasRead = false;
            pipeline().fireChannelReadComplete();
        }
        if (isEnded && unread.isEmpty() && isReading) { shutInput(); }
    }

    /** The other side sends no more, and takes nothing: what was to go fails, and what has come can be read. */
    private void peerClosed() {
        isPeerClosed = true;
        end();
        own().flushAgain();
    }

    /** The other side sends no more. */
    private void end() {
        isEnded = true;
        if (!hasRead) { loop.reads(this); }
    }

    private void shutInput() {
        if (isInputShut || state != State.CONNECTED) { return; }
        isInputShut = true;
        if (!config.allowsHalfClosure()) {
            unsafe().close(voidPromise());
            return;
        }
        pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        if (message instanceof ByteBuf) { return message; }
        throw new UnsupportedOperationException(
                "a FabricChannel writes ByteBuf, and no " + message.getClass().getName() + ": encode it first");
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) throws Exception {
        requireConnected();
        if (isPeerClosed) {
            IOException why = new IOException("the other side has closed the connection");
            if (isInputShut) { throw why; } // which closes the channel
            while (out.current() != null) { // what the other side has sent is read first
                out.remove(why);
            }
            return;
        }
        boolean hasSent = false;
        while (out.current() instanceof ByteBuf first) {
            if (!first.isReadable()) {
                out.remove();
                continue;
            }
            if (credits == 0) { break; }
            int slot = loop.takeSlot(this, peer);
            if (slot < 0) { break; }
            try {
                fill(out, slot);
            } catch (Exception e) { // a buffer that the program has released
                loop.giveBack(slot);
                throw e;
            }
            int length = copier.length();
            if (!loop.send(this, peer, slot, Frames.HEADER + copier.copied(), copier.body, copier.memory,
                    length - copier.copied())) {
                break;
            }
            credits--;
            nextSent = Frames.next(nextSent);
            hasSent = true;
            out.removeBytes(length);
        }
        if (hasSent) { peer.ring(); }
    }

    /** Copies as much of what is flushed to a slot as it takes, up to a body that can stay where it is. */
    private void fill(ChannelOutboundBuffer out, int slot) throws Exception {
        int start = (int) loop.offset(slot);
        Frames.write(loop.memory(slot), start, peerTarget, Frames.DATA, nextSent);
        copier.begin(loop, loop.sending(slot), start + Frames.HEADER, start + messageLength);
        out.forEachFlushedMessage(copier);
    }

    /** Copies buffers behind each other, as long as there is room, and leaves them as they are. */
    private static final class Copier implements ChannelOutboundBuffer.MessageProcessor {
        private FabricLoop loop;
        private ByteBuffer to;
        private int start;
        private int end;
        /** What is sent from where it is, or null. */
        private ByteBuf body;
        private LoopBuffer memory;
        private int bodyLength;

        private void begin(FabricLoop of, ByteBuffer slot, int from, int until) {
            loop = of;
            to = slot;
            start = from;
            end = until;
            body = null;
            memory = null;
            bodyLength = 0;
            to.limit(from).position(from);
        }

        @Override
        public boolean processMessage(Object message) {
            ByteBuf bytes = (ByteBuf) message;
            int length = Math.min(bytes.readableBytes(), end - to.position());
            if (length >= LoopAllocator.SHORTEST && loop.sendsBodies()) {
                memory = LoopBuffer.soleOwned(bytes);
                if (memory != null && loop.has(memory)) {
                    body = bytes;
                    bodyLength = length;
                    return false;
                }
            }
            to.limit(to.position() + length);
            bytes.getBytes(bytes.readerIndex(), to);
            return to.position() < end;
        }

        private int copied() { return to.position() - start; }

        private int length() { return copied() + bodyLength; }
    }

    /** There may be room now, or credit. */
    void retry() {
        if (owesClose) {
            sendClose();
            return;
        }
        if (state != State.CONNECTED) { return; }
        if (owesAnswer) { sendAnswer(); }
        sendCredit();
        own().flushAgain();
        if (owesFin) { sendFin(); }
    }

    /** An operation of this channel has failed, or the other side has lied. */
    void broken(Throwable why) {
        ChannelPromise promise = connectPromise;
        if (promise != null) {
            connectPromise = null;
            own().fail(promise, why);
            return;
        }
        if (state != State.CONNECTED) { return; }
        pipeline().fireExceptionCaught(why);
        unsafe().close(voidPromise());
    }

    /** Called by a thread of {@code ofi4j-job}. */
    void tellGone() { tell(this::gone); }

    private void tell(Runnable task) {
        try {
            eventLoop().execute(task);
        } catch (RejectedExecutionException e) { // the loop has ended, and released this
            return;
        }
    }

    /** The connection has ended: after a word, whose bytes may still come, or without one. */
    private void gone() {
        for (int polls = 0; polls < LAST_POLLS && loop != null && loop.poll() > 0; polls++) {
            continue;
        }
        if (state == State.CLOSED) {
            release();
        } else if (state == State.CONNECTED) {
            if (isPeerClosed) {
                readComplete();
            } else if (link.state() == PeerLink.State.LOST) {
                broken(new IOException("the process of the other side has ended, or cannot be reached"));
            } else {
                broken(new IOException("the other side has ended the connection, and not all it had written came"));
            }
        }
    }

    @Override
    protected void doShutdownOutput() throws ClosedChannelException {
        requireConnected();
        isOutputShut = true;
        owesFin = true;
        sendFin();
    }

    private void requireConnected() throws ClosedChannelException {
        if (state == State.CLOSED) { throw new ClosedChannelException(); }
        if (state != State.CONNECTED) { throw new NotYetConnectedException(); }
    }

    private void sendFin() {
        owesFin = !loop.send(this, peer, peerTarget, Frames.FIN, nextSent);
        if (!owesFin) { nextSent = Frames.next(nextSent); }
    }

    @Override
    protected void doClose() {
        State before = state;
        state = State.CLOSED;
        isInputShut = true;
        isOutputShut = true;
        unread.forEach(ReferenceCountUtil::release);
        unread.clear();
        ChannelPromise promise = connectPromise;
        if (promise != null) {
            connectPromise = null;
            promise.tryFailure(new ClosedChannelException());
        }
        if (connecting != null) { connecting.interrupt(); }
        if (before == State.CONNECTED && !link.isGone()) {
            owesClose = true;
            lingering = eventLoop().schedule(this::release, LINGER.toMillis(), TimeUnit.MILLISECONDS);
            try {
                sendClose();
            } catch (RuntimeException | OutOfMemoryError e) { // there is no memory for it
                release();
                throw e;
            }
        } else {
            release();
        }
    }

    private void sendAnswer() { owesAnswer = !loop.send(this, peer, peerTarget, Frames.GOT_ALL, 0); }

    /** The last message. The other side answers that it has come, or with its own. */
    private void sendClose() {
        owesClose = !loop.send(this, peer, peerTarget, Frames.CLOSE, nextSent);
    }

    /** The other side has answered, or ended. */
    void releaseIfGone() {
        if (link == null || link.isGone()) { release(); }
    }

    /** Nothing more comes, and nothing more has to go. */
    void release() {
        FabricLoop from = loop;
        loop = null;
        owesClose = false;
        if (from != null && target != null) { from.remove(this); }
        if (from != null && peer != null) { from.leave(peer); }
        if (lingering != null) { lingering.cancel(false); }
        if (link != null) { link.close(); }
        if (parent() instanceof FabricServerChannel server) { server.forget(link); }
    }

    @Override
    protected void doDeregister() {
        IoRegistration registered = registration;
        registration = null;
        if (registered != null) { registered.cancel(); }
        if (state == State.CONNECTED) { // another loop has another endpoint
            own().close();
            pipeline().fireChannelInactive(); // Netty says it of channels alone that are registered
        }
    }

    @Override
    protected void doBind(SocketAddress address) { throw sourceOfLoop(); }

    private static UnsupportedOperationException sourceOfLoop() {
        return new UnsupportedOperationException(
                "the source of a FabricChannel is that of its loop: give FabricHints.source to the factory");
    }

    @Override
    protected void doDisconnect() { doClose(); }

    @Override
    protected SocketAddress localAddress0() { return local; }

    @Override
    protected SocketAddress remoteAddress0() { return remote; }

    @Override
    public ChannelConfig config() { return config; }

    @Override
    public boolean isOpen() { return state != State.CLOSED; }

    @Override
    public boolean isActive() { return state == State.CONNECTED; }

    @Override
    public ChannelMetadata metadata() { return METADATA; }

    @Override
    public boolean isInputShutdown() { return isInputShut; }

    @Override
    public boolean isOutputShutdown() { return isOutputShut; }

    @Override
    public boolean isShutdown() { return isInputShut && isOutputShut; }

    @Override
    public ChannelFuture shutdownInput() { return shutdownInput(newPromise()); }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        inLoop(() -> {
            try {
                shutdownInputNow();
                promise.setSuccess();
            } catch (ClosedChannelException | NotYetConnectedException e) {
                promise.setFailure(e);
            }
        });
        return promise;
    }

    private void shutdownInputNow() throws ClosedChannelException {
        requireConnected();
        isInputShut = true;
        unread.forEach(bytes -> {
            bytes.release();
            returnCredit();
        });
        unread.clear();
    }

    @Override
    public ChannelFuture shutdownOutput() { return shutdownOutput(newPromise()); }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        inLoop(() -> own().shutdownOutput(promise));
        return promise;
    }

    @Override
    public ChannelFuture shutdown() { return shutdown(newPromise()); }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        inLoop(() -> {
            try {
                shutdownInputNow();
                own().shutdownOutput(promise);
            } catch (ClosedChannelException | NotYetConnectedException e) {
                promise.setFailure(e);
            }
        });
        return promise;
    }

    private void inLoop(Runnable task) {
        if (eventLoop().inEventLoop()) {
            task.run();
        } else {
            eventLoop().execute(task);
        }
    }
}
