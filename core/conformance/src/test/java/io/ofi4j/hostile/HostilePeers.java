package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.job.RendezvousException;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A server of peers among strangers: peers come and go beside them, or are refused, and the server's program is told of
 * each that it accepted, once when it comes and once when it goes, with what the peer said.
 */
final class HostilePeers {
    private static final String MAGIC = "OFIPEER\1";
    private static final int STEPS = 100;
    private static final int PEERS = 8;
    private static final Duration LOOK = Duration.ofMillis(100);

    private final HostileRun run;
    private final Random random;
    private final String secret = Rendezvous.newSecret();
    private final List<PeerLink> peers = new ArrayList<>();
    /** What the server's program was told of, by the data of the hello, which is a number. */
    private final Set<Integer> there = ConcurrentHashMap.newKeySet();
    private int number;
    private volatile boolean isOver;

    HostilePeers(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
    }

    void round() throws IOException, InterruptedException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (PeerServer server = PeerServer.listen(anyPort, secret);
                HostileSockets strangers = new HostileSockets(run, random, server.address(), MAGIC)) {
            Thread program = run.start("server of peers", () -> serve(server));
            for (int step = 0; step < STEPS; step++) {
                step(server, strangers);
            }
            peers.forEach(PeerLink::close);
            Waiting.BACKOFF.until(there::isEmpty, Pair.DEADLINE); // all are told to have gone
            isOver = true;
            run.join(List.of(program));
            run.tried("rounds of peers");
        }
    }

    /** The server's program, which accepts numbers that cannot be divided by four. */
    private void serve(PeerServer server) {
        while (!isOver) {
            server.await(this::come, this::go, LOOK);
        }
    }

    private void come(PeerLink link) {
        int came = number(link);
        if (!link.hello().equals(hello(came))) { run.fail(new AssertionError(came + " has said something else")); }
        if (came % 4 == 0) {
            link.refuse("it is " + came);
            return;
        }
        if (!there.add(came)) { run.fail(new AssertionError(came + " has come twice")); }
        link.accept(hello(-came));
    }

    private void go(PeerLink link) {
        if (!there.remove(number(link))) { run.fail(new AssertionError(number(link) + " has gone twice")); }
    }

    private static int number(PeerLink link) { return Integer.parseInt(new String(link.hello().data())); }

    /** With regions and bytes that depend on the number. */
    private static PeerHello hello(int number) {
        int port = 1 + Math.floorMod(number, 60_000);
        List<RemoteRegion> regions = new ArrayList<>();
        for (int i = 0; i < port % 20; i++) {
            regions.add(new RemoteRegion(4096L * port, i + 1, port, Access.REMOTE_WRITE.bit()));
        }
        return new PeerHello(EndpointAddress.of(new InetSocketAddress("127.0.0.1", port)), regions,
                Integer.toString(number).getBytes());
    }

    private void step(PeerServer server, HostileSockets strangers) throws IOException {
        switch (random.nextInt(6)) {
            case 0 -> {
                if (peers.size() < PEERS) { connect(server, ++number); }
            }
            case 1 -> {
                if (!peers.isEmpty()) { peers.remove(random.nextInt(peers.size())).close(); }
            }
            default -> strangers.step();
        }
    }

    private void connect(PeerServer server, int mine) {
        try {
            PeerLink link = PeerLink.connect(server.address(), secret, hello(mine), Pair.DEADLINE);
            peers.add(link);
            if (mine % 4 == 0 || !link.hello().equals(hello(-mine))) {
                throw new AssertionError(mine + " is told something else");
            }
            run.tried("peers");
        } catch (RendezvousException e) {
            if (mine % 4 != 0 || !e.getMessage().contains("it is " + mine)) { throw e; }
            run.tried("peers that are refused");
        }
    }
}
