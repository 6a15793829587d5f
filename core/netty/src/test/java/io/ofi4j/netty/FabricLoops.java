package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.Future;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;

/** Loops that end with each test, whose buffers are all released, and what both sides of a channel do. */
abstract class FabricLoops {
    static final String SECRET = Rendezvous.newSecret();
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    static final int LONGEST_WRITE = 200_000;

    static {
        Leaks.watch();
    }

    private final List<EventLoopGroup> groups = new ArrayList<>();

    @AfterAll
    static void everyBufferWasReleased() { assertThat(Leaks.find()).isEmpty(); }

    /** Those whose messages come in order, but for sockets, whose connections may stall in a burst: see its page. */
    static Stream<String> providers() {
        return TestProviders.rma().filter(provider -> !provider.endsWith(";ofi_rxd") && !provider.equals("sockets"));
    }

    /** What a side does, and what it has seen. */
    static class Side extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Void> inactive = new CompletableFuture<>();
        final CompletableFuture<Void> ended = new CompletableFuture<>();
        final CompletableFuture<Throwable> caught = new CompletableFuture<>();
        final CompletableFuture<Channel> active = new CompletableFuture<>();

        @Override
        public void channelActive(ChannelHandlerContext context) { active.complete(context.channel()); }

        @Override
        public void channelInactive(ChannelHandlerContext context) { inactive.complete(null); }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) { ended.complete(null); }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) { caught.complete(cause); }
    }

    /** Sends back what comes. */
    static class Echo extends Side {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) { context.write(message); }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) { context.flush(); }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.channel().config().setAutoRead(context.channel().isWritable());
        }
    }

    /** Compares what comes with the bytes of a seed. */
    static final class Reader extends Side {
        final CompletableFuture<Void> done = new CompletableFuture<>();
        private final Random expected;
        private final long length;
        volatile long came;

        Reader(long seed, long length) {
            this.expected = new Random(seed);
            this.length = length;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            byte[] bytes = new byte[buffer.readableBytes()]; // a detector of leaks looks at each access
            buffer.readBytes(bytes).release();
            for (byte next : bytes) {
                if (next != (byte) expected.nextInt()) {
                    done.completeExceptionally(new AssertionError("byte " + came + " is another"));
                    break;
                }
                came++;
            }
            if (came == length) { done.complete(null); }
        }
    }

    EventLoopGroup group(String provider) { return group(FabricIoHandler.newFactory(TestProviders.hints(provider))); }

    EventLoopGroup group(String provider, Duration spin) {
        return group(FabricIoHandler.newFactory(TestProviders.hints(provider), spin));
    }

    private EventLoopGroup group(IoHandlerFactory factory) {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, factory);
        groups.add(group);
        return group;
    }

    @AfterEach
    void endLoops() throws Exception {
        List<Future<?>> ends = new ArrayList<>();
        groups.forEach(group -> ends.add(group.shutdownGracefully(0, 30, TimeUnit.SECONDS)));
        for (Future<?> end : ends) {
            assertThat(end.await(Pair.DEADLINE.toMillis())).as("the loop ends").isTrue();
        }
    }

    InetSocketAddress serve(EventLoopGroup group, Supplier<ChannelHandler> handlers) throws Exception {
        return (InetSocketAddress) get(server(group, handlers).bind(ANY_PORT)).localAddress();
    }

    static ServerBootstrap server(EventLoopGroup group, Supplier<ChannelHandler> handlers) {
        return new ServerBootstrap().group(group).channel(FabricServerChannel.class)
                .option(FabricChannelOption.SECRET, SECRET).childHandler(new Initializer(handlers));
    }

    /** Each channel has a handler of its own. */
    static final class Initializer extends io.netty.channel.ChannelInitializer<Channel> {
        private final Supplier<ChannelHandler> handlers;

        private Initializer(Supplier<ChannelHandler> handlers) { this.handlers = handlers; }

        @Override
        protected void initChannel(Channel channel) { channel.pipeline().addLast(handlers.get()); }
    }

    static Bootstrap client(EventLoopGroup group, ChannelHandler handler) {
        return new Bootstrap().group(group).channel(FabricChannel.class).option(FabricChannelOption.SECRET, SECRET)
                .handler(handler);
    }

    static Channel get(io.netty.channel.ChannelFuture future) throws Exception {
        if (!future.await(Pair.DEADLINE.toMillis())) { throw new TimeoutException(future + " is not done"); }
        if (!future.isSuccess()) { throw new java.util.concurrent.ExecutionException(future.cause()); }
        return future.channel();
    }

    static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Writes the bytes of a seed, in pieces of any length. */
    static io.netty.channel.ChannelFuture write(Channel channel, long seed, int length) {
        Random bytes = new Random(seed);
        Random lengths = new Random(seed + 1);
        io.netty.channel.ChannelFuture last = channel.newSucceededFuture();
        for (int left = length; left > 0;) {
            int some = Math.min(left, 1 + lengths.nextInt(lengths.nextBoolean() ? 100 : LONGEST_WRITE));
            byte[] next = new byte[some];
            for (int i = 0; i < some; i++) {
                next[i] = (byte) bytes.nextInt();
            }
            ByteBuf buffer = channel.alloc().buffer(some).writeBytes(next);
            last = lengths.nextBoolean() ? channel.write(buffer) : channel.writeAndFlush(buffer);
            left -= some;
        }
        channel.flush();
        return last;
    }
}
