package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Endpoints of one process, in one domain or several, send each other messages of 1 byte to 64 KiB that nobody
 * receives, and are closed in any order, with polls between the closes or without. Every token comes back once.
 */
final class HostileUntaken {
    private static final String SM2 = "sm2";
    private static final int LONGEST = 64 << 10;
    /** Over ofi_rxm a longer one in flight keeps its domain: see LongSendAtCloseTest. */
    private static final int LONGEST_OVER_RXM = 8 << 10;
    private static final int LONGEST_OF_ONE_PACKET = 1 << 10;
    private static final List<Integer> LENGTHS = List.of(1, 8, 64, 65, 192, 193, 1024, 4096, 4097, 8192, 16_384, 16_385,
            LONGEST);
    private static final int STEPS = 80;
    /** Over sm2 a close may take a second: see core/guide/providers/sm2-lnx.md. */
    private static final int MAX_ROUNDS_OVER_SM2 = 10;
    private static final int POLLS = 50;

    private final HostileRun run;
    private final Random random;
    private final HostileTokens tokens;
    private final List<Integer> lengths;
    private final List<Side> sides = new ArrayList<>();

    /** An endpoint, and how it knows the others. */
    private record Side(Domain domain, CompletionQueue queue, Endpoint endpoint, MemoryRegion region,
            List<Peer> peers) {}

    private HostileUntaken(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
        this.tokens = new HostileTokens(run);
        int longest = ProviderFault.ARRIVALS_MIXED.isOf(run.provider)
                ? LONGEST_OF_ONE_PACKET
                : run.provider.endsWith(";ofi_rxm") ? LONGEST_OVER_RXM : LONGEST;
        this.lengths = LENGTHS.stream().filter(length -> length <= longest).toList();
    }

    /** {@return the providers that it runs over: those of the tests, and sm2 where this libfabric has it} */
    static Stream<String> providers() {
        boolean hasSm2 = Libfabric.load().providers().contains(SM2);
        return Stream.concat(TestProviders.rma(), hasSm2 ? Stream.of(SM2) : Stream.of()).distinct();
    }

    static void run(HostileRun run) {
        Random random = run.random();
        while (run.goesOn() && !(run.provider.equals(SM2) && run.count("rounds") == MAX_ROUNDS_OVER_SM2)) {
            new HostileUntaken(run, random).round();
            run.tried("rounds");
        }
    }

    private void round() {
        FabricHints hints = run.provider.equals(SM2)
                ? FabricHints.any().provider(SM2)
                : TestProviders.hints(run.provider);
        List<AutoCloseable> parents = new ArrayList<>();
        Fabric fabric = Libfabric.load()
                .openFabric(TestProviders.info(hints.capabilities(Capability.MSG, Capability.TAGGED)));
        parents.addFirst(fabric);
        int domains = 1 + random.nextInt(2);
        int endpoints = 2 + random.nextInt(3);
        for (int i = 0; i < domains; i++) {
            open(fabric, parents, i == 0 ? endpoints : 1);
        }
        for (int step = 0; step < STEPS; step++) {
            step();
        }
        closeInAnyOrder();
        tokens.requireAll(sides.stream().map(Side::queue).distinct().toArray(CompletionQueue[]::new));
        for (AutoCloseable parent : parents) {
            run.attempt("close", parent::close);
        }
    }

    /** Opens a domain with so many endpoints, which know all that are open, and are known to them. */
    private void open(Fabric fabric, List<AutoCloseable> parents, int endpoints) {
        Domain domain = fabric.openDomain();
        CompletionQueue queue = domain.openCompletionQueue();
        AddressVector vector = domain.openAddressVector();
        MemoryRegion region = domain.allocate(LONGEST, Access.SEND, Access.RECEIVE);
        parents.addAll(0, List.of(region, vector, queue, domain));
        List<Side> before = List.copyOf(sides);
        List<Peer> peers = new ArrayList<>();
        for (Side side : before) {
            peers.add(vector.insert(side.endpoint.address()));
        }
        for (int i = 0; i < endpoints; i++) {
            Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable();
            peers.add(vector.insert(endpoint.address()));
            sides.add(new Side(domain, queue, endpoint, region, peers));
        }
    }

    private void step() {
        Side side = sides.get(random.nextInt(sides.size()));
        int length = lengths.get(random.nextInt(lengths.size()));
        switch (random.nextInt(8)) {
            case 0 -> run.attempt("receives",
                    () -> tokens.post(token -> side.endpoint.messages().tryReceive(side.region, 0, LONGEST, token)));
            case 1 -> run.attempt("receives of tags", () -> tokens
                    .post(token -> side.endpoint.tagged().tryReceive(side.region, 0, LONGEST, 1, 0, token)));
            case 2 -> poll();
            case 3, 4 -> {
                Peer peer = side.peers.get(random.nextInt(side.peers.size()));
                run.attempt("sends of tags", () -> tokens
                        .post(token -> side.endpoint.tagged().trySend(side.region, 0, length, peer, 1, token)));
            }
            default -> {
                Peer peer = side.peers.get(random.nextInt(side.peers.size()));
                run.attempt("sends", () -> tokens
                        .post(token -> side.endpoint.messages().trySend(side.region, 0, length, peer, token)));
            }
        }
    }

    private void poll() {
        for (int i = random.nextInt(POLLS); i > 0; i--) {
            sides.forEach(side -> run.attempt("polls", () -> side.queue.poll(tokens, 16)));
        }
    }

    private void closeInAnyOrder() {
        List<Side> order = new ArrayList<>(sides);
        Collections.shuffle(order, random);
        for (Side side : order) {
            run.attempt("closes", side.endpoint::close);
            if (random.nextBoolean()) { poll(); }
        }
    }
}
