package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Event queues may be read and closed while domains of the same fabric are opened and closed, and passive endpoints closed. */
@Timeout(600)
class FabricLockTest {
    private static final Duration SOME_TIME = Duration.ofSeconds(2);

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void domainsAreOpenedAndClosedWhileEventQueuesAreOpenedReadAndClosed(String provider) {
        Forked.Result result = Forked.run(OpensAndReads.class, Forked.EVERY_COMPILER, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Two threads read event queues, while this one opens domains and listens. What a reader throws ends the JVM with a failure. */
    static final class OpensAndReads {
        /** How often each happens beside the other; on a busy machine that takes longer. */
        private static final int LEAST = 5;

        private OpensAndReads() {}

        public static void main(String[] arguments) throws InterruptedException {
            FabricInfo info = TestProviders.info(TestProviders.connectedHints(arguments[0]));
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger reads = new AtomicInteger();
            try (Fabric fabric = Libfabric.load().openFabric(info)) {
                Thread[] readers = {Thread.ofPlatform().daemon().start(() -> read(fabric, over, reads)),
                        Thread.ofPlatform().daemon().start(() -> read(fabric, over, reads))};
                long end = System.nanoTime() + SOME_TIME.toNanos();
                int opened = 0;
                while (System.nanoTime() < end || opened < LEAST || reads.get() < LEAST) {
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
