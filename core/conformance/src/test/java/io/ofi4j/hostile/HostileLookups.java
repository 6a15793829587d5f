package io.ofi4j.hostile;

import io.ofi4j.AddressVector;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.InsertResult;
import io.ofi4j.Libfabric;
import io.ofi4j.Peer;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Names, numbers and bytes that are no addresses, inserted alone and together into vectors of every kind. */
final class HostileLookups {
    private static final List<String> NODES = List.of("127.0.0.1", "127.0.0.254", "255.255.255.254", "0.0.0.0", "::1",
            "fe80::1", "localhost", "no.such.host.invalid", "1", "127.0.0", "224.0.0.1", "%", ":", "-", "a:b");
    private static final List<String> SERVICES = List.of("1", "80", "65535", "65530", "0", "70000", "http", "-1", "x",
            "1024", "99999999999");
    private static final int CALLS = 30;

    private HostileLookups() {}

    static void run(HostileRun run) {
        Random random = run.random();
        FabricInfo info = TestProviders.info(run.provider);
        try (Fabric fabric = Libfabric.load().openFabric(info); Domain domain = fabric.openDomain()) {
            while (run.goesOn()) {
                run.attempt("a vector's life", () -> live(run, random, domain));
            }
        }
    }

    private static void live(HostileRun run, Random random, Domain domain) {
        AddressVectorAttributes attributes = AddressVectorAttributes.defaults().count(1 + random.nextInt(100));
        try (AddressVector vector = domain.openAddressVector(attributes)) {
            List<Peer> peers = new ArrayList<>();
            for (int call = 0; call < CALLS && run.goesOn(); call++) {
                step(run, random, vector, peers);
            }
        }
    }

    private static void step(HostileRun run, Random random, AddressVector vector, List<Peer> peers) {
        String node = NODES.get(random.nextInt(NODES.size()));
        String service = SERVICES.get(random.nextInt(SERVICES.size()));
        switch (random.nextInt(6)) {
            case 0 -> run.attempt("insertService", () -> peers.add(vector.insertService(node, service)));
            case 1, 2 -> run.attempt("insertSymmetric",
                    () -> vector.insertSymmetric(node, 1 + random.nextInt(5), service, 1 + random.nextInt(8)).stream()
                            .filter(InsertResult::succeeded).forEach(result -> peers.add(result.peer())));
            case 3 -> run.attempt("insert of any bytes", () -> peers.add(vector.insert(address(random))));
            case 4 -> run.attempt("text of any bytes", () -> vector.toText(address(random)));
            default -> {
                if (!peers.isEmpty()) {
                    Peer peer = peers.get(random.nextInt(peers.size()));
                    run.attempt("address of a peer", () -> vector.address(peer));
                    if (random.nextBoolean()) { run.attempt("remove", () -> vector.remove(peer)); }
                }
            }
        }
        if (random.nextInt(4) == 0) {
            run.attempt("insertAll of any bytes",
                    () -> vector.insertAll(List.of(address(random), address(random), address(random)))
                            .forEach(InsertResult::toString));
        }
    }

    private static EndpointAddress address(Random random) {
        byte[] bytes = new byte[random.nextInt(3) == 0 ? 16 : 1 + random.nextInt(200)];
        random.nextBytes(bytes);
        if (random.nextBoolean()) {
            byte[] prefix = (random.nextBoolean() ? "fi_shm://" : "fi_ns://").getBytes();
            System.arraycopy(prefix, 0, bytes, 0, Math.min(prefix.length, bytes.length));
        } else if (bytes.length >= 2) {
            bytes[0] = (byte) (random.nextBoolean() ? 2 : 10);
            bytes[1] = 0;
        }
        return EndpointAddress.of(bytes,
                random.nextInt(4) == 0 ? AddressFormat.of(random.nextInt(20)) : AddressFormat.UNSPECIFIED);
    }
}
