package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Limit;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Scopes close what was opened in them, children first, whatever was thrown. */
@Timeout(600)
class ScopeTest {
    private static final String EVERY = "io.ofi4j.support.TestProviders#transfers";

    private static Scope scope() { return Libfabric.load().openScope(); }

    private static Fabric fabric(Scope scope) { return scope.openFabric(TestProviders.info("shm")); }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.RMA);
    }

    /** Two endpoints, of which one counts its writes. */
    private static Pair pair(Scope scope, FabricHints hints) {
        Pair pair = new Pair(hints, CompletionQueueAttributes.defaults(), new Pair.Wiring() {
            @Override
            public Endpoint bindNear(Pair opened, Endpoint endpoint) {
                return endpoint.bind(opened.queue).bind(opened.openCounter(WaitObject.NONE), CounterEvent.WRITE);
            }
        });
        scope.add(pair.fabric);
        return pair;
    }

    private static void assertClosed(Pair pair) {
        assertThat(pair.fabric.isClosed()).as("fabric").isTrue();
        assertThat(pair.domain.isClosed()).as("domain").isTrue();
        assertThat(pair.endpoint.isClosed()).as("endpoint").isTrue();
        assertThatIllegalStateException().isThrownBy(pair.queue::progress).withMessageContaining("is closed");
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void everythingIsClosedWithOperationsInFlight(String provider) {
        Pair pair;
        MemoryRegion region;
        try (Scope scope = scope()) {
            pair = pair(scope, hints(provider));
            region = pair.domain.allocate(4096, Access.values());
            for (int token = 0; token < 8; token++) {
                pair.endpoint.messages().receive(region.slice(8L * token, 8), token);
                pair.farEndpoint.messages().receive(region.slice(64 + 8L * token, 8), token);
                pair.rma().write(region.slice(128, 8), pair.far, region.remote().slice(256, 8), token);
            }
            pair.domain.openAddressVector();
            pair.domain.openCounter();
            pair.domain.startProgress();
        }
        assertClosed(pair);
        assertThat(region.isOpen()).isFalse();
        assertThat(pair.domain.statistics().regions()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void listenersAreClosedWithRequestsThatNobodyHasAnswered(String provider) {
        Pair pair;
        try (Scope scope = scope()) {
            pair = pair(scope, hints("MSG " + provider));
            ConnectionRequest taken = request(pair);
            pair.domain.openEndpoint(taken).bind(pair.events).bind(pair.queue).enable();
            request(pair); // nobody opens an endpoint for it
        }
        assertClosed(pair);
        assertThatIllegalStateException().isThrownBy(pair.passive::listen).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(pair.events::read).withMessageContaining("is closed");
    }

    private static ConnectionRequest request(Pair pair) {
        pair.domain.openEndpoint(pair.fabric.info().withDestination(pair.passive.address())).bind(pair.events)
                .bind(pair.queue).enable().connection().connect(pair.passive.address());
        while (true) {
            if (pair.events.read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request)) {
                return request;
            }
        }
    }

    @Test
    void contextsAndAliasesAreClosedBeforeWhatTheyBelongTo() {
        FabricHints hints = TestProviders.hints("sockets")
                .capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA, Capability.NAMED_RX_CTX).attributes(
                        AttributeHints.none().atLeast(Limit.TRANSMIT_CONTEXTS, 2).atLeast(Limit.RECEIVE_CONTEXTS, 2));
        Domain domain;
        try (Scope scope = scope()) {
            domain = scope.openFabric(TestProviders.info(hints)).openDomain();
            ScalableEndpoint scalable = domain.openScalableEndpoint()
                    .bind(domain.openAddressVector(AddressVectorAttributes.defaults().receiveContextBits(1)));
            scalable.openTransmitContext(0).bind(domain.openCompletionQueue()).enable();
            scalable.openReceiveContext(0).bind(domain.openCompletionQueue()).enable();
            scalable.enable();
            pair(scope, TestProviders.hints("sockets")).endpoint.alias(Set.of(OperationFlag.DELIVERY_COMPLETE));
        }
        assertThat(domain.isClosed()).isTrue();
    }

    @Test
    void aSharedContextIsClosedAfterTheEndpointsThatReceiveThroughIt() {
        FabricHints hints = TestProviders.hints("sockets").capabilities(Capability.MSG)
                .attributes(AttributeHints.none().sharedReceiveContext());
        Domain domain;
        try (Scope scope = scope()) {
            domain = scope.openFabric(TestProviders.info(hints)).openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            Endpoint endpoint = domain.openEndpoint();
            SharedReceiveContext context = domain.openSharedReceiveContext().bind(queue).enable();
            endpoint.bind(domain.openAddressVector()).bind(queue).bind(context).enable();
        }
        assertThat(domain.isClosed()).isTrue();
    }

    @Test
    void anExceptionOfTheProgramComesOutAlone() {
        assertThatThrownBy(() -> {
            try (Scope scope = scope()) {
                Domain domain = fabric(scope).openDomain();
                domain.allocate(64, Access.READ);
                domain.openEndpoint().bind(domain.openCompletionQueue()).bind(domain.openAddressVector()).enable();
                throw new IllegalStateException("what the program throws");
            }
        }).hasMessage("what the program throws").hasNoSuppressedExceptions();
    }

    @Test
    void whatTheProgramHasClosedIsLeftAlone() {
        Scope scope = scope();
        Fabric fabric = fabric(scope);
        Domain domain = fabric.openDomain();
        domain.allocate(64, Access.READ).close();
        domain.close();
        fabric.close();
        Domain second = fabric(scope).openDomain();
        second.close();
        scope.close();
        scope.close();
        assertThatIllegalStateException().isThrownBy(second::openCompletionQueue);
    }

    @Test
    void whatAddedObjectsThrowComesOutOnceAndTheRestIsClosed() {
        Scope scope = scope();
        Domain domain = fabric(scope).openDomain();
        List<String> closed = new ArrayList<>();
        scope.add(() -> closed.add("the first"));
        scope.add(() -> {
            throw new IOException("a checked one");
        });
        scope.add(() -> {
            throw new IllegalStateException("an unchecked one");
        });
        scope.add(() -> closed.add("the last"));

        assertThatThrownBy(scope::close).isInstanceOf(IllegalStateException.class).hasMessage("an unchecked one")
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).singleElement()
                        .isInstanceOf(CompletionException.class)
                        .satisfies(other -> assertThat(other.getCause()).hasMessage("a checked one")));
        assertThat(closed).containsExactly("the last", "the first");
        assertThat(domain.isClosed()).isTrue();
    }

    @Test
    void aFailingCloseIsSuppressedInWhatTheProgramThrew() {
        assertThatThrownBy(() -> {
            try (Scope scope = scope()) {
                scope.add(() -> {
                    throw new IllegalStateException("of the close");
                });
                fabric(scope).openDomain().openCompletionQueue();
                throw new IllegalArgumentException("of the program");
            }
        }).hasMessage("of the program").satisfies(thrown -> assertThat(thrown.getSuppressed()).singleElement()
                .satisfies(other -> assertThat(other).hasMessage("of the close").hasNoSuppressedExceptions()));
    }

    @Test
    void anAddedObjectIsClosedAfterThoseThatNeedIt() {
        try (Pair pair = new Pair("shm")) {
            Endpoint endpoint;
            CompletionQueue queue;
            try (Scope connection = scope()) {
                endpoint = connection.add(pair.domain.openEndpoint());
                queue = connection.add(pair.domain.openCompletionQueue()); // opened later, and closed later
                endpoint.bind(queue).bind(pair.vector).enable();
            }
            assertThat(endpoint.isClosed()).isTrue();
            assertThatIllegalStateException().isThrownBy(queue::progress).withMessageContaining("is closed");
        }
    }

    @Test
    void whatAnObjectOutsideNeedsStaysOpenAndIsClosedByTheNextCall() {
        try (Pair pair = new Pair("shm")) {
            Scope scope = scope();
            CompletionQueue queue = scope.add(pair.domain.openCompletionQueue());
            Endpoint outside = pair.domain.openEndpoint().bind(queue).bind(pair.vector).enable();
            assertThatIllegalStateException().isThrownBy(scope::close).withMessageContaining("CompletionQueue of shm")
                    .withMessageContaining("Endpoint RDM");
            queue.progress();
            outside.close();
            scope.close();
            assertThatIllegalStateException().isThrownBy(queue::progress).withMessageContaining("is closed");
        }
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingModel.class, names = {"DOMAIN", "COMPLETION"})
    void aThreadClosesWhatIsItsOwnAndTheOwnerTheRest(ThreadingModel model) throws Exception {
        Scope scope = scope();
        Fabric mine = fabric(scope);
        try (ExecutorService owner = Executors.newSingleThreadExecutor()) {
            Pair pair = owner.submit(() -> {
                Pair opened = pair(scope, TestProviders.hints("shm").threading(model));
                opened.domain.allocate(64, Access.READ);
                return opened;
            }).get();
            assertThatExceptionOfType(WrongThreadException.class).isThrownBy(scope::close)
                    .satisfies(thrown -> assertThat(thrown).hasNoSuppressedExceptions());
            assertThat(mine.isClosed()).isTrue();
            assertThat(pair.fabric.isClosed()).isFalse();

            owner.submit(scope::close).get();
            assertThat(pair.fabric.isClosed()).isTrue();
        }
    }

    @Test
    void threadsThatCloseAtOnceCloseEverythingOnce() throws Exception {
        List<String> closed = Collections.synchronizedList(new ArrayList<>());
        Scope scope = scope();
        Pair pair = pair(scope, hints("tcp;ofi_rxm"));
        pair.domain.allocate(64, Access.READ);
        scope.add(() -> closed.add("added"));
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<?>> closes = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                closes.add(threads.submit(scope::close));
            }
            for (Future<?> close : closes) {
                close.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            }
        }
        assertClosed(pair);
        assertThat(closed).containsExactly("added");
    }

    @Test
    void anAddedObjectMayCloseItsScope() {
        Scope scope = scope();
        Fabric fabric = fabric(scope);
        scope.add(scope::close);
        scope.close();
        assertThat(fabric.isClosed()).isTrue();
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aThreadThatWaitsIsTold(String provider) throws Exception {
        Scope scope = scope();
        Pair pair = pair(scope, hints(provider));
        CountDownLatch waits = new CountDownLatch(1);
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<Integer> wait = other.submit(() -> {
                waits.countDown();
                int completions = 0;
                while (completions >= 0) { // until the queue is closed
                    completions = pair.queue.await((token, flags, length, data) -> {}, 1, Pair.DEADLINE);
                }
                return completions;
            });
            assertThat(waits.await(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            scope.close();
            assertThatThrownBy(() -> wait.get(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
        }
        assertClosed(pair);
    }

    @Test
    void deferredWorkThatWaitsForItsCounterIsNamedOnce() {
        Scope scope = scope();
        Domain domain = scope
                .openFabric(TestProviders
                        .info(TestProviders.hints("sockets").capabilities(Capability.RMA, Capability.TRIGGER)))
                .openDomain();
        CompletionQueue queue = domain.openCompletionQueue();
        AddressVector vector = domain.openAddressVector();
        Counter trigger = domain.openCounter();
        Counter done = domain.openCounter();
        MemoryRegion region = domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE);
        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        PreparedRma write = endpoint.rma().prepare().peer(vector.insert(endpoint.address())).local(region, 0, 8)
                .remote(region.remote(), 8, 8);
        domain.deferredWork().when(trigger, 1).write(write, done, 1);

        assertThatIllegalStateException().isThrownBy(scope::close).withMessageContaining("wait for their counters")
                .satisfies(thrown -> assertThat(thrown).hasNoSuppressedExceptions());
        trigger.add(1);
        scope.close();
        assertThat(domain.isClosed()).isTrue();
    }

    @Test
    void nothingIsOpenedInAClosedScope() {
        Scope scope = scope();
        scope.close();
        assertThatIllegalStateException().isThrownBy(() -> fabric(scope)).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(() -> scope.add(() -> {})).withMessageContaining("is closed");
    }

    /** Without the deadline each endpoint would wait two seconds. */
    @Tag("long")
    @Test
    void allWaitsOfACloseHaveOneDeadline() {
        int endpoints = 8;
        long start;
        try (Scope scope = scope().closeTimeout(Duration.ofMillis(100))) {
            Domain domain = scope.openFabric(TestProviders.info("sockets")).openDomain();
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector vector = domain.openAddressVector();
            MemoryRegion region = domain.allocate(200_000_000, Access.values());
            Endpoint target = domain.openEndpoint().bind(vector).bind(queue).enable();
            Peer peer = vector.insert(target.address());
            for (int i = 0; i < endpoints; i++) {
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
                for (int token = 0; token < 16; token++) {
                    endpoint.rma().read(region.slice(0, region.length()), peer, region.remote(), token);
                }
            }
            start = System.nanoTime();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2L * endpoints));
    }

    /** A domain may have tens of thousands of regions. */
    @Test
    void whatIsClosedIsTakenOutOfItsListOnce() {
        int[] passes = new int[1];
        List<AutoCloseable> objects = new ArrayList<>() {
            private static final long serialVersionUID = 1L;

            @Override
            public boolean removeIf(Predicate<? super AutoCloseable> filter) {
                passes[0]++;
                return super.removeIf(filter);
            }
        };
        for (int i = 0; i < 100; i++) {
            AutoCloseable[] one = new AutoCloseable[1];
            one[0] = () -> Objects.requireNonNull(one); // an object of its own
            objects.add(one[0]);
        }
        new ScopeClose(Scope.DEFAULT_CLOSE_TIMEOUT).closeAll(objects);

        assertThat(objects).isEmpty();
        assertThat(passes[0]).isEqualTo(1);
    }
}
