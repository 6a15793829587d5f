package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.FabricException;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.NoProviderException;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.LongStream;

/** Sends messages that nobody receives, and closes both ends; in one process, or in one for each end. */
public final class UntakenMessages implements AutoCloseable {
    static final String NO_PROVIDER = "there is no such provider";

    private static final long[] LENGTHS = {1, 2_000, 65_536};
    private static final int ROOM = 65_536;
    private static final int MESSAGES = 10;
    private static final Duration ARRIVAL = Duration.ofMillis(50);
    private static final Duration SENDER_DEADLINE = Patience.seconds(100);

    private final Fabric fabric;
    private final Domain domain;
    private final MemoryRegion region;
    private final CompletionQueue queue;
    private final CompletionQueue farQueue;
    private final AddressVector vector;
    private final AddressVector farVector;
    private final CompletionHandler drop = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Nobody asks.
        }

        @Override
        public void onError(CompletionError error) {
            // Long sends end when their endpoint is closed.
        }
    };

    private UntakenMessages(FabricInfo info) {
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        region = domain.allocate(ROOM, Access.SEND, Access.RECEIVE);
        queue = domain.openCompletionQueue();
        farQueue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        farVector = domain.openAddressVector();
    }

    /**
     * A provider and {@code close}, for all orders of closes in this process; {@code at}, to hold messages of another
     * process; or {@code to} and an address, to send them.
     */
    public static void main(String[] arguments) throws IOException {
        FabricInfo info;
        try {
            info = TestProviders.info(hints(arguments[0]).capabilities(Capability.MSG, Capability.TAGGED));
        } catch (NoProviderException e) {
            System.out.println("address " + NO_PROVIDER);
            return;
        }
        switch (arguments[1]) {
            case "at" -> holdMessages(info);
            case "to" -> sendTo(arguments[2], info);
            default -> closeInEveryOrder(info);
        }
        System.out.println("closed");
    }

    private static FabricHints hints(String provider) {
        return provider.equals("sm2") ? FabricHints.any().provider(provider) : TestProviders.hints(provider);
    }

    private static long[] lengths(FabricInfo info) {
        return LongStream.of(LENGTHS).filter(length -> length <= info.endpoint().maximumMessageSize()).toArray();
    }

    private static void closeInEveryOrder(FabricInfo info) {
        for (long length : lengths(info)) {
            for (String first : List.of("the sender", "the receiver", "one of two that have sent")) {
                System.out.println(length + " bytes, " + first + " is closed first");
                try (UntakenMessages one = new UntakenMessages(info)) {
                    one.sendAndClose(first, length);
                }
            }
        }
    }

    private void sendAndClose(String first, long length) {
        Endpoint near = domain.openEndpoint().bind(queue).bind(vector).enable();
        Endpoint far = domain.openEndpoint().bind(farQueue).bind(farVector).enable();
        send(near, vector.insert(far.address()), length);
        if (first.startsWith("one")) { send(far, farVector.insert(near.address()), length); }
        pollFor(ARRIVAL);
        List<Endpoint> closes = first.equals("the receiver") ? List.of(far, near) : List.of(near, far);
        closes.forEach(Endpoint::close);
        poll();
    }

    /** Prints its address, and closes its endpoint when it is told to. */
    private static void holdMessages(FabricInfo info) {
        try (UntakenMessages one = new UntakenMessages(info)) {
            Endpoint far = one.domain.openEndpoint().bind(one.farQueue).bind(one.farVector).enable();
            System.out.println(
                    "address " + HexFormat.of().formatHex(far.address().toBytes()) + " " + far.address().format());
            Waiting.YIELD.until(() -> {
                one.pollFor(ARRIVAL);
                return isToldToEnd();
            }, SENDER_DEADLINE);
            far.close();
        }
    }

    private static boolean isToldToEnd() {
        try {
            return System.in.available() > 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends, and then closes. */
    private static void sendTo(String address, FabricInfo info) {
        String[] parts = address.split(" ");
        try (UntakenMessages one = new UntakenMessages(info)) {
            Endpoint near = one.domain.openEndpoint().bind(one.queue).bind(one.vector).enable();
            Peer peer = one.vector
                    .insert(EndpointAddress.of(HexFormat.of().parseHex(parts[0]), Integer.parseInt(parts[1])));
            for (long length : lengths(info)) {
                one.send(near, peer, length);
            }
            one.pollFor(ARRIVAL);
            near.close();
        }
    }

    /** Half of them with tags. */
    private void send(Endpoint from, Peer to, long length) {
        int[] sent = new int[1];
        Waiting.YIELD.until(() -> {
            boolean isSent = sent[0] % 2 == 0
                    ? from.tagged().trySend(region, 0, length, to, sent[0], 1)
                    : from.messages().trySend(region, 0, length, to, 1);
            if (isSent) { sent[0]++; }
            poll();
            return sent[0] == MESSAGES;
        }, Pair.DEADLINE);
    }

    private void poll() {
        queue.poll(drop, 16);
        farQueue.poll(drop, 16);
    }

    private void pollFor(Duration time) {
        Waiting.YIELD.tryUntil(() -> {
            poll();
            return false;
        }, time);
    }

    @Override
    public void close() {
        for (AutoCloseable each : List.<AutoCloseable>of(region, vector, farVector, queue, farQueue)) {
            close(each);
        }
        try {
            domain.close();
            fabric.close();
        } catch (FabricException e) { // ofi_rxm keeps the registration of a long send that its endpoint's close ended
            if (e.errno() != Errno.EBUSY || !domain.info().provider().endsWith(";ofi_rxm")) { throw e; }
        }
    }

    private static void close(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
