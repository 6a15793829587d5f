package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A peer server and its client in two network namespaces, as on two hosts, whose cable is cut. */
@Tag("long")
class PeerLinkNetworkTest {
    private static final int PORT = 7471;
    private static final String SECRET = Rendezvous.newSecret();
    private static final Duration DEADLINE = Patience.seconds(90);

    private static PeerHello hello() {
        return new PeerHello(EndpointAddress.of(new InetSocketAddress("127.0.0.1", 1)), List.of(), new byte[0]);
    }

    @Test
    void bothSidesAreToldThatTheOtherCannotBeReached() {
        assumeTrue(Boolean.getBoolean("ofi4j.test.network"),
                "it takes root and iproute2: -Dofi4j.test.network=true asks for it");
        String obstacle = TwoNetworks.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle);
        try (TwoNetworks networks = new TwoNetworks()) {
            Forked.Running server = Forked.startBehind(networks.inNear(), Server.class, SECRET);
            Forked.Running client = Forked.startBehind(networks.inFar(), Client.class, SECRET);
            server.awaitLine("accepted");
            client.awaitLine("connected");
            FaultPeer.run(List.of("ip", "-n", networks.far(), "link", "set", "cable", "down"));

            assertThat(server.await().output()).contains("the client is LOST");
            assertThat(client.await().output()).contains("the server is LOST");
        }
    }

    private static String after(long start) {
        return " after " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms";
    }

    static final class Server {
        private Server() {}

        public static void main(String[] arguments) {
            try (PeerServer server = PeerServer.listen(new InetSocketAddress(PORT), arguments[0])) {
                server.await(link -> link.accept(hello()), link -> {}, DEADLINE);
                System.out.println("accepted");
                long start = System.nanoTime();
                server.await(link -> {}, link -> System.out.println("the client is " + link.state() + after(start)),
                        DEADLINE);
            }
        }
    }

    static final class Client {
        private Client() {}

        public static void main(String[] arguments) throws InterruptedException {
            CountDownLatch gone = new CountDownLatch(1);
            InetSocketAddress server = new InetSocketAddress(TwoNetworks.NEAR, PORT);
            try (PeerLink link = PeerLink.connect(server, arguments[0], hello(), DEADLINE, gone::countDown)) {
                System.out.println("connected");
                long start = System.nanoTime();
                gone.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
                System.out.println("the server is " + link.state() + after(start));
            }
        }
    }
}
