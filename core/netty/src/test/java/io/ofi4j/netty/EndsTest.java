package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.DuplexChannel;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How a connection ends where one of its sides, or its loop, does not do its part. */
@Tag("gate")
class EndsTest extends FabricLoops {
    private static final int MUCH = 10 << 20;
    private static final int LONG = 60_000;
    private static final int WRITES = 20;
    private static final int SHORT_MILLIS = 200;

    /** Its loop does something else for longer than the other side waits for an answer. */
    private static final class Busy extends FabricLoops.Side {
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int came;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
            if (came == 0) { TimeUnit.MILLISECONDS.sleep(2500); }
            came += ((ByteBuf) message).readableBytes();
            ((ByteBuf) message).release();
            if (came == WRITES * LONG) { done.complete(null); }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void whatWasWrittenBeforeItsLoopEndsComesToABusyPeer(String provider) throws Exception {
        Busy busy = new Busy();
        InetSocketAddress address = serve(group(provider), () -> busy);
        EventLoopGroup group = group(provider);
        Channel client = get(client(group, new Side()).connect(address));
        ChannelFuture last = null;
        for (int i = 0; i < WRITES; i++) {
            last = client.writeAndFlush(client.alloc().buffer(LONG).writeZero(LONG));
        }
        get(last);
        get(client.close());

        assertThat(group.shutdownGracefully(0, 30, TimeUnit.SECONDS).await(Pair.DEADLINE.toMillis())).isTrue();

        get(busy.done);
        get(busy.inactive);
        assertThat(busy.caught).isNotDone();
    }

    @ParameterizedTest
    @MethodSource("providers")
    void aPeerThatLeavesWithoutItsLastMessageHasNotEndedInOrder(String provider) throws Exception {
        Reader reader = new Reader(1, MUCH);
        InetSocketAddress address = serve(group(provider), () -> reader);

        try (RawPeer peer = new RawPeer(provider)) {
            peer.connect(address);
            peer.await(reader.active);
        }

        assertThat(get(reader.caught)).isInstanceOf(IOException.class).hasMessageContaining("not all");
        get(reader.inactive);
    }

    /** The server reads no more, as it cannot write, and cannot write, as the client reads nothing. */
    @ParameterizedTest
    @MethodSource("providers")
    void aPeerThatClosesWhileBothSidesAreFullIsNoticed(String provider) throws Exception {
        Echo echo = new Echo();
        InetSocketAddress address = serve(group(provider), () -> echo);
        Channel client = get(
                client(group(provider), new Side()).option(ChannelOption.AUTO_READ, false).connect(address));
        write(client, 1, MUCH);
        Channel server = get(echo.active);
        long begin = System.nanoTime();
        while (server.isWritable() && System.nanoTime() - begin < Pair.DEADLINE.toNanos()) {
            TimeUnit.MILLISECONDS.sleep(1);
        }

        get(client.close());

        get(echo.inactive);
    }

    @ParameterizedTest
    @MethodSource("providers")
    void aPeersCloseFailsWritesBehindAShutdownOfTheInput(String provider) throws Exception {
        Side side = new Side();
        InetSocketAddress address = serve(group(provider), () -> side);
        Channel client = get(
                client(group(provider), new Side()).option(ChannelOption.AUTO_READ, false).connect(address));
        DuplexChannel server = (DuplexChannel) get(side.active);
        get(server.shutdownInput());
        ChannelFuture last = write(server, 1, MUCH);

        get(client.close());

        assertThat(last.await(Pair.DEADLINE.toMillis())).isTrue();
        assertThat(last.isSuccess()).isFalse();
        get(side.inactive);
    }

    @ParameterizedTest
    @MethodSource("providers")
    void aBufferThatTheProgramKeepsCanBeChangedBehindItsWrite(String provider) throws Exception {
        AtomicInteger others = new AtomicInteger();
        CompletableFuture<Void> all = new CompletableFuture<>();
        InetSocketAddress address = serve(group(provider), () -> new Side() {
            private int came;

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                ByteBuf bytes = (ByteBuf) message;
                came += bytes.readableBytes();
                while (bytes.isReadable()) {
                    others.addAndGet(bytes.readByte() == 'A' ? 0 : 1);
                }
                bytes.release();
                if (came == WRITES * LONG) { all.complete(null); }
            }
        });
        Channel client = get(client(group(provider), new Side()).connect(address));
        get(submit(client, () -> {
            for (int i = 0; i < WRITES; i++) {
                ByteBuf kept = client.alloc().buffer(LONG);
                fill(kept, 'A');
                client.writeAndFlush(Unpooled.unreleasableBuffer(kept.duplicate().writerIndex(LONG))).addListener(_ -> {
                    fill(kept, 'B');
                    kept.release();
                });
            }
        }));

        get(all);

        assertThat(others).hasValue(0);
    }

    private static void fill(ByteBuf buffer, char value) {
        buffer.clear();
        while (buffer.writerIndex() < LONG) {
            buffer.writeByte(value);
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void channelsOfALoopThatFailsLearnOfItAndOthersGetAnother(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        EventLoopGroup group = group(provider);
        Side side = new Side();
        Channel client = get(client(group, side).connect(address));

        get(submit(client, () -> ((FabricChannel) client).loop().close()));

        assertThat(get(side.caught)).isInstanceOf(IOException.class).hasMessageContaining("has failed");
        get(side.inactive);
        Reader reader = new Reader(2, LONG);
        write(get(client(group, reader).connect(address)), 2, LONG);
        get(reader.done);
    }

    @ParameterizedTest
    @MethodSource("providers")
    void whoReadsNoMoreAutomaticallyGetsNothing(String provider) throws Exception {
        Side side = new Side();
        InetSocketAddress address = serve(group(provider), () -> side);
        Reader reader = new Reader(3, LONG);
        Channel client = get(client(group(provider), reader).connect(address));
        get(submit(client, () -> client.config().setAutoRead(false)));

        get(write(get(side.active), 3, LONG));
        TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);

        assertThat(reader.came).isZero();
        get(submit(client, () -> client.config().setAutoRead(true)));
        get(reader.done);
    }

    @ParameterizedTest
    @MethodSource("providers")
    void aChannelThatLeavesItsLoopIsClosed(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        Side side = new Side();
        Channel client = get(client(group(provider), side).connect(address));

        get(client.deregister());

        get(side.inactive);
        assertThat(client.closeFuture().await(Pair.DEADLINE.toMillis())).isTrue();
    }

    private static CompletableFuture<Void> submit(Channel channel, Runnable task) {
        return CompletableFuture.runAsync(task, channel.eventLoop());
    }
}
