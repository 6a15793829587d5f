package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Receives that end without a message, in a JVM of their own, which a provider's error entry may end. It names a
 * provider before it begins with it.
 */
@Tag("gate")
class CanceledReceiveTest {
    private static final int RECEIVES = 20;

    @ParameterizedTest
    @ValueSource(strings = {"cancel", "close"})
    void eachComesBackOnceWhenItIsCanceledOrItsEndpointIsClosed(String how) {
        List<String> arguments = new ArrayList<>(List.of(how));
        Stream.concat(TestProviders.rma(), Stream.of("sm2")).forEach(arguments::add);
        Forked.Result result = Forked.run(Cancels.class, arguments.toArray(String[]::new));

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("each receive came back once");
    }

    private static final class Cancels {
        private static final int LENGTH = 64;

        private Cancels() {}

        public static void main(String[] arguments) {
            for (String provider : List.of(arguments).subList(1, arguments.length)) {
                System.out.println("over " + provider);
                FabricHints hints = provider.equals("sm2")
                        ? FabricHints.any().provider("sm2")
                        : TestProviders.hints(provider);
                try {
                    endReceives(TestProviders.info(hints.capabilities(Capability.MSG, Capability.TAGGED)),
                            arguments[0].equals("close"));
                } catch (NoProviderException e) {
                    if (!provider.equals("sm2")) { throw e; } // which not every libfabric has
                }
            }
            System.out.println("each receive came back once");
        }

        private static void endReceives(FabricInfo info, boolean closes) {
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
                if (closes) {
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
            if (canceled.stream().distinct().count() != RECEIVES) { throw new AssertionError(canceled.toString()); }
        }
    }
}
