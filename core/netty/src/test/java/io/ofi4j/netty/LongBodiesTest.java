package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.ofi4j.support.Pair;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that are sent from where they are, and read where they have come. */
class LongBodiesTest extends FabricLoops {
    private static final int LONG = 16_000; // in one message over any provider
    private static final int MANY = 400; // more than a loop has slots for

    /** Keeps what comes, until so many bytes have come. */
    private static final class Keeper extends Side {
        final List<ByteBuf> kept = new ArrayList<>();
        final CompletableFuture<Void> first = new CompletableFuture<>();
        final CompletableFuture<Void> done = new CompletableFuture<>();
        private long left;

        Keeper(long length) { this.left = length; }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            kept.add((ByteBuf) message);
            first.complete(null);
            left -= ((ByteBuf) message).readableBytes();
            if (left == 0) { done.complete(null); }
        }
    }

    /** Allocated by the loop's thread, which registers the memory. */
    private static ByteBuf filled(Channel channel, int length, long seed) throws Exception {
        byte[] bytes = new byte[length];
        Random random = new Random(seed);
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) random.nextInt();
        }
        return channel.eventLoop().submit(() -> channel.alloc().directBuffer(length).writeBytes(bytes)).get();
    }

    private static void requireBytes(List<ByteBuf> buffers, long seed) {
        Random expected = new Random(seed);
        for (ByteBuf buffer : buffers) {
            byte[] bytes = new byte[buffer.readableBytes()];
            buffer.getBytes(buffer.readerIndex(), bytes);
            for (byte next : bytes) {
                assertThat(next).isEqualTo((byte) expected.nextInt());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void buffersOutliveTheirLoops(String provider) throws Exception {
        Keeper keeper = new Keeper(LONG);
        InetSocketAddress address = serve(group(provider), () -> keeper);
        Channel channel = get(client(group(provider), new Side()).connect(address));
        ByteBuf unsent = filled(channel, LONG, 2);
        channel.writeAndFlush(filled(channel, LONG, 1));
        get(keeper.done);

        endLoops();

        requireBytes(keeper.kept, 1);
        requireBytes(List.of(unsent), 2);
        assertThat(LoopBuffer.soleOwned(keeper.kept.getFirst())).as("it was not copied").isNotNull();
        keeper.kept.forEach(ByteBuf::release);
        unsent.release();
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aProgramThatKeepsAllBuffersHoldsNobody(String provider) throws Exception {
        Keeper keeper = new Keeper((long) MANY * LONG);
        EventLoopGroup group = group(provider);
        InetSocketAddress address = serve(group, () -> keeper);
        Channel channel = get(client(group(provider), new Side()).connect(address));
        for (int i = 0; i < MANY; i++) {
            channel.writeAndFlush(filled(channel, LONG, i));
        }
        get(keeper.done);

        Reader reader = new Reader(1, MANY * LONG);
        write(get(client(group(provider), reader).connect(serve(group, Echo::new))), 1, MANY * LONG);
        get(reader.done);

        for (int i = 0; i < MANY; i++) {
            requireBytes(List.of(keeper.kept.get(i)), i);
        }
        keeper.kept.forEach(ByteBuf::release); // by another thread than the loop's
        Reader again = new Reader(2, MANY * LONG);
        write(get(client(group(provider), again).connect(serve(group, Echo::new))), 2, MANY * LONG);
        get(again.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void whatTheProgramKeepsItMayChangeOnceItIsWritten(String provider) throws Exception {
        Keeper keeper = new Keeper(1 + LONG);
        EventLoopGroup group = group(provider);
        InetSocketAddress address = serve(group, () -> keeper);
        Channel channel = get(client(group(provider), new Side()).connect(address));
        channel.writeAndFlush(filled(channel, 1, 2));
        get(keeper.first); // now both endpoints know each other
        ByteBuf bytes = filled(channel, LONG, 1);
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch asleep = new CountDownLatch(1);
        group.execute(() -> { // the bytes cannot be taken before this has ended
            asleep.countDown();
            await(written);
        });
        await(asleep);

        get(channel.writeAndFlush(bytes.retainedSlice()));
        bytes.setZero(0, LONG);
        written.countDown();

        get(keeper.done);
        requireBytes(keeper.kept.subList(1, keeper.kept.size()), 1);
        keeper.kept.forEach(ByteBuf::release);
        bytes.release();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aBufferThatHasGrownIsSentWhole(String provider) throws Exception {
        Keeper keeper = new Keeper(3 * LONG);
        InetSocketAddress address = serve(group(provider), () -> keeper);
        Channel channel = get(client(group(provider), new Side()).connect(address));
        ByteBuf bytes = filled(channel, LONG, 1);
        ByteBuf more = filled(channel, 3 * LONG, 1).skipBytes(LONG);

        channel.writeAndFlush(bytes.writeBytes(more));
        more.release();

        get(keeper.done);
        requireBytes(keeper.kept, 1);
        keeper.kept.forEach(ByteBuf::release);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void anAllocatorOfTheProgramIsUsed(String provider) throws Exception {
        Reader reader = new Reader(1, LONG);
        InetSocketAddress address = serve(group(provider), Echo::new);
        Channel channel = get(client(group(provider), reader)
                .option(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT).connect(address));

        assertThat(channel.alloc()).isSameAs(UnpooledByteBufAllocator.DEFAULT);
        channel.writeAndFlush(filled(channel, LONG, 1));

        get(reader.done);
    }
}
