package io.ofi4j.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.support.Pair;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a peer does that has the secret ends its own connection, and disturbs no other. */
@Tag("once")
class HostilePeerTest extends FabricLoops {
    private static final int LONG = 100_000;
    private static final byte[] ONE = {1};

    /** What no side of ofi4j-netty sends. */
    private enum Lie {
        CREDIT_FOR_NOTHING("credit") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, Frames.CREDIT, 1); }
        },
        NO_CREDIT("credit") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, Frames.CREDIT, 0); }
        },
        ALL_CREDIT("credit") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, Frames.CREDIT, (1 << 24) - 1); }
        },
        CREDIT_WITH_BYTES("length") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, Frames.CREDIT, 1, ONE); }
        },
        MORE_THAN_IT_MAY("more than it has credit for") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) {
                for (int i = 0; i <= FabricLoop.WINDOW; i++) {
                    liar.send(to, Frames.DATA, i, ONE);
                }
            }
        },
        A_GAP("message 1 where 0 is next") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, Frames.DATA, 1, ONE); }
        },
        A_GAP_BEFORE_THE_LAST("message 2 where 1 is next") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) {
                liar.send(to, Frames.DATA, 0, ONE);
                liar.send(to, Frames.CLOSE, 2);
            }
        },
        NOTHING("length") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, Frames.DATA, 0); }
        },
        BYTES_BEHIND_THE_END("behind their end") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) {
                liar.send(to, Frames.FIN, 0);
                liar.send(to, Frames.DATA, 1, ONE);
            }
        },
        TWO_ENDS("two ends") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) {
                liar.send(to, Frames.FIN, 0);
                liar.send(to, Frames.FIN, 1);
            }
        },
        TWO_CLOSES("behind its last") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) {
                liar.send(to, Frames.CLOSE, 0);
                liar.send(to, Frames.CLOSE, 0);
            }
        },
        ANOTHER_KIND("kind 77") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, 77, 0); }
        },
        KIND_OF_ZERO("kind 0") {
            @Override
            void tell(RawPeer liar, RawPeer.Joined to) { liar.send(to, 0, 0); }
        };

        private final String reason;

        Lie(String reason) { this.reason = reason; }

        abstract void tell(RawPeer liar, RawPeer.Joined to);
    }

    static Stream<Arguments> lies() {
        return providers().flatMap(provider -> Stream.of(Lie.values()).map(lie -> Arguments.of(provider, lie)));
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("lies")
    void aLieEndsTheConnectionOfTheLiarAlone(String provider, Lie lie) throws Exception {
        EventLoopGroup group = group(provider);
        Reader reader = new Reader(1, LONG);
        Channel honest = get(client(group(provider), reader).connect(serve(group, Echo::new)));
        Side atServer = new Side();
        InetSocketAddress address = (InetSocketAddress) get(
                server(group, () -> atServer).childOption(ChannelOption.AUTO_READ, false).bind(ANY_PORT))
                .localAddress();
        try (RawPeer liar = new RawPeer(provider)) {
            lie.tell(liar, liar.connect(address));

            assertThat(liar.await(atServer.caught)).isInstanceOf(FabricProtocolException.class)
                    .hasMessageContaining(lie.reason);
            liar.await(atServer.inactive);
        }
        write(honest, 1, LONG);
        get(reader.done);
    }

    @ParameterizedTest
    @MethodSource("providers")
    void aMessageToAConnectionOfOthersIsDropped(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        Queue<Reader> handlers = new ArrayDeque<>();
        Reader atHonest = new Reader(1, LONG);
        Reader atLiar = new Reader(2, 1);
        handlers.add(atHonest);
        handlers.add(atLiar);
        InetSocketAddress address = serve(group, handlers::remove);
        Channel honest = get(client(group(provider), new Side()).connect(address));
        FabricLoop loop = ((FabricChannel) get(atHonest.active)).loop();
        try (RawPeer liar = new RawPeer(provider)) {
            RawPeer.Joined own = liar.connect(address);
            Frames.Target others = new Frames.Target(((FabricChannel) get(atHonest.active)).target().channel(),
                    own.target().key());
            for (int kind : new int[]{Frames.DATA, Frames.CREDIT, Frames.FIN, Frames.CLOSE}) {
                liar.send(own.peer(), others, kind, 0, ONE);
            }
            liar.sendBytes(own.peer(), Frames.HEADER - 1);
            liar.send(own, Frames.DATA, 0, ONE); // and when this has come, so have those before it

            liar.await(CompletableFuture.anyOf(atLiar.done.handle((_, _) -> null), atLiar.caught));
        }
        assertThat(group.submit(loop::strays).get()).isEqualTo(5);
        write(honest, 1, LONG);
        get(atHonest.done);
        assertThat(atHonest.caught).isNotDone();
    }

    @Tag("gate")
    @ParameterizedTest
    @MethodSource("providers")
    void bytesThatComeBeforeTheConnectIsDoneAreRead(String provider) throws Exception {
        EventLoopGroup group = group(provider);
        Side first = new Side();
        Reader second = new Reader(3, 1);
        try (RawPeer raw = new RawPeer(provider); PeerServer server = raw.listen()) {
            PeerLink[] links = new PeerLink[2];
            client(group, first).connect(server.address());
            server.await(link -> links[0] = link, _ -> {}, Pair.DEADLINE);
            RawPeer.Joined open = raw.meet(links[0].hello());
            links[0].accept(raw.hello());
            raw.await(first.active);
            client(group, second).connect(server.address());
            server.await(link -> links[1] = link, _ -> {}, Pair.DEADLINE);
            RawPeer.Joined connecting = raw.meet(links[1].hello());

            raw.send(connecting, Frames.DATA, 0, (byte) new Random(3).nextInt());
            raw.send(open, 77, 0);
            raw.await(first.caught); // so that the bytes have come
            links[1].accept(raw.hello());

            raw.await(second.done.handle((_, failure) -> failure));
        }
    }
}
