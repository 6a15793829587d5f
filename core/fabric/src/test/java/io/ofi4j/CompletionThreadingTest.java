package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Threading model COMPLETION, with which tcp of libfabric 2.x makes of each queue a domain of its own. */
@Tag("gate")
class CompletionThreadingTest {
    /** Whether each queue is a domain of its own. */
    private static boolean hasQueueDomains(String provider) {
        return provider.equals("tcp") && !TestProviders.isBefore(2, 0);
    }

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).threading(ThreadingModel.COMPLETION);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatNoEndpointWasEnabledWithEndsNoProcess(String provider) {
        Forked.Result result = Forked.run(PollsAndClosesWhatIsNotEnabled.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aQueueThatIsNewToAVectorWithPeersIsRefusedOnTcp(String provider) {
        try (Pair pair = new Pair(hints(provider));
                CompletionQueue another = pair.domain.openCompletionQueue();
                AddressVector itsOwn = pair.domain.openAddressVector();
                Endpoint late = pair.domain.openEndpoint().bind(pair.vector).bind(another);
                Endpoint sameQueue = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue);
                Endpoint sameVector = pair.domain.openEndpoint().bind(itsOwn).bind(another);
                Endpoint divided = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue, Direction.TRANSMIT)
                        .bind(pair.farQueue, Direction.RECEIVE)) {
            sameQueue.enable();
            sameVector.enable();
            if (hasQueueDomains(provider)) {
                assertThatIllegalStateException().isThrownBy(late::enable)
                        .withMessage("ofi4j refuses peers that are inserted before an endpoint of the queue is enabled,"
                                + " with ThreadingModel.COMPLETION over tcp of libfabric " + Libfabric.load().version()
                                + ", which gives the queue an incomplete copy of them: enable endpoints before"
                                + " inserting peers, or open an address vector for each queue");
                assertThatIllegalStateException().isThrownBy(divided::enable)
                        .withMessage("ofi4j refuses different queues for the two directions of an endpoint with"
                                + " ThreadingModel.COMPLETION over tcp of libfabric " + Libfabric.load().version()
                                + ", which makes each queue a domain of its own: bind one queue for both directions,"
                                + " or ask for another threading model");
            } else {
                late.enable();
                divided.enable();
            }
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aFabricClosesAfterARegionThatIsOlderThanItsEndpoint(String provider) {
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints(provider)));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                MemoryRegion region = domain.allocate(64, Access.WRITE);
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable()) {
            assertThat(region.isOpen() && endpoint.wasEnabled()).isTrue();
        }
    }

    static Stream<String> withNames() {
        return TestProviders.rma().filter(name -> !name.equals("shm") && !name.contains("ofi_rxd"));
    }

    @ForEachProvider
    @MethodSource("withNames")
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aServiceIsInsertedByItsNames(String provider) {
        try (Pair pair = new Pair(hints(provider))) {
            int port = ByteBuffer.wrap(pair.farEndpoint.address().toBytes()).getShort(2) & 0xffff;

            Peer found = pair.vector.insertService(TestProviders.address(provider), Integer.toString(port));

            assertThat(found.fabricAddress()).isEqualTo(pair.far.fabricAddress());
        }
    }

    @ParameterizedTest
    @EnumSource(value = WaitObject.class, names = {"UNSPECIFIED", "FD"})
    void waitObjectsAreRefusedOnTcp(WaitObject object) {
        Optional<String> found = TestProviders.rma().filter(name -> name.matches("net|tcp")).findFirst();
        assumeTrue(found.isPresent(), "this libfabric has neither net nor tcp without connections");
        String provider = found.get();
        try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints(provider)));
                Domain domain = fabric.openDomain()) {
            ThrowingCallable queue = () -> domain
                    .openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(object)).close();
            ThrowingCallable counter = () -> domain.openCounter(CounterAttributes.defaults().waitObject(object))
                    .close();
            for (ThrowingCallable open : List.of(queue, counter)) {
                if (hasQueueDomains(provider)) {
                    assertThatThrownBy(open).isInstanceOf(UnsupportedOperationException.class)
                            .hasMessage("ofi4j refuses wait objects of queues and counters with"
                                    + " ThreadingModel.COMPLETION over tcp of libfabric " + Libfabric.load().version()
                                    + ", which ends the process when it is asked for one: poll, or ask for another"
                                    + " threading model");
                } else {
                    assertThatCode(open).doesNotThrowAnyException();
                }
            }
        }
    }

    static final class PollsAndClosesWhatIsNotEnabled {
        private PollsAndClosesWhatIsNotEnabled() {}

        public static void main(String[] arguments) {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(hints(arguments[0])));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector()) {
                if (queue.poll((token, flags, length, data) -> {}, 1) != 0) {
                    throw new AssertionError("a completion of nothing");
                }
                queue.progress();
                domain.openEndpoint().close();
                domain.openEndpoint().bind(queue).bind(vector).close();
                queue.progress();
            }
        }
    }
}
