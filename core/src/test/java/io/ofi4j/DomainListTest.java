package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Event queues may be read and closed while domains of the same fabric are opened and closed, and passive endpoints closed. */
@Timeout(600)
class DomainListTest {
    private static final Duration SOME_TIME = Duration.ofSeconds(2);

    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#connected")
    void domainsAreOpenedAndClosedWhileEventQueuesAreOpenedReadAndClosed(String provider) {
        Forked.Result result = Forked.run(OpensAndReads.class, Forked.EVERY_COMPILER, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Two threads read event queues, while this one opens domains and listens. */
    static final class OpensAndReads {
        private OpensAndReads() {
        }

        public static void main(String[] arguments) throws InterruptedException {
            FabricInfo info = TestProviders.info(TestProviders.connectedHints(arguments[0]));
            AtomicBoolean over = new AtomicBoolean();
            try (Fabric fabric = Libfabric.load().openFabric(info)) {
                Thread[] readers = {Thread.ofPlatform().daemon().start(() -> read(fabric, over)),
                        Thread.ofPlatform().daemon().start(() -> read(fabric, over))};
                long end = System.nanoTime() + SOME_TIME.toNanos();
                while (System.nanoTime() < end) {
                    openAndClose(fabric, info);
                }
                over.set(true);
                for (Thread reader : readers) {
                    reader.join();
                }
            }
            System.exit(0);
        }

        private static void openAndClose(Fabric fabric, FabricInfo info) {
            try (Domain domain = fabric.openDomain();
                    EventQueue events = fabric.openEventQueue();
                    PassiveEndpoint endpoint = fabric.openPassiveEndpoint(info).bind(events).listen()) {
                domain.openEndpoint(info.withDestination(endpoint.address())).close();
            }
        }

        private static void read(Fabric fabric, AtomicBoolean over) {
            while (!over.get()) {
                try (EventQueue events = fabric
                        .openEventQueue(EventQueueAttributes.defaults().waitObject(WaitObject.FD))) {
                    for (int count = 0; count < 100; count++) {
                        events.read();
                    }
                }
            }
        }
    }
}
