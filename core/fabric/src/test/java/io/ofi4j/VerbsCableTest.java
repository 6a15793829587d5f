package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.FaultLink;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A cable with a device and an address of its own at either end, which is cut, mended, slowed down, and loses packets.
 * Runs in the virtual machine of {@code scripts/verbs}, whose cable may be cut. libfabric asks for as many tries as a
 * queue pair may have, seven, which a real adapter gives up after. Soft-RoCE takes seven for endless: there, what a cut
 * has stopped waits until the cable is mended or the endpoint is closed.
 */
@Timeout(900)
class VerbsCableTest {
    private static final String[] INTERFACES = words("OFI4J_VERBS_INTERFACES");
    private static final String[] ADDRESSES = words("OFI4J_VERBS_ADDRESSES");
    private static final Duration DEADLINE = Patience.seconds(20);
    private static final int ECANCELED = 125;
    private static final int LENGTH = 4096;
    private static final int WINDOW = 16;

    private static String[] words(String variable) { return System.getenv().getOrDefault(variable, "").split(" "); }

    @BeforeEach
    void aCableIsThere() {
        assumeTrue(INTERFACES.length == 2 && ADDRESSES.length == 2,
                "this machine has no cable that may be cut; scripts/test --verbs makes one");
    }

    @AfterEach
    void mend() { if (INTERFACES.length == 2) { run("tc", "qdisc", "del", "dev", INTERFACES[0], "root"); } }

    private static int run(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(List.of(command) + " did not end");
            }
            return process.exitValue();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void cable(String... quality) {
        List<String> command = new ArrayList<>(
                List.of("tc", "qdisc", "replace", "dev", INTERFACES[0], "root", "netem"));
        command.addAll(List.of(quality));
        assertThat(run(command.toArray(String[]::new))).isZero();
    }

    private static CompletionHandler recorder(List<Long> completed, List<CompletionError> errors) {
        return new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

            @Override
            public void onError(CompletionError error) { errors.add(error); }
        };
    }

    /** One end of the cable. */
    private static final class End implements AutoCloseable {
        final FabricInfo info;
        final Fabric fabric;
        final Domain domain;
        final EventQueue events;
        final CompletionQueue queue;
        final MemoryRegion region;

        End(String address) {
            info = TestProviders.info(FabricHints.connected().provider("verbs").source(address, null));
            fabric = Libfabric.load().openFabric(info);
            domain = fabric.openDomain();
            events = fabric.openEventQueue();
            queue = domain.openCompletionQueue();
            region = domain.allocate(LENGTH, Access.READ, Access.WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
        }

        @Override
        public void close() {
            region.close();
            queue.close();
            events.close();
            domain.close();
            fabric.close();
        }
    }

    /** A connection from one end to the other, over which writes stream. */
    private static final class Stream implements AutoCloseable {
        final PassiveEndpoint passive;
        final Endpoint client;
        final Endpoint server;
        final End near;
        final End far;
        final List<Long> completed = new ArrayList<>();
        final List<CompletionError> errors = new ArrayList<>();
        private long posted;

        Stream(End near, End far) {
            this.near = near;
            this.far = far;
            passive = far.fabric.openPassiveEndpoint(far.info).bind(far.events).listen();
            client = near.domain.openEndpoint(near.info.withDestination(passive.address())).bind(near.events)
                    .bind(near.queue).enable();
            client.connection().connect(passive.address());
            ConnectionRequest[] request = new ConnectionRequest[1];
            Waiting.YIELD.until(() -> {
                near.events.progress();
                far.events.read().ifPresent(event -> request[0] = ((Event.ConnectionRequested) event).request());
                return request[0] != null;
            }, DEADLINE);
            server = far.domain.openEndpoint(request[0]).bind(far.events).bind(far.queue).enable();
            server.connection().accept();
            client.connection().awaitConnected(DEADLINE);
            server.connection().awaitConnected(DEADLINE);
        }

        /** Posts what there is room for. */
        void post() {
            while (posted - completed.size() - errors.size() < WINDOW && postOne()) {
                continue;
            }
        }

        private boolean postOne() {
            boolean accepted = client.rma().tryWrite(near.region, 0, LENGTH, client.connection().peer(),
                    far.region.remote(), 0, posted);
            posted += accepted ? 1 : 0;
            return accepted;
        }

        void poll() { near.queue.poll(recorder(completed, errors), 64); }

        /** Streams until so many writes more have completed. */
        void await(int count) {
            int goal = completed.size() + count;
            Waiting.YIELD.until(() -> {
                post();
                poll();
                return completed.size() >= goal || !errors.isEmpty();
            }, DEADLINE);
            assertThat(errors).isEmpty();
        }

        /** Cuts the cable while writes stream, and posts one more, which surely finds it cut. */
        void cut() {
            CompletableFuture<Void> cut = CompletableFuture.runAsync(() -> cable("loss", "100%"));
            Waiting.YIELD.until(() -> {
                post();
                poll();
                return cut.isDone();
            }, DEADLINE);
            cut.join();
            assertThat(postOne()).isTrue();
        }

        /** Waits for what is in flight, and posts no more. */
        void settle() {
            Waiting.YIELD.until(() -> {
                poll();
                near.events.progress();
                return completed.size() + errors.size() == posted;
            }, DEADLINE);
            List<Long> back = new ArrayList<>(completed);
            errors.forEach(error -> back.add(error.token()));
            assertThat(back).doesNotHaveDuplicates().hasSize((int) posted);
            assertThat(near.queue.operationsInFlight()).isZero();
        }

        @Override
        public void close() {
            client.close();
            server.close();
            passive.close();
        }
    }

    @Test
    void theEndsHaveDevicesOfTheirOwn() {
        try (End near = new End(ADDRESSES[0]); End far = new End(ADDRESSES[1]); Stream stream = new Stream(near, far)) {
            assertThat(near.info.domain().name()).isNotEqualTo(far.info.domain().name());
            near.region.segment().set(JAVA_LONG, 0, 42);
            stream.await(10);
            stream.settle();
            Waiting.YIELD.until(() -> far.region.segment().get(JAVA_LONG, 0) == 42, DEADLINE);
        }
    }

    @Test
    void aShortCutIsBridged() {
        try (End near = new End(ADDRESSES[0]); End far = new End(ADDRESSES[1]); Stream stream = new Stream(near, far)) {
            stream.await(20);
            cable("loss", "100%");
            stream.post();
            long cut = System.nanoTime();
            Waiting.YIELD.until(() -> {
                stream.poll();
                return System.nanoTime() - cut > 200_000_000;
            }, DEADLINE);
            cable("delay", "0ms");
            stream.await(100);
            stream.settle();
        }
    }

    @Test
    void closingBehindACutGivesEveryTokenBackAndAnotherConnectionWorksOnceItIsMended() {
        try (End near = new End(ADDRESSES[0]); End far = new End(ADDRESSES[1])) {
            try (Stream stream = new Stream(near, far)) {
                stream.await(20);
                stream.cut();
                assertThat(stream.errors).isEmpty();
                stream.client.close();
                stream.settle();

                assertThat(stream.errors).hasSizeBetween(1, WINDOW + 1).allSatisfy(error -> {
                    assertThat(error.errno()).isEqualTo(ECANCELED);
                    assertThat(error.toException()).hasMessageContainingAll("verbs", "canceled");
                });
            }
            mend();
            try (Stream another = new Stream(near, far)) {
                another.await(20);
                another.settle();
            }
        }
    }

    @Test
    void aPeerThatLeavesBehindACutEndsEveryWriteOnceItIsMended() {
        try (End near = new End(ADDRESSES[0]); End far = new End(ADDRESSES[1])) {
            try (Stream stream = new Stream(near, far)) {
                stream.await(20);
                stream.settle();
                cable("loss", "100%");
                stream.post();
                stream.server.close();
                mend();
                stream.settle();

                assertThat(stream.errors).hasSize(WINDOW).allSatisfy(error -> {
                    assertThat(error.errno()).isEqualTo(ECANCELED);
                    assertThat(error.toException()).hasMessageContainingAll("verbs", "Work Request Flushed Error");
                });
                assertThat(stream.client.connection().state()).isEqualTo(Connection.State.SHUT_DOWN);
            }
            try (Stream another = new Stream(near, far)) {
                another.await(20);
                another.settle();
            }
        }
    }

    /** The one at the far end is another JVM. */
    @ParameterizedTest
    @ValueSource(strings = {"MSG verbs", "verbs;ofi_rxm"})
    void twoProcessesWriteAndReadAcrossTheCable(String provider) throws IOException {
        FabricInfo info = TestProviders.info(TestProviders.hints(provider).source(ADDRESSES[0], null));
        try (FaultPeer far = new FaultPeer(FaultPeer.ELSEWHERE, provider, FaultTarget.ANY, ADDRESSES[1]);
                Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                MemoryRegion region = domain.allocate(2 * LENGTH, Access.READ, Access.WRITE);
                FaultLink link = new FaultLink(fabric, domain, far.address)) {
            long before = bytesSent();
            region.segment().fill((byte) 7);
            for (int token = 0; token < WINDOW; token++) {
                link.rma().write(region.slice(0, LENGTH), link.peer(), far.region.slice((long) token * LENGTH, LENGTH),
                        token);
            }
            awaitAll(link, WINDOW);
            link.rma().read(region.slice(LENGTH, LENGTH), link.peer(), far.region.slice((WINDOW - 1L) * LENGTH, LENGTH),
                    WINDOW);
            awaitAll(link, 1);

            assertThat(region.segment().asSlice(LENGTH).elements(JAVA_BYTE))
                    .allMatch(one -> one.get(JAVA_BYTE, 0) == 7);
            assertThat(far.value((WINDOW - 1L) * LENGTH)).isEqualTo(0x0707_0707_0707_0707L);
            assertThat(bytesSent() - before).as("what went over the cable").isGreaterThan((long) WINDOW * LENGTH);
        }
    }

    private static void awaitAll(FaultLink link, int count) {
        List<Long> completed = new ArrayList<>();
        List<CompletionError> errors = new ArrayList<>();
        Waiting.YIELD.until(() -> link.polled(recorder(completed, errors)) && completed.size() + errors.size() == count,
                DEADLINE);
        assertThat(errors).isEmpty();
    }

    private static long bytesSent() throws IOException {
        Path counter = Path.of("/sys/class/net", INTERFACES[0], "statistics", "tx_bytes");
        return Long.parseLong(Files.readString(counter).strip());
    }

    @Test
    void aLongCableThatLosesPacketsDeliversAll() {
        try (End near = new End(ADDRESSES[0]); End far = new End(ADDRESSES[1]); Stream stream = new Stream(near, far)) {
            cable("delay", "5ms", "loss", "1%");
            near.region.segment().fill((byte) 7);
            stream.await(100);
            stream.settle();

            assertThat(far.region.segment().mismatch(near.region.segment())).isEqualTo(-1);
        }
    }
}
