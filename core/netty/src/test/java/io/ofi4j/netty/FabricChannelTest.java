package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.DuplexChannel;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Channels of one process, whose loops are two sides of a fabric. */
class FabricChannelTest extends FabricLoops {
    private static final int LONG = 5 << 20;
    private static final int TASKS = 3_000;

    @ParameterizedTest
    @MethodSource("providers")
    void bytesComeBackWholeAndInOrder(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        Reader reader = new Reader(1, LONG);
        Channel channel = get(client(group(provider), reader).connect(address));

        write(channel, 1, LONG);

        get(reader.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void sidesOfOneLoopReachEachOther(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        InetSocketAddress address = serve(group, Echo::new);
        Reader reader = new Reader(2, LONG);
        Channel channel = get(client(group, reader).connect(address));

        write(channel, 2, LONG);

        get(reader.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void whatWasWrittenBeforeACloseArrives(String provider) throws Exception {
        Reader reader = new Reader(3, LONG);
        InetSocketAddress address = serve(group(provider), () -> reader);
        Side side = new Side();
        Channel channel = get(client(group(provider), side).connect(address));

        write(channel, 3, LONG).addListener(ChannelFutureListener.CLOSE);

        get(reader.done);
        get(reader.inactive);
        get(side.inactive);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aSideThatReadsNothingHoldsTheOther(String provider) throws Exception {
        Reader reader = new Reader(4, LONG);
        EventLoopGroup group = group(provider);
        InetSocketAddress address = (InetSocketAddress) get(
                server(group, () -> reader).childOption(ChannelOption.AUTO_READ, false).bind(ANY_PORT)).localAddress();
        Channel channel = get(client(group(provider), new Side()).connect(address));

        ChannelFuture written = write(channel, 4, LONG);

        assertThat(written.await(100)).as("all is written while nobody reads").isFalse();
        assertThat(channel.isWritable()).isFalse();
        assertThat(reader.came).isZero();
        get(reader.active).config().setAutoRead(true);
        get(written);
        get(reader.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aSideThatWritesNoMoreStillReads(String provider) throws Exception {
        Reader atServer = new Reader(5, LONG);
        InetSocketAddress address = (InetSocketAddress) get(server(group(provider), () -> atServer)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true).bind(ANY_PORT)).localAddress();
        Reader atClient = new Reader(6, LONG);
        Channel channel = get(client(group(provider), atClient).connect(address));

        get(write(channel, 5, LONG));
        get(((DuplexChannel) channel).shutdownOutput());
        get(atServer.done);
        get(atServer.ended);

        write(get(atServer.active), 6, LONG).addListener(ChannelFutureListener.CLOSE);
        get(atClient.done);
        get(atClient.inactive);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void manyComeAndGo(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        InetSocketAddress address = serve(group(provider), Echo::new);
        for (int round = 0; round < 5; round++) {
            List<Reader> readers = new ArrayList<>();
            List<ChannelFuture> connects = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Reader reader = new Reader(i, 100);
                readers.add(reader);
                connects.add(client(group, reader).connect(address));
            }
            for (int i = 0; i < connects.size(); i++) {
                write(get(connects.get(i)), i, 100);
            }
            for (Reader reader : readers) {
                get(reader.done);
                get(get(reader.active).close());
            }
        }
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aServerThatClosesKeepsItsChannels(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        Channel server = get(server(group, Echo::new).bind(ANY_PORT));
        Reader reader = new Reader(7, LONG);
        Channel channel = get(client(group(provider), reader).connect(server.localAddress()));

        get(server.close());
        write(channel, 7, LONG);

        get(reader.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void connectsThatFailSayWhy(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        InetSocketAddress address = serve(group, Echo::new);
        InetSocketAddress nobody;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = (InetSocketAddress) free.getLocalSocketAddress();
        }

        assertThatThrownBy(() -> get(client(group, new Side()).connect(nobody))).cause()
                .isInstanceOf(ConnectException.class).hasMessageContaining("refused");
        assertThatThrownBy(() -> get(
                client(group, new Side()).option(FabricChannelOption.SECRET, Rendezvous.newSecret()).connect(address)))
                .cause().isInstanceOf(ConnectException.class).hasMessageContaining("secret");
        assertThatThrownBy(() -> get(
                new Bootstrap().group(group).channel(FabricChannel.class).handler(new Side()).connect(address))).cause()
                .isInstanceOf(IllegalStateException.class).hasMessageContaining("FabricChannelOption.SECRET");
        assertThatThrownBy(() -> get(server(group, Echo::new).bind(address))).cause()
                .isInstanceOf(java.net.BindException.class).hasMessageContaining("in use");
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aSideThatIsKilledIsToldToTheOther(String provider) throws Exception {
        Side side = new Side();
        InetSocketAddress address = serve(group(provider), () -> side);
        Forked.Running process = Forked.start(Idle.class, provider, SECRET, Integer.toString(address.getPort()));
        get(side.active);

        process.process().destroyForcibly();

        assertThat(get(side.caught)).hasMessageContaining("has ended");
        get(side.inactive);
    }

    /** Connects, and does nothing more. */
    static final class Idle {
        private Idle() {}

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                    FabricIoHandler.newFactory(TestProviders.hints(arguments[0])));
            Channel channel = get(new Bootstrap().group(group).channel(FabricChannel.class)
                    .option(FabricChannelOption.SECRET, arguments[1]).handler(new Side())
                    .connect(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[2])));
            channel.closeFuture().await(Pair.DEADLINE.toMillis());
        }
    }

    @Tag("gate")
    @ParameterizedTest
    @CsvSource({"shm, tcp;ofi_rxm", "tcp;ofi_rxm, shm"})
    void sidesOfTwoProvidersAreToldSo(String atServer, String atClient) throws Exception {
        InetSocketAddress address = serve(group(atServer), Echo::new);

        assertThatThrownBy(() -> get(client(group(atClient), new Side()).connect(address))).cause()
                .isInstanceOf(ConnectException.class).hasMessageContaining("cannot reach");
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aBufferThatWasReleasedLeavesRoomForOthers(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        EventLoopGroup group = group(provider);
        Channel first = get(client(group, new Side()).connect(address));
        FabricLoop loop = ((FabricChannel) first).loop();
        int free = group.submit(loop::freeSlots).get();
        for (int channels = 0; channels < 5; channels++) {
            Channel channel = get(client(group, new Side()).connect(address));
            ByteBuf released = channel.alloc().buffer(8).writeLong(1);
            channel.eventLoop().submit(() -> {
                channel.write(released);
                released.release();
                channel.flush();
            }).await(Pair.DEADLINE.toMillis());
            get(channel.close());
        }
        long begin = System.nanoTime();
        while (group.submit(loop::freeSlots).get() < free && System.nanoTime() - begin < Pair.DEADLINE.toNanos()) {
            TimeUnit.MILLISECONDS.sleep(1); // those of the last messages come back when the other side has them
        }
        assertThat(group.submit(loop::freeSlots).get()).isGreaterThanOrEqualTo(free);
        Reader reader = new Reader(8, LONG);
        write(get(client(group, reader).connect(address)), 8, LONG);
        get(reader.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void timersRunWhileNothingComes(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        serve(group, Echo::new);
        CompletableFuture<Long> ran = new CompletableFuture<>();
        long start = System.nanoTime();
        group.schedule(() -> ran.complete(System.nanoTime() - start), 3, TimeUnit.MILLISECONDS);

        assertThat(get(ran)).isBetween(3_000_000L, Patience.seconds(1).toNanos());
    }

    static Stream<Arguments> spins() {
        return providers().flatMap(provider -> Stream.of(Duration.ZERO, ChronoUnit.FOREVER.getDuration())
                .map(spin -> Arguments.of(provider, spin)));
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("spins")
    void loopsThatSleepAtOnceOrNeverCarryBytes(String provider, Duration spin) throws Exception {
        InetSocketAddress address = serve(group(provider, spin), Echo::new);
        Reader reader = new Reader(9, LONG);

        write(get(client(group(provider, spin), reader).connect(address)), 9, LONG);

        get(reader.done);
    }

    static Stream<Arguments> shortAndLongSpins() {
        return providers().flatMap(
                provider -> Stream.of(Duration.ZERO, Duration.ofNanos(50_000), ChronoUnit.FOREVER.getDuration())
                        .map(spin -> Arguments.of(provider, spin)));
    }

    @ParameterizedTest
    @MethodSource("shortAndLongSpins")
    void tasksOfOtherThreadsEndPollsAndSleeps(String provider, Duration spin) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        Channel channel = get(client(group(provider, spin), new Side()).connect(address));

        for (int i = 0; i < TASKS; i++) {
            for (int wait = 0; wait < i; wait++) {
                Thread.onSpinWait(); // one after the other while it polls, begins to sleep, or sleeps
            }
            assertThat(channel.eventLoop().submit(() -> {}).await(Pair.DEADLINE.toMillis())).as("task " + i).isTrue();
        }
    }

    @Test
    void aLoopCannotPollForLessThanNothing() {
        assertThatThrownBy(() -> FabricIoHandler.newFactory(TestProviders.hints("shm"), Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("cannot poll");
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aTaskThatInterruptsItsThreadEndsNothing(String provider) throws Exception {
        InetSocketAddress address = serve(group(provider), Echo::new);
        Reader reader = new Reader(10, LONG);
        Channel channel = get(client(group(provider), reader).connect(address));

        channel.eventLoop().submit(() -> Thread.currentThread().interrupt()).await(Pair.DEADLINE.toMillis());
        write(channel, 10, LONG);

        get(reader.done);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aPeerThatClosesEndsTheInputOfAHalf(String provider) throws Exception {
        Side atServer = new Side();
        InetSocketAddress address = serve(group(provider), () -> atServer);
        Side atClient = new Side();
        Channel channel = get(
                client(group(provider), atClient).option(ChannelOption.ALLOW_HALF_CLOSURE, true).connect(address));

        get(get(atServer.active).close());
        get(atClient.ended);

        assertThat(channel.isActive()).isTrue();
        assertThatThrownBy(() -> get(channel.writeAndFlush(channel.alloc().buffer(1).writeByte(1)))).cause()
                .isInstanceOf(IOException.class).hasMessageContaining("has closed");
        get(atClient.inactive);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void halvesOfWhatIsNotConnectedAreNotShut(String provider) throws Exception {
        DuplexChannel channel = (DuplexChannel) get(client(group(provider), new Side()).register());

        assertThatThrownBy(() -> get(channel.shutdownInput())).hasCauseInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(() -> get(channel.shutdownOutput())).hasCauseInstanceOf(NotYetConnectedException.class);
        assertThatThrownBy(() -> get(channel.shutdown())).hasCauseInstanceOf(NotYetConnectedException.class);
        get(channel.close());
        assertThatThrownBy(() -> get(channel.shutdown())).hasCauseInstanceOf(ClosedChannelException.class);
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aConnectCanBeCanceled(String provider) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ChannelFuture connect = client(group(provider), new Side()).connect(silent.getLocalSocketAddress());

            assertThat(connect.cancel(true)).isTrue();

            get(connect.channel().closeFuture());
        }
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void aSourceOfItsOwnIsRefused(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        InetSocketAddress address = serve(group, Echo::new);

        assertThatThrownBy(() -> get(client(group, new Side()).connect(address, ANY_PORT))).cause()
                .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("FabricHints.source");
    }

    @Test
    void aConnectionIsAlwaysKeptAlive() { // clients of gRPC ask for it
        FabricChannel channel = new FabricChannel();

        assertThat(channel.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
        assertThat(channel.config().setOption(ChannelOption.SO_KEEPALIVE, true)).isTrue();
        assertThat(channel.config().setOption(ChannelOption.SO_KEEPALIVE, false)).isFalse();
        assertThat(channel.config().getOptions()).containsEntry(ChannelOption.SO_KEEPALIVE, true);
    }
}
