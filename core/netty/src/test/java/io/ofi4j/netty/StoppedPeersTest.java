package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Processes that stop to poll, or end, while they have unread messages. */
class StoppedPeersTest extends FabricLoops {
    private static final int PEERS = 6;
    private static final int LENGTH = 1 << 20;

    /** Its loop ends never again what it begins. */
    static final class Stopped {
        private Stopped() {}

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                    FabricIoHandler.newFactory(TestProviders.hints(arguments[0])));
            new Bootstrap().group(group).channel(FabricChannel.class).option(FabricChannelOption.SECRET, arguments[1])
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
                            TimeUnit.DAYS.sleep(1);
                        }
                    }).connect(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[2]));
            TimeUnit.DAYS.sleep(1);
        }
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void doNotHoldThoseOfTheSameLoop(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        List<Side> sides = new ArrayList<>();
        Queue<Side> handlers = new ArrayDeque<>();
        for (int i = 0; i < PEERS; i++) {
            sides.add(new Side());
        }
        handlers.addAll(sides);
        handlers.add(new Echo());
        handlers.add(new Echo());
        InetSocketAddress address = serve(group, handlers::remove);
        List<Forked.Running> processes = new ArrayList<>();
        for (Side side : sides) {
            processes.add(Forked.start(Stopped.class, provider, SECRET, Integer.toString(address.getPort())));
            write(get(side.active), 1, LENGTH);
        }
        echo(provider, address);

        processes.forEach(running -> running.process().destroyForcibly());
        for (Side side : sides) {
            get(side.inactive);
        }
        echo(provider, address);
    }

    private void echo(String provider, InetSocketAddress address) throws Exception {
        Reader reader = new Reader(2, LENGTH);
        Channel channel = get(client(group(provider), reader).connect(address));
        write(channel, 2, LENGTH);
        get(reader.done);
        assertThat(reader.caught).isNotDone();
    }
}
