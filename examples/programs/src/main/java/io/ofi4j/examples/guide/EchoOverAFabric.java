package io.ofi4j.examples.guide;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.netty.FabricChannel;
import io.ofi4j.netty.FabricChannelOption;
import io.ofi4j.netty.FabricIoHandler;
import io.ofi4j.netty.FabricServerChannel;

/** A server of Netty sends back what comes, over shared memory. Client and server have an event loop each. */
public final class EchoOverAFabric {
    private EchoOverAFabric() {}

    /** Each channel of the server has one. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) { context.writeAndFlush(message); }
    }

    /** The client's. */
    private static final class PrintAndClose extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            System.out.println("the server says: " + message.toString(UTF_8));
            context.close();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        String secret = Rendezvous.newSecret(); // both sides need the same
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2,
                FabricIoHandler.newFactory(FabricHints.messages().provider("shm")));
        try {
            Channel server = new ServerBootstrap().group(group).channel(FabricServerChannel.class)
                    .option(FabricChannelOption.SECRET, secret).childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) { channel.pipeline().addLast(new Echo()); }
                    }).bind("127.0.0.1", 0).sync().channel();
            Channel client = new Bootstrap().group(group).channel(FabricChannel.class)
                    .option(FabricChannelOption.SECRET, secret).handler(new PrintAndClose())
                    .connect(server.localAddress()).sync().channel();
            client.writeAndFlush(Unpooled.copiedBuffer("hello", UTF_8));
            client.closeFuture().sync();
        } finally {
            group.shutdownGracefully().sync();
        }
    }
}
