package io.ofi4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.Scope;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.ShmFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two sides in one process, without JUnit's extension; and what is said of what a test has left. */
class TestFabricTest {
    private static final String WHERE = "; with -Dio.ofi4j.leaks=report this says where it was opened";

    @ParameterizedTest
    @MethodSource("io.ofi4j.test.TestFabric#providers")
    void theCompletionOfAWriteSaysThatThePeerHasTheBytes(String provider) {
        try (TestFabric fabric = TestFabric.open(provider)) {
            MemoryRegion from = fabric.client().allocate(64);
            MemoryRegion to = fabric.server().allocate(64);
            from.segment().setString(0, "Hello, server");

            fabric.client().endpoint().rma().write(from.slice(0, 64), fabric.client().peer(), to.remote(), 1);
            fabric.client().await(1);

            assertThat(to.segment().getString(0)).isEqualTo("Hello, server");
        }
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.test.TestFabric#providers")
    void aMessageGoesThereAndBack(String provider) {
        try (TestFabric fabric = TestFabric.open(provider)) {
            assertThat(send(fabric.client(), fabric.server(), "ping")).isEqualTo("ping");
            assertThat(send(fabric.server(), fabric.client(), "pong")).isEqualTo("pong");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sockets"})
    void connectedEndpointsAreConnected(String provider) {
        FabricHints hints = FabricHints.connected().addCapabilities(Capability.MSG).provider(provider)
                .source("127.0.0.1", null);
        try (TestFabric fabric = TestFabric.open(hints)) {
            assertThat(send(fabric.client(), fabric.server(), "ping")).isEqualTo("ping");
            assertThat(send(fabric.server(), fabric.client(), "pong")).isEqualTo("pong");
        }
    }

    /** Sends a text; what has come. */
    private static String send(TestSide sender, TestSide receiver, String text) {
        MemoryRegion from = sender.allocate(64, Access.SEND);
        MemoryRegion to = receiver.allocate(64, Access.RECEIVE);
        receiver.endpoint().messages().receive(to.slice(0, 64), 1);
        from.segment().setString(0, text);
        sender.endpoint().messages().send(from.slice(0, text.length() + 1L), sender.peer(), 2);
        assertThat(receiver.await(1).length()).isEqualTo(text.length() + 1L);
        sender.await(2);
        return to.segment().getString(0);
    }

    @Test
    void aWriteWithDataIsAwaitedWithoutAToken() {
        try (TestFabric fabric = TestFabric.open("shm")) {
            MemoryRegion from = fabric.client().allocate(8);
            MemoryRegion to = fabric.server().allocate(8);

            fabric.client().endpoint().rma().writeData(from.slice(0, 8), 7, fabric.client().peer(), to.remote(), 1);

            assertThat(fabric.server().await(CompletionHandler.NO_TOKEN).data()).isEqualTo(7);
        }
    }

    @Test
    void aCompletionIsKeptForWhoWaitsForItLater() {
        try (TestFabric fabric = TestFabric.open("shm")) {
            MemoryRegion from = fabric.client().allocate(8);
            MemoryRegion to = fabric.server().allocate(8);
            Peer peer = fabric.client().peer();
            fabric.client().endpoint().rma().write(from.slice(0, 8), peer, to.remote(), 1);
            fabric.client().endpoint().rma().write(from.slice(0, 8), peer, to.remote(), 2);

            assertThat(fabric.client().await(2).token()).isEqualTo(2);
            assertThat(fabric.client().await(1).token()).isEqualTo(1);
        }
    }

    /** The rule that programs meet first: neither side makes progress by itself. */
    @Test
    void aConditionIsWaitedForWithProgressOnBothSides() {
        try (TestFabric fabric = TestFabric.open("tcp;ofi_rxm")) {
            MemoryRegion from = fabric.client().allocate(8);
            MemoryRegion to = fabric.server().allocate(8);
            int[] completed = new int[1];
            fabric.client().endpoint().rma().write(from.slice(0, 8), fabric.client().peer(), to.remote(), 1);

            fabric.until(() -> fabric.client().queue().poll((token, flags, length, data) -> completed[0]++, 1) > 0);

            assertThat(completed[0]).isOne();
        }
    }

    @Test
    void aWaitInVainSaysWhatHasCompleted() {
        System.setProperty("io.ofi4j.test.deadline", "1");
        try (TestFabric fabric = TestFabric.open("shm")) {
            assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> fabric.client().await(5))
                    .withMessage("waiting for token 5 at the client did not succeed within 1.0 s. Both sides have made"
                            + " progress. Nothing has completed there.");
            assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> fabric.until(() -> false))
                    .withMessage("waiting for a condition did not succeed within 1.0 s. Both sides have made progress."
                            + " Was everything posted that the condition needs?");
        } finally {
            System.clearProperty("io.ofi4j.test.deadline");
        }
    }

    @Test
    void aRegionThatTheTestHasLeftOpenIsNamed() {
        TestFabric fabric = TestFabric.open("shm");
        MemoryRegion left = fabric.client().domain().allocate(100, Access.READ);

        assertThatExceptionOfType(AssertionError.class).isThrownBy(fabric::close)
                .withMessage("the test has left something open: close these before " + fabric.client().domain()
                        + ": MemoryRegion of 100 bytes" + WHERE);
        assertThat(left.toString()).endsWith("(closed)");
    }

    @Test
    void anEndpointThatTheTestHasLeftOpenIsNamed() {
        TestFabric fabric = TestFabric.open("shm");
        Endpoint left = fabric.server().domain().openEndpoint();

        assertThatExceptionOfType(AssertionError.class).isThrownBy(fabric::close)
                .withMessage("the test has left something open: close these before " + fabric.server().domain() + ": "
                        + left + WHERE);
    }

    @Test
    void aThreadForTheProgressOfOneSideThatTheTestHasLeftRunningIsNamed() {
        TestFabric fabric = TestFabric.open("shm");
        ProgressThread left = fabric.server().domain().startProgress();

        assertThatExceptionOfType(AssertionError.class).isThrownBy(fabric::close)
                .withMessageContaining("before " + fabric.server().domain() + ": ");
        assertThat(left.isRunning()).isFalse();
    }

    @Test
    void whatAllocateHasGivenBelongsToTheFabric() {
        TestFabric fabric = TestFabric.open("shm");
        MemoryRegion own = fabric.client().allocate(8);
        fabric.client().allocate(8).close();

        assertThatCode(fabric::close).doesNotThrowAnyException();
        assertThat(own.toString()).endsWith("(closed)");
    }

    @Test
    void aFileOfAnotherFabricThatTheTestHasLeftIsNamed() {
        Libfabric libfabric = Libfabric.load();
        try (Scope scope = libfabric.openScope()) {
            TestFabric fabric = TestFabric.open("shm");
            Fabric another = scope.openFabric(libfabric.info(FabricHints.rma().provider("shm")).getFirst());
            TestSide side = new TestSide(fabric, "another", another.openDomain());
            side.enable();

            assertThatExceptionOfType(AssertionError.class).isThrownBy(fabric::close)
                    .withMessageStartingWith("the test has left in /dev/shm: "
                            + ShmFile.of(side.endpoint()).getFileName() + "; close the endpoints that it opens");
        }
    }

    /** Nobody can tell whose it is. */
    @Test
    void ofTestsThatRunAtTheSameTimeTheLastOneNamesTheFile() {
        Libfabric libfabric = Libfabric.load();
        try (Scope scope = libfabric.openScope()) {
            TestFabric first = TestFabric.open("shm");
            TestFabric last = TestFabric.open("shm");
            Fabric another = scope.openFabric(libfabric.info(FabricHints.rma().provider("shm")).getFirst());
            new TestSide(first, "another", another.openDomain()).enable();

            assertThatCode(first::close).doesNotThrowAnyException();
            assertThatExceptionOfType(AssertionError.class).isThrownBy(last::close)
                    .withMessageStartingWith("one of the tests that ran at the same time has left in /dev/shm: ");
        }
    }

    @Test
    void aFileThatWasThereBeforeIsNotLeftByTheTest() {
        try (TestFabric before = TestFabric.open("shm")) {
            TestFabric fabric = TestFabric.open("shm");

            assertThatCode(fabric::close).doesNotThrowAnyException();
            assertThat(send(before.client(), before.server(), "still open")).isEqualTo("still open");
        }
    }

    @Test
    void aSecondCloseDoesNothing() {
        TestFabric fabric = TestFabric.open("shm");
        fabric.client().domain().allocate(8, Access.READ);
        assertThatExceptionOfType(AssertionError.class).isThrownBy(fabric::close);

        assertThatCode(fabric::close).doesNotThrowAnyException();
    }

    @Test
    void aProviderThatIsNotThereIsRefused() {
        assertThatExceptionOfType(NoProviderException.class).isThrownBy(() -> TestFabric.open("nonsense"))
                .withMessageContaining("No provider 'nonsense' can be used on this machine");
    }
}
