package io.ofi4j.hostile;

import io.ofi4j.job.Rendezvous;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A rendezvous among strangers who are silent, send garbage, halves of greetings and false lengths, or end their
 * connections: its members publish and await values beside them, each of which is the one that was published.
 */
final class HostileStrangers {
    private static final byte[] GREETING = "OFIMEET\1".getBytes(StandardCharsets.ISO_8859_1);
    private static final int RANDOM = 32;
    private static final int STEPS = 100;
    private static final int STRANGERS = 64;
    private static final int MEMBERS = 3;
    private static final int FLOOD = 1 << 16;

    private final HostileRun run;
    private final Random random;
    private final String secret = Rendezvous.newSecret();
    private final List<Socket> strangers = new ArrayList<>();
    private final List<Rendezvous> members = new ArrayList<>();
    private final List<byte[]> published = new ArrayList<>();

    HostileStrangers(HostileRun run, Random random) {
        this.run = run;
        this.random = random;
    }

    void round() throws IOException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Rendezvous server = Rendezvous.serve(anyPort, secret)) {
            members.add(server);
            for (int step = 0; step < STEPS; step++) {
                step(server);
            }
            exchange();
            for (Rendezvous member : members.subList(1, members.size())) {
                member.close();
            }
            run.tried("rounds of strangers");
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    private void step(Rendezvous server) throws IOException {
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
            case 3 -> {
                if (!strangers.isEmpty()) { strangers.remove(random.nextInt(strangers.size())).close(); }
            }
            case 4 -> {
                if (!strangers.isEmpty()) { send(strangers.get(random.nextInt(strangers.size()))); }
            }
            default -> {
                if (strangers.size() < STRANGERS) {
                    Socket stranger = new Socket(server.address().getAddress(), server.address().getPort());
                    strangers.add(stranger);
                    if (random.nextBoolean()) { send(stranger); }
                    if (random.nextInt(4) == 0) { stranger.shutdownOutput(); }
                    run.tried("strangers");
                }
            }
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

    /** Whatever a stranger may: the server closes the connection, or waits. */
    private void send(Socket stranger) {
        byte[] greeting = ByteBuffer.allocate(GREETING.length + RANDOM).put(GREETING).put(bytes(RANDOM)).array();
        int length = switch (random.nextInt(6)) {
            case 0 -> Integer.MIN_VALUE;
            case 1 -> Integer.MAX_VALUE;
            case 2 -> 1 << 16;
            case 3 -> 0;
            default -> random.nextInt();
        };
        byte[] bytes = switch (random.nextInt(5)) {
            case 0 -> bytes(1 + random.nextInt(200));
            case 1 -> Arrays.copyOf(greeting, random.nextInt(greeting.length));
            case 2 -> bytes(FLOOD);
            case 3 -> ByteBuffer.allocate(greeting.length + Integer.BYTES).put(greeting).putInt(length).array();
            default -> ByteBuffer.allocate(greeting.length + Integer.BYTES + 100).put(greeting)
                    .putInt(random.nextBoolean() ? 100 : length).put(bytes(100)).array();
        };
        try {
            stranger.getOutputStream().write(bytes);
            run.tried("lies to a rendezvous");
        } catch (IOException e) { // closed by the server, as it should be
            run.tried("connections that the server had closed");
        }
    }
}
