package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestProviders;
import io.ofi4j.internal.engine.FabricLock;
import java.lang.Thread.State;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Event queues may be read and closed while domains of the same fabric are opened and closed, and passive endpoints
 * closed.
 */
@Tag("gate")
@Timeout(600)
class FabricLockTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void domainsAreOpenedAndClosedWhileEventQueuesAreOpenedReadAndClosed(String provider) {
        Forked.Result result = Forked.run(OpensAndReads.class, Forked.EVERY_COMPILER, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** libfabric's own state of a fabric has no lock: what a thread is inside of keeps every other such call out. */
    @Test
    void callsThatManageConnectionsAndEndpointsGoOneAtATime() throws Exception {
        FabricInfo info = TestProviders.info("MSG tcp");
        try (Pair pair = new Pair("MSG tcp");
                Domain domain = pair.fabric.openDomain();
                EventQueue events = pair.fabric.openEventQueue();
                PassiveEndpoint passive = pair.fabric.openPassiveEndpoint(info).bind(events);
                Endpoint one = pair.domain.openEndpoint(info.withDestination(pair.passive.address()));
                Endpoint two = pair.domain.openEndpoint(info.withDestination(pair.passive.address()))) {
            requireOpens(pair.fabric, "open a domain", pair.fabric::openDomain);
            requireOpens(pair.fabric, "open an event queue", pair.fabric::openEventQueue);
            requireOpens(pair.fabric, "open a passive endpoint", () -> pair.fabric.openPassiveEndpoint(info));
            EndpointAddress there = pair.passive.address();
            requireOpens(pair.fabric, "open an endpoint", () -> pair.domain.openEndpoint(info.withDestination(there)));
            requireWaits(pair.fabric, "listen", passive::listen);
            requireWaits(pair.fabric, "bind events", () -> one.bind(pair.events));
            requireWaits(pair.fabric, "enable", () -> one.bind(pair.queue).enable());
            requireWaits(pair.fabric, "connect", () -> one.connection().connect(there));
            requireWaits(pair.fabric, "reject", nextRequest(pair)::reject);
            two.bind(pair.events).bind(pair.queue).enable().connection().connect(pair.passive.address());
            try (Endpoint accepting = pair.domain.openEndpoint(nextRequest(pair)).bind(pair.events).bind(pair.farQueue)
                    .enable()) {
                requireWaits(pair.fabric, "accept", () -> accepting.connection().accept());
                two.connection().awaitConnected(Pair.DEADLINE);
                requireWaits(pair.fabric, "shut down", () -> two.connection().shutdown());
            }
            requireWaits(pair.fabric, "read events", () -> pair.events.read());
            requireWaits(pair.fabric, "close an endpoint", one::close);
            requireWaits(pair.fabric, "close a passive endpoint", passive::close);
            requireWaits(pair.fabric, "close an event queue", events::close);
            requireWaits(pair.fabric, "close a domain", domain::close);
        }
    }

    /** Opens something, which waits; it is closed only afterwards, for a close would wait, too. */
    private static void requireOpens(Fabric fabric, String what, Supplier<? extends AutoCloseable> opening)
            throws Exception {
        List<AutoCloseable> opened = new CopyOnWriteArrayList<>();
        requireWaits(fabric, what, () -> opened.add(opening.get()));
        assertThat(opened).as(what).hasSize(1);
        opened.getFirst().close();
    }

    private static ConnectionRequest nextRequest(Pair pair) {
        while (true) {
            if (pair.events.read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request)) {
                return request;
            }
        }
    }

    /** Makes a call while another thread is inside the fabric's lock: it waits, and goes on afterwards. */
    private static void requireWaits(Fabric fabric, String what, Runnable call) throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        Thread holder = start(thrown, () -> fabric.lock.alone(() -> {
            inside.countDown();
            Waiting.BACKOFF.until(() -> over.getCount() == 0, Pair.DEADLINE);
        }));
        assertThat(inside.await(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as(what).isTrue();
        Thread caller = start(thrown, call);
        Waiting.BACKOFF.until(() -> caller.getState() == State.WAITING || !caller.isAlive(), Pair.DEADLINE);
        assertThat(caller.getStackTrace()).as(what)
                .anyMatch(frame -> frame.getClassName().equals(FabricLock.class.getName()))
                .noneMatch(frame -> frame.getMethodName().equals("drainQuietly")); // comes after an endpoint's close
        over.countDown();
        assertThat(holder.join(Pair.DEADLINE)).as(what).isTrue();
        assertThat(caller.join(Pair.DEADLINE)).as(what).isTrue();
        assertThat(thrown).as(what).isEmpty();
    }

    private static Thread start(List<Throwable> thrown, Runnable call) {
        return Thread.ofPlatform().daemon().start(() -> {
            try {
                call.run();
            } catch (Throwable t) {
                thrown.add(t);
            }
        });
    }

    /**
     * Two threads read event queues, while this one opens domains and listens. What a reader throws ends the JVM with a
     * failure.
     */
    static final class OpensAndReads {
        /** How often each happens beside the other, at least. */
        private static final int LEAST = Rounds.of(50);

        private OpensAndReads() {}

        public static void main(String[] arguments) throws InterruptedException {
            FabricInfo info = TestProviders.info(TestProviders.connectedHints(arguments[0]));
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger reads = new AtomicInteger();
            try (Fabric fabric = Libfabric.load().openFabric(info)) {
                Thread[] readers = {Thread.ofPlatform().daemon().start(() -> read(fabric, over, reads)),
                        Thread.ofPlatform().daemon().start(() -> read(fabric, over, reads))};
                int opened = 0;
                while (opened < LEAST || reads.get() < LEAST) {
                    openAndClose(fabric, info);
                    opened++;
                }
                over.set(true);
                for (Thread reader : readers) {
                    if (!reader.join(Pair.DEADLINE)) {
                        throw new AssertionError(reader + " does not end: " + List.of(reader.getStackTrace()));
                    }
                }
                System.out.println(opened + " domains opened, " + reads + " reads");
            }
        }

        private static void openAndClose(Fabric fabric, FabricInfo info) {
            try (Domain domain = fabric.openDomain();
                    EventQueue events = fabric.openEventQueue();
                    PassiveEndpoint endpoint = fabric.openPassiveEndpoint(info).bind(events).listen()) {
                domain.openEndpoint(info.withDestination(endpoint.address())).close();
            }
        }

        private static void read(Fabric fabric, AtomicBoolean over, AtomicInteger reads) {
            while (!over.get()) {
                try (EventQueue events = fabric
                        .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD))) {
                    for (int count = 0; count < 100; count++) {
                        events.read();
                        reads.incrementAndGet();
                    }
                }
            }
        }
    }
}
