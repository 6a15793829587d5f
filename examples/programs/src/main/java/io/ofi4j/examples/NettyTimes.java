package io.ofi4j.examples;

import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.ofi4j.info.FabricHints;
import io.ofi4j.netty.FabricChannel;
import io.ofi4j.netty.FabricChannelOption;
import io.ofi4j.netty.FabricIoHandler;
import io.ofi4j.netty.FabricServerChannel;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * How long messages of a program of Netty take to another process and back, and what processor time both take for each:
 * over NIO, or over a fabric, with loops that sleep or that never do. {@code scripts/bench --netty} runs it.
 */
public final class NettyTimes {
    private static final String NIO = "nio";
    private static final String SPINNING = "spinning";
    private static final int[] SIZES = {64, 64 << 10, 1 << 20};
    private static final int[] ROUNDS = {40_000, 10_000, 1_000};
    /** How many messages are on their way when bytes are counted, not time. */
    private static final int[] DEPTHS = {64, 16, 4};
    /** How long one size may take, on a machine where others are at work. */
    private static final Duration LONGEST = Duration.ofMillis(1500);
    private static final double NANOS_OF_MICRO = 1e3;
    private static final double NANOS_OF_SECOND = 1e9;
    private static final double MEBIBYTE = 1 << 20;
    private static final double MEDIAN = 0.5;
    private static final double LAST_OF_HUNDRED = 0.99;

    private NettyTimes() {}

    /** What both sides are made of. */
    private record Transport(IoHandlerFactory loops, Class<? extends ServerChannel> server,
            Class<? extends Channel> client, boolean isFabric) {
        static Transport of(String name, String waiting) {
            boolean spins = waiting.equals(SPINNING);
            if (!name.equals(NIO)) {
                FabricHints hints = FabricHints.messages().provider(name);
                return new Transport(
                        spins
                                ? FabricIoHandler.newFactory(hints, ChronoUnit.FOREVER.getDuration())
                                : FabricIoHandler.newFactory(hints),
                        FabricServerChannel.class, FabricChannel.class, true);
            }
            SelectStrategyFactory always = () -> (now, _) -> now.get();
            return new Transport(
                    spins ? NioIoHandler.newFactory(SelectorProvider.provider(), always) : NioIoHandler.newFactory(),
                    NioServerSocketChannel.class, NioSocketChannel.class, false);
        }

        <B extends AbstractBootstrap<B, ?>> B withSecret(B bootstrap, String secret) {
            return isFabric ? bootstrap.option(FabricChannelOption.SECRET, secret) : bootstrap;
        }
    }

    /**
     * Runs a side. The server prints its port, and ends behind its client, which prints a line for each size.
     *
     * @param arguments nio or a provider; spinning or blocking; the secret; and for a client what the server has
     *        printed: its port, and the number of its process
     */
    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length != 3 && arguments.length != 4) {
            System.err.println("usage: NettyTimes nio|PROVIDER spinning|blocking SECRET [PORT:PROCESS]");
            System.exit(2);
        }
        Transport transport = Transport.of(arguments[0], arguments[1]);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, transport.loops);
        try {
            if (arguments.length == 3) {
                serve(transport, group, arguments[2]);
            } else {
                String[] server = arguments[3].split(":");
                Client client = new Client(ProcessHandle.of(Long.parseLong(server[1])).orElseThrow());
                transport.withSecret(new Bootstrap(), arguments[2]).group(group).channel(transport.client)
                        .handler(client).connect("127.0.0.1", Integer.parseInt(server[0])).sync();
                client.measure(arguments[0] + " " + arguments[1]);
            }
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    private static void serve(Transport transport, EventLoopGroup group, String secret) throws InterruptedException {
        CountDownLatch served = new CountDownLatch(1);
        Channel server = transport.withSecret(new ServerBootstrap(), secret).group(group).channel(transport.server)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) { channel.pipeline().addLast(new Echo(served)); }
                }).bind("127.0.0.1", 0).sync().channel();
        System.out.println(((InetSocketAddress) server.localAddress()).getPort() + ":" + ProcessHandle.current().pid());
        served.await();
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        private final CountDownLatch served;

        Echo(CountDownLatch served) { this.served = served; }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) { context.flush(); }

        @Override
        public void channelInactive(ChannelHandlerContext context) { served.countDown(); }
    }

    /** Sends as many messages at once as it is told, and another for each that has come back. */
    private static final class Client extends ChannelInboundHandlerAdapter {
        private final ProcessHandle server;
        private final CompletableFuture<ChannelHandlerContext> active = new CompletableFuture<>();
        private CompletableFuture<Void> done = new CompletableFuture<>();
        private int size;
        private int left;
        private int unsent;
        private int missing;
        private int came;
        private long sentAt;
        private long end;
        private long[] times = {};

        Client(ProcessHandle server) { this.server = server; }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.channel().config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK,
                    new WriteBufferWaterMark(Integer.MAX_VALUE / 2, Integer.MAX_VALUE));
            active.complete(context);
        }

        private void send(ChannelHandlerContext context) {
            unsent--;
            context.write(context.alloc().directBuffer(size, size).writerIndex(size), context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            missing -= bytes.readableBytes();
            bytes.release();
            while (missing <= 0 && left > 0) {
                long now = System.nanoTime();
                times[came++] = now - sentAt;
                sentAt = now;
                left--;
                missing += size;
                if (unsent > 0 && now - end < 0) {
                    send(context);
                } else if (unsent > 0) { // the time is over, and what is on its way still comes
                    left -= unsent;
                    unsent = 0;
                }
            }
            if (left == 0) { done.complete(null); }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) { context.flush(); }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }

        /** {@return how long each message took, or came after the one before it, in nanoseconds, in order} */
        private long[] run(int length, int rounds, int depth) {
            ChannelHandlerContext context = active.join();
            context.executor().execute(() -> {
                done = new CompletableFuture<>();
                size = length;
                left = rounds;
                unsent = rounds;
                missing = length;
                times = new long[rounds];
                came = 0;
                sentAt = System.nanoTime();
                end = sentAt + LONGEST.toNanos();
                for (int i = 0; i < depth; i++) {
                    send(context);
                }
                context.flush();
            });
            CompletableFuture.supplyAsync(() -> done, context.executor()).thenCompose(all -> all).join();
            long[] all = Arrays.copyOf(times, came);
            Arrays.sort(all);
            return all;
        }

        /** Half of the rounds come before, and are not measured. */
        private void measure(String name) {
            for (int i = 0; i < SIZES.length; i++) {
                run(SIZES[i], ROUNDS[i] / 2, 1);
                run(SIZES[i], ROUNDS[i] / 2, DEPTHS[i]);
                long used = processorNanos();
                long[] alone = run(SIZES[i], ROUNDS[i], 1);
                used = processorNanos() - used;
                long start = System.nanoTime();
                int messages = run(SIZES[i], ROUNDS[i], DEPTHS[i]).length;
                double seconds = (System.nanoTime() - start) / NANOS_OF_SECOND;
                System.out.printf(Locale.ROOT, "%s %d: %.1f %.1f %.0f %.1f%n", name, SIZES[i],
                        at(alone, MEDIAN) / NANOS_OF_MICRO, at(alone, LAST_OF_HUNDRED) / NANOS_OF_MICRO,
                        messages * (SIZES[i] / MEBIBYTE) / seconds, used / NANOS_OF_MICRO / alone.length);
            }
        }

        private static double at(long[] sorted, double part) { return sorted[(int) (sorted.length * part)]; }

        /** Of both processes; the kernel counts in steps of 10 ms. */
        private long processorNanos() {
            return cpu(server) + cpu(ProcessHandle.current());
        }

        private static long cpu(ProcessHandle process) {
            return process.info().totalCpuDuration().map(Duration::toNanos).orElseThrow();
        }
    }
}
