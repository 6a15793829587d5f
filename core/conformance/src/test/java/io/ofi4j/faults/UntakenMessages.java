package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressFormat;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/** Sends messages that nobody receives, and closes both ends; in one process, or in one for each end. */
public final class UntakenMessages implements AutoCloseable {
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
     * {@code close} and providers, for all orders of closes in this process; {@code at} and providers, to hold messages
     * of another process; or {@code to} and what that has printed of each, to send them.
     */
    public static void main(String[] arguments) throws IOException {
        List<String> rest = List.of(arguments).subList(1, arguments.length);
        switch (arguments[0]) {
            case "at" -> holdMessages(rest);
            case "to" -> rest.forEach(UntakenMessages::sendTo);
            default -> rest.forEach(UntakenMessages::closeInEveryOrder);
        }
        System.out.println("all is closed");
    }

    /** Nothing where it is sm2, which not every libfabric has. */
    private static Optional<FabricInfo> info(String provider) {
        boolean mayBeMissing = provider.equals("sm2");
        FabricHints hints = mayBeMissing ? FabricHints.any().provider(provider) : TestProviders.hints(provider);
        try {
            return Optional.of(TestProviders.info(hints.capabilities(Capability.MSG, Capability.TAGGED)));
        } catch (NoProviderException e) {
            if (!mayBeMissing) { throw e; }
            return Optional.empty();
        }
    }

    private static long[] lengths(FabricInfo info) {
        return LongStream.of(LENGTHS).filter(length -> length <= info.endpoint().maximumMessageSize()).toArray();
    }

    private static void closeInEveryOrder(String provider) {
        info(provider).ifPresent(UntakenMessages::closeInEveryOrder);
    }

    private static void closeInEveryOrder(FabricInfo info) {
        for (long length : lengths(info)) {
            for (String first : List.of("the sender", "the receiver", "one of two that have sent")) {
                System.out.println(info.provider() + ", " + length + " bytes, " + first + " is closed first");
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

    /** Prints the addresses of endpoints, one of each provider, and closes them when it is told to. */
    private static void holdMessages(List<String> providers) {
        Map<UntakenMessages, Endpoint> all = new LinkedHashMap<>();
        for (String provider : providers) {
            info(provider).map(UntakenMessages::new).ifPresent(one -> {
                Endpoint far = one.domain.openEndpoint().bind(one.farQueue).bind(one.farVector).enable();
                all.put(one, far);
                System.out.println("at " + provider + " " + HexFormat.of().formatHex(far.address().toBytes()) + " "
                        + far.address().format());
            });
        }
        System.out.println("these are all");
        Waiting.YIELD.until(() -> {
            all.keySet().forEach(one -> one.pollFor(ARRIVAL));
            return isToldToEnd();
        }, SENDER_DEADLINE);
        all.forEach((one, far) -> {
            System.out.println("the receiver of " + far);
            try (one) {
                far.close();
            }
        });
    }

    private static boolean isToldToEnd() {
        try {
            return System.in.available() > 0;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends to a provider's endpoint, and then closes. */
    private static void sendTo(String printed) {
        String[] parts = printed.split(" ");
        System.out.println("the sender of " + parts[0]);
        FabricInfo info = info(parts[0]).orElseThrow();
        try (UntakenMessages one = new UntakenMessages(info)) {
            Endpoint near = one.domain.openEndpoint().bind(one.queue).bind(one.vector).enable();
            Peer peer = one.vector
                    .insert(EndpointAddress.of(HexFormat.of().parseHex(parts[1]), AddressFormat.valueOf(parts[2])));
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
