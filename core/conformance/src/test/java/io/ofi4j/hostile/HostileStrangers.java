package io.ofi4j.hostile;

import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A rendezvous among strangers: its members publish and await values beside them, each of which is the one that was
 * published.
 */
final class HostileStrangers {
    private static final String MAGIC = "OFIMEET\1";
    private static final int STEPS = 100;
    private static final int MEMBERS = 3;

    private final HostileRun run;
    private final Random random;
    private final String secret = Rendezvous.newSecret();
    private final List<Rendezvous> members = new ArrayList<>();
    private final List<byte[]> published = new ArrayList<>();

    HostileStrangers(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
    }

    void round() throws IOException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Rendezvous server = Rendezvous.serve(anyPort, secret);
                HostileSockets strangers = new HostileSockets(run, random, server.address(), MAGIC)) {
            members.add(server);
            for (int step = 0; step < STEPS; step++) {
                step(server, strangers);
            }
            exchange();
            for (Rendezvous member : members.subList(1, members.size())) {
                member.close();
            }
            run.tried("rounds of strangers");
        }
    }

    private void step(Rendezvous server, HostileSockets strangers) throws IOException {
        switch (random.nextInt(10)) {
            case 0 -> {
                if (members.size() < MEMBERS) {
                    members.add(Rendezvous.join(server.address(), secret, Pair.DEADLINE));
                    run.tried("members");
                }
            }
            case 1 -> {
                if (members.size() > 1) { members.remove(1 + random.nextInt(members.size() - 1)).close(); }
            }
            case 2 -> exchange();
            default -> strangers.step();
        }
    }

    /** One member publishes a value, and each awaits one. */
    private void exchange() {
        byte[] value = bytes(random.nextInt(4) == 0 ? Rendezvous.MAX_VALUE_LENGTH : random.nextInt(1000));
        any(members).publish("value " + published.size(), value);
        published.add(value);
        for (Rendezvous member : members) {
            int number = random.nextInt(published.size());
            if (!Arrays.equals(member.await("value " + number, Pair.DEADLINE), published.get(number))) {
                throw new AssertionError("value " + number + " is another");
            }
        }
        run.tried("values");
    }

    private Rendezvous any(List<Rendezvous> some) { return some.get(random.nextInt(some.size())); }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
