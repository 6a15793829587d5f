package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Scope;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls where the stack ends. Each test has a JVM of its own, which names a provider before it begins with it. */
@Tag("gate")
@Tag("once")
class StackEndTest {
    @Test
    void whatWasOpenedOrClosedAtTheEndOfTheStackIsClosedWithItsDomain() {
        Forked.Result result = Forked.run(OpensAtEachDepth.class, providers());

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all is closed");
    }

    @Test
    void tokensThatWereAcceptedAtTheEndOfTheStackComeBackOnce() {
        List<String> arguments = new ArrayList<>(List.of("-Xint"));
        arguments.addAll(List.of(providers()));
        Forked.Result result = Forked.run(TokensAtStackEnd.class, arguments.toArray(String[]::new));

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all tokens came back");
    }

    @Test
    void eventsThatAreReadAtTheEndOfTheStackComeBackOnce() {
        Forked.Result result = Forked.run(EventsAtStackEnd.class, "-Xint", "tcp;ofi_rxm");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all events came back");
    }

    private static String[] providers() {
        String[] providers = TestProviders.transfers().toArray(String[]::new);
        assumeTrue(providers.length > 0, "none of the chosen providers has transfers");
        return providers;
    }

    /** At each of the last frames of a stack. A scope closes what an overflow has left open. */
    static final class OpensAtEachDepth {
        private static final int STACK = 512 << 10;
        private static final int OTHER_STACK = 384 << 10;
        /** The frames in which there is stack enough: above them nothing else would be shown. */
        private static final int ENOUGH = 10;

        /** Uses with a whole stack: a first one at its end fails in the JDK, which also compiles a handle after 127. */
        private static final int FIRST = 150;

        private final Fabric fabric;
        private final Domain domain;
        private final FabricInfo info;
        private final CompletionQueue queue;
        private final AddressVector vector;
        private final EventQueue events;
        private final MemorySegment memory = Arena.global().allocate(4096);
        private int overflows;
        private int complete;

        private enum Kind {
            ENDPOINT, ENABLED_ENDPOINT, QUEUE, COUNTER, VECTOR, REGION, ALLOCATED_REGION, DOMAIN
        }

        private OpensAtEachDepth(Fabric fabric) {
            this.fabric = fabric;
            this.info = fabric.info();
            this.domain = fabric.openDomain();
            this.queue = domain.openCompletionQueue();
            this.events = isConnected() ? fabric.openEventQueue() : null;
            this.vector = isConnected() ? null : domain.openAddressVector();
        }

        public static void main(String[] arguments) throws InterruptedException {
            run(arguments[0], OTHER_STACK); // the frames of this library are much the same over each provider
            for (String provider : arguments) {
                run(provider, STACK);
            }
            System.out.println("all is closed");
        }

        private static void run(String provider, int stack) throws InterruptedException {
            System.out.println("over " + provider);
            try (Scope scope = Libfabric.load().openScope()) {
                OpensAtEachDepth all = new OpensAtEachDepth(scope.openFabric(TestProviders.info(provider)));
                for (int i = 0; i < FIRST; i++) {
                    List.of(Kind.values()).forEach(all::openAndClose);
                }
                for (Kind kind : Kind.values()) {
                    all.dive(kind, stack);
                }
            }
        }

        private boolean isConnected() { return info.endpoint().type() == EndpointType.MSG; }

        private void dive(Kind kind, int stack) throws InterruptedException {
            Thread thread = new Thread(null, () -> dive(kind), "diver", stack);
            overflows = 0;
            thread.start();
            thread.join(Patience.seconds(60).toMillis());
            if (thread.isAlive() || overflows == 0 || complete < ENOUGH) {
                throw new AssertionError(kind + ": " + overflows + " overflows, then " + complete + " without"
                        + (thread.isAlive() ? ", and a call that hangs" : ""));
            }
        }

        /** Goes to the end of the stack, and opens and closes on the way back from there. */
        private void dive(Kind kind) {
            try {
                dive(kind);
            } catch (StackOverflowError e) {
                complete = 0;
            }
            if (complete < ENOUGH) {
                try {
                    openAndClose(kind);
                    complete++;
                } catch (StackOverflowError e) {
                    overflows++;
                }
            }
        }

        private void openAndClose(Kind kind) {
            switch (kind) {
                case ENDPOINT -> domain.openEndpoint().close();
                case ENABLED_ENDPOINT -> enableAndClose(domain.openEndpoint());
                case QUEUE -> domain.openCompletionQueue().close();
                case COUNTER -> domain.openCounter().close();
                case VECTOR -> {
                    if (!isConnected()) { domain.openAddressVector().close(); }
                }
                case REGION -> domain.register(memory, Access.READ).close();
                case ALLOCATED_REGION -> domain.allocate(4096, Access.WRITE, Access.REMOTE_WRITE).close();
                case DOMAIN -> fabric.openDomain().close();
            }
        }

        private void enableAndClose(Endpoint endpoint) {
            try (endpoint) {
                endpoint.bind(queue);
                if (isConnected()) {
                    endpoint.bind(events);
                } else {
                    endpoint.bind(vector);
                }
                endpoint.enable();
            }
        }
    }
}
