package io.ofi4j.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Scope;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Classes with the annotation, which JUnit runs inside of this test: what it says of each of their tests. */
@Tag("once")
class FabricTestTest {
    private static final List<String> SEEN = Collections.synchronizedList(new ArrayList<>());
    /** What a test keeps open, for the test outside to close. */
    private static Scope kept;

    @BeforeEach
    void forget() { SEEN.clear(); }

    @FabricTest
    static class Greeting {
        @BeforeEach
        void before(TestFabric fabric) { SEEN.add(fabric.toString() + fabric.hashCode()); }

        @Test
        void aMessageArrives(TestFabric fabric) {
            MemoryRegion from = fabric.client().allocate(64);
            MemoryRegion to = fabric.server().allocate(64);
            fabric.server().endpoint().messages().receive(to.slice(0, 64), 1);
            from.segment().setString(0, "Hello, server");
            fabric.client().endpoint().messages().send(from.slice(0, 64), fabric.client().peer(), 2);
            fabric.server().await(1);
            assertThat(to.segment().getString(0)).isEqualTo("Hello, server");
        }

        @AfterEach
        void after(TestFabric fabric) { SEEN.add(fabric.toString() + fabric.hashCode()); }
    }

    @Test
    void theMethodsThatRunForOneTestShareItsFabric() {
        assertThat(failures(Greeting.class)).isEmpty();
        assertThat(SEEN).hasSize(2);
        assertThat(SEEN.getFirst()).isEqualTo(SEEN.getLast());
    }

    @FabricTest
    static class Leaving {
        @Test
        void leavesARegion(TestFabric fabric) { fabric.client().domain().allocate(100, Access.READ); }
    }

    @Test
    void aTestThatLeavesARegionFailsAndNamesIt() {
        assertThat(failures(Leaving.class)).singleElement().asString()
                .startsWith("java.lang.AssertionError: the test has left something open: close these before Domain ")
                .contains(": MemoryRegion of 100 bytes");
    }

    @FabricTest
    static class LeavingAFile {
        @Test
        void opensAFabricOfItsOwn() {
            kept = Libfabric.load().openScope();
            var domain = kept.openFabric(Libfabric.load().info(FabricHints.rma().provider("shm")).getFirst())
                    .openDomain();
            domain.openEndpoint().bind(domain.openCompletionQueue()).bind(domain.openAddressVector()).enable();
        }
    }

    @Test
    void aTestThatLeavesAnEndpointOfItsOwnFabricFailsAndNamesTheFile() {
        try {
            assertThat(failures(LeavingAFile.class)).singleElement().asString()
                    .startsWith("java.lang.AssertionError: the test has left in /dev/shm: ");
        } finally {
            kept.close();
        }
    }

    @FabricTest
    static class FailingAndLeaving {
        @Test
        void fails(TestFabric fabric) {
            fabric.client().domain().allocate(100, Access.READ);
            throw new IllegalStateException("the test's own failure");
        }
    }

    @Test
    void theFailureOfATestIsNotHiddenByWhatItLeaves() {
        assertThat(failures(FailingAndLeaving.class)).singleElement().satisfies(failure -> {
            assertThat(failure).hasMessage("the test's own failure");
            assertThat(failure.getSuppressed()).singleElement().asString().contains("MemoryRegion of 100 bytes");
        });
    }

    @FabricTest(provider = "sockets")
    static class Named {
        @Test
        void ofTheClass(TestFabric fabric) { SEEN.add(fabric.toString()); }

        @Test
        @FabricTest(provider = "tcp;ofi_rxm")
        void ofTheMethod(TestFabric fabric) { SEEN.add(fabric.toString()); }
    }

    @Test
    void aProviderIsNamedForAClassOrAMethod() {
        assertThat(failures(Named.class)).isEmpty();
        assertThat(SEEN).containsExactlyInAnyOrder("TestFabric over sockets", "TestFabric over tcp;ofi_rxm");
    }

    @FabricTest
    static class AtTheSameTime {
        private static final CyclicBarrier BOTH = new CyclicBarrier(2);

        @Test
        void one(TestFabric fabric) throws Exception { writes(fabric); }

        @Test
        void other(TestFabric fabric) throws Exception { writes(fabric); }

        private static void writes(TestFabric fabric) throws Exception {
            MemoryRegion from = fabric.client().allocate(8);
            MemoryRegion to = fabric.server().allocate(8);
            BOTH.await(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            fabric.client().endpoint().rma().write(from.slice(0, 8), fabric.client().peer(), to.remote(), 1);
            SEEN.add(fabric + " " + fabric.client().await(1).token());
            BOTH.await(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void testsMayRunAtTheSameTime() {
        assertThat(failures(AtTheSameTime.class,
                Map.of("junit.jupiter.execution.parallel.enabled", "true",
                        "junit.jupiter.execution.parallel.mode.default", "concurrent",
                        "junit.jupiter.execution.parallel.config.strategy", "fixed",
                        "junit.jupiter.execution.parallel.config.fixed.parallelism", "2")))
                .isEmpty();
        assertThat(SEEN).containsExactly("TestFabric over shm 1", "TestFabric over shm 1");
    }

    private static List<Throwable> failures(Class<?> tests) { return failures(tests, Map.of()); }

    /** Runs the tests of a class; what those that failed have thrown. */
    private static List<Throwable> failures(Class<?> tests, Map<String, String> parameters) {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        List<String> run = Collections.synchronizedList(new ArrayList<>());
        LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(tests)).configurationParameters(parameters).build(),
                new TestExecutionListener() {
                    @Override
                    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                        if (test.isTest()) { run.add(test.getDisplayName()); }
                        result.getThrowable().ifPresent(thrown::add);
                    }
                });
        assertThat(run).as("the tests that have run").isNotEmpty();
        return thrown;
    }
}
