package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import io.ofi4j.internal.os.Errno;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An endpoint closes while its peer, in a domain and a thread of its own, sends without a pause. What has come is
 * answered or dropped; the process survives. In a JVM of its own.
 */
@Tag("gate")
class BusyCloseTest {
    static Stream<String> atomics() { return TestProviders.atomics().filter(provider -> !provider.startsWith("MSG ")); }

    @ForEachProvider
    @MethodSource("atomics")
    void theTargetOfAtomicOperations(String provider) { requireSurvived(provider, "atomics"); }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void theReceiverOfLongMessages(String provider) { requireSurvived(provider, "messages"); }

    private static void requireSurvived(String provider, String kind) {
        Forked.Result result = Forked.run(Closes.class, provider, kind);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("closed 4 times");
    }

    static final class Closes {
        private static final int ROUNDS = 4;
        private static final int CELL = 8;
        /** Longer than what any provider sends in segments. */
        private static final int MESSAGE = 200_000;
        private static final int RECEIVES = 16;
        private static final Duration MOMENT = Patience.seconds(1).dividedBy(10);

        private Closes() {}

        /** Arguments: the provider, and what is sent: atomics or messages. */
        @SuppressWarnings("try") // the endpoint is closed in the middle
        public static void main(String[] arguments) throws InterruptedException {
            boolean isAtomic = arguments[1].equals("atomics");
            for (int round = 0; round < ROUNDS; round++) {
                try (Fabric fabric = Libfabric.load().openFabric(info(arguments[0], isAtomic));
                        Domain domain = fabric.openDomain();
                        CompletionQueue queue = domain.openCompletionQueue();
                        AddressVector vector = domain.openAddressVector();
                        MemoryRegion target = domain.allocate(RECEIVES * MESSAGE, Access.REMOTE_WRITE, Access.RECEIVE);
                        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                    Sender sender = new Sender(arguments[0], isAtomic, endpoint.address(), target.remote());
                    sender.start();
                    for (int receive = 0; receive < RECEIVES && !isAtomic; receive++) {
                        endpoint.messages().receive(target.slice(receive * MESSAGE, MESSAGE), receive);
                    }
                    Receiver receiver = new Receiver(endpoint, target);
                    Waiting.YIELD.until(() -> {
                        queue.poll(receiver, 16);
                        return sender.hasSent;
                    }, Pair.DEADLINE);
                    forAMoment(() -> queue.poll(receiver, 16));
                    Thread.sleep(MOMENT); // much comes that it has not looked at
                    endpoint.close();
                    sender.end();
                } catch (FabricException e) {
                    requireMayFail(e);
                }
            }
            System.out.println("closed " + ROUNDS + " times");
        }

        private static FabricInfo info(String provider, boolean isAtomic) {
            return TestProviders.info(isAtomic
                    ? TestProviders.atomicHints(provider)
                    : TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG));
        }

        /** Over ofi_rxm a long message that does not complete keeps the domains of both sides. */
        private static void requireMayFail(FabricException e) {
            if (!e.operation().equals("fi_close(domain)") || e.errno() != Errno.EBUSY) { throw e; }
        }

        private static void forAMoment(Runnable action) {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < MOMENT.toNanos()) {
                action.run();
            }
        }

        /** Posts each receive again. */
        private record Receiver(Endpoint endpoint, MemoryRegion target) implements CompletionHandler {
            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                if (token < RECEIVES) { endpoint.messages().tryReceive(target, token * MESSAGE, MESSAGE, token); }
            }

            @Override
            public void onError(CompletionError error) {
                // its peer may be gone
            }
        }

        /** Sends until it is told to end. */
        private static final class Sender extends Thread {
            private final String provider;
            private final boolean isAtomic;
            private final EndpointAddress address;
            private final RemoteRegion target;
            private volatile boolean hasSent;
            private volatile boolean isToEnd;

            private Sender(String provider, boolean isAtomic, EndpointAddress address, RemoteRegion target) {
                super("sender");
                setDaemon(true);
                this.provider = provider;
                this.isAtomic = isAtomic;
                this.address = address;
                this.target = target;
            }

            private void end() throws InterruptedException {
                Thread.sleep(MOMENT); // it learns that the endpoint is closed
                isToEnd = true;
                join(Pair.DEADLINE);
            }

            @Override
            public void run() {
                try (Fabric fabric = Libfabric.load().openFabric(info(provider, isAtomic));
                        Domain domain = fabric.openDomain();
                        CompletionQueue queue = domain.openCompletionQueue();
                        AddressVector vector = domain.openAddressVector();
                        MemoryRegion source = domain.allocate(MESSAGE, Access.WRITE, Access.SEND);
                        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                    Peer peer = vector.insert(address);
                    BooleanSupplier post = isAtomic
                            ? () -> endpoint.atomics().tryExecute(AtomicOperation.SUM, Datatype.INT64, source, 0, 1,
                                    peer, target, 0, 0)
                            : () -> endpoint.messages().trySend(source, 0, MESSAGE, peer, 0);
                    CompletionHandler handler = new CompletionHandler() {
                        @Override
                        public void onCompletion(long token, long flags, long length, long data) { hasSent = true; }

                        @Override
                        public void onError(CompletionError error) {
                            // its peer may be gone
                        }
                    };
                    while (!isToEnd) {
                        post(post);
                        if (queue.poll(handler, 16) == 0) { Thread.yield(); }
                    }
                } catch (FabricException e) {
                    requireMayFail(e);
                }
            }

            private static void post(BooleanSupplier post) {
                try {
                    post.getAsBoolean();
                } catch (FabricException | IllegalStateException e) {
                    Thread.yield(); // its peer is gone
                }
            }
        }
    }
}
