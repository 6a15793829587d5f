package io.ofi4j.examples.guide;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricHints;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.Rendezvous;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A server squares numbers for clients that come and go, over endpoints without connections. One client is killed. */
public final class PeersThatComeAndGo {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final List<String> NAMES = List.of("Ann", "Ben", "Zoe");

    /** What the server knows of a client, which writes its numbers into a slot of the server's memory. */
    private static final class Client {
        private final PeerLink link;
        private final Peer peer;
        private long requests;

        private Client(PeerLink link, Peer peer) {
            this.link = link;
            this.peer = peer;
        }

        private String name() { return new String(link.hello().data(), UTF_8); }
    }

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final AddressVector peers;
    private final MemoryRegion memory;
    private final Map<String, Process> processes = new HashMap<>();
    private final Map<PeerLink, Integer> slots = new HashMap<>();
    private final Client[] clients = new Client[NAMES.size()];

    private PeersThatComeAndGo(Endpoint endpoint, CompletionQueue queue, AddressVector peers, MemoryRegion memory) {
        this.endpoint = endpoint;
        this.queue = queue;
        this.peers = peers;
        this.memory = memory;
    }

    public static void main(String[] arguments) throws IOException {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider("shm");
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion memory = domain.allocate(4096, Access.WRITE, Access.REMOTE_WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            PeersThatComeAndGo side = new PeersThatComeAndGo(endpoint, queue, peers, memory);
            if (arguments.length == 0) {
                side.serve();
            } else {
                side.ask(arguments[0], Integer.parseInt(arguments[1]), arguments[2]);
            }
        }
    }

    private void serve() throws IOException {
        String secret = Rendezvous.newSecret();
        InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (PeerServer server = PeerServer.listen(here, secret, queue::signal)) {
            for (String name : NAMES) {
                processes.put(name, start(name, Integer.toString(server.address().getPort()), secret));
            }
            while (!processes.isEmpty()) {
                queue.await(this::answer, 16, SOON); // one wait for what completes, comes and goes
                server.poll(this::welcome, this::sayGoodbye);
            }
        }
    }

    private void welcome(PeerLink link) {
        int slot = Arrays.asList(clients).indexOf(null);
        clients[slot] = new Client(link, peers.insert(link.hello().address()));
        slots.put(link, slot);
        link.accept(PeerHello.of(endpoint, memory.remote().slice(slot * 8, 8)).withData((byte) slot));
    }

    private void answer(long token, long flags, long length, long data) {
        if (token != CompletionHandler.NO_TOKEN || clients[(int) data] == null) { return; }
        Client client = clients[(int) data]; // who has written into this slot
        client.requests++;
        if (client.name().equals("Zoe")) {
            processes.get("Zoe").destroyForcibly(); // as kill -9 does
            return;
        }
        long number = memory.segment().get(JAVA_LONG, data * 8);
        memory.segment().set(JAVA_LONG, data * 8, number * number);
        endpoint.rma().injectWrite(memory.slice(data * 8, 8), client.peer, client.link.hello().regions().getFirst());
    }

    private void sayGoodbye(PeerLink link) {
        int slot = slots.remove(link);
        Client client = clients[slot];
        System.out.println(client.name()
                + (link.state() == PeerLink.State.LEFT ? " has left after " : " was lost after ") + client.requests);
        peers.remove(client.peer);
        clients[slot] = null; // for the next one
        processes.remove(client.name());
    }

    private void ask(String name, int port, String secret) {
        InetSocketAddress there = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        PeerHello mine = PeerHello.of(endpoint, memory.remote().slice(8, 8)).withData(name.getBytes(UTF_8));
        try (PeerLink server = PeerLink.connect(there, secret, mine, SOON, queue::signal)) {
            Peer peer = peers.insert(server.hello().address());
            int slot = server.hello().data()[0];
            for (long number = 2; number <= 101; number++) {
                memory.segment().set(JAVA_LONG, 0, number);
                endpoint.rma().writeData(memory.slice(0, 8), slot, peer, server.hello().regions().getFirst(), number);
                long square = number * number;
                Waiting.YIELD.until(() -> {
                    queue.poll((token, flags, length, data) -> {}, 16);
                    return memory.getLongAcquire(8) == square || server.isGone();
                }, SOON);
                if (server.isGone()) { throw new IllegalStateException("the server has gone"); }
            }
        }
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow(), "-p",
                System.getProperty("jdk.module.path"), "--enable-native-access=io.ofi4j,io.ofi4j.bindings", "-m",
                "io.ofi4j.examples/" + PeersThatComeAndGo.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).inheritIO().start();
    }
}
