package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/** Receives that end without a message, in a JVM of their own, which a provider's error entry may end. */
@Tag("gate")
class CanceledReceiveTest {
    private static final String NONE = "there is no such provider";
    private static final int RECEIVES = 20;

    static Stream<String> providers() { return Stream.concat(TestProviders.rma(), Stream.of("sm2")); }

    @ForEachProvider
    @MethodSource("providers")
    void eachComesBackOnceWhenItIsCanceled(String provider) {
        requireCanceled(Forked.run(Cancels.class, provider, "cancel"));
    }

    @ForEachProvider
    @MethodSource("providers")
    void eachComesBackOnceWhenItsEndpointIsClosed(String provider) {
        requireCanceled(Forked.run(Cancels.class, provider, "close"));
    }

    private static void requireCanceled(Forked.Result result) {
        assumeFalse(result.output().contains(NONE), "this libfabric has no such provider");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains(RECEIVES + " canceled");
    }

    private static final class Cancels {
        private static final int LENGTH = 64;

        private Cancels() {}

        public static void main(String[] arguments) {
            FabricHints hints = arguments[0].equals("sm2")
                    ? FabricHints.any().provider("sm2")
                    : TestProviders.hints(arguments[0]);
            FabricInfo info;
            try {
                info = TestProviders.info(hints.capabilities(Capability.MSG, Capability.TAGGED));
            } catch (NoProviderException e) {
                System.out.println(NONE);
                return;
            }
            List<Long> canceled = new ArrayList<>();
            CompletionHandler handler = new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) {
                    throw new AssertionError("no message was sent");
                }

                @Override
                public void onError(CompletionError error) {
                    if (error.errno() != Errno.ECANCELED) { throw new AssertionError(error.toString()); }
                    canceled.add(error.token());
                }
            };
            try (Fabric fabric = Libfabric.load().openFabric(info);
                    Domain domain = fabric.openDomain();
                    MemoryRegion region = domain.allocate(LENGTH, Access.RECEIVE);
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector()) {
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector).enable();
                for (int i = 0; i < RECEIVES; i += 2) {
                    endpoint.messages().receive(region.slice(0, LENGTH), i);
                    endpoint.tagged().receive(region.slice(0, LENGTH), i, 0, i + 1);
                }
                if (arguments[1].equals("close")) {
                    endpoint.close();
                } else {
                    for (int i = 0; i < RECEIVES; i += 2) {
                        endpoint.messages().cancel(i);
                        endpoint.tagged().cancel(i + 1);
                    }
                }
                Waiting.YIELD.until(() -> {
                    queue.poll(handler, RECEIVES);
                    return canceled.size() >= RECEIVES;
                }, Pair.DEADLINE);
                endpoint.close();
            }
            System.out.println(canceled.stream().distinct().count() + " canceled");
        }
    }
}
