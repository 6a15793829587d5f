package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The provider sm2, of libfabric 1.18 and newer, in a JVM of its own: what is not refused may end it. */
class Sm2Test {
    private static final String NONE = "there is no such provider";

    @Test
    void lengthsThatArePromisedHoldAndPeersHaveTheAddressThatWasInserted() {
        Forked.Result result = Forked.run(Promises.class);
        assumeFalse(result.output().contains(NONE), "this libfabric has no sm2");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("reading: ofi4j refuses", "setting: ofi4j refuses", "longest 64",
                "inserted and found: true", "received [1, 2]", "one peer: ofi4j refuses", "closed without peers",
                "closed");
    }

    private static final class Promises {
        private static final int LENGTH = 64;

        private Promises() {}

        public static void main(String[] arguments) {
            List<FabricInfo> found;
            try {
                found = Libfabric.load()
                        .info(FabricHints.messages().addCapabilities(Capability.DIRECTED_RECV).provider("sm2"));
            } catch (NoProviderException e) {
                System.out.println(NONE);
                return;
            }
            try (Fabric fabric = Libfabric.load().openFabric(found.getFirst());
                    Domain domain = fabric.openDomain();
                    MemoryRegion source = domain.allocate(LENGTH, Access.SEND);
                    MemoryRegion target = domain.allocate(LENGTH, Access.RECEIVE);
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    Endpoint near = domain.openEndpoint().bind(queue).bind(vector).enable();
                    Endpoint far = domain.openEndpoint().bind(queue).bind(vector)) {
                System.out.println(
                        "reading: " + Refusal.of(() -> far.options().get(EndpointOption.MINIMUM_MULTI_RECEIVE)));
                System.out.println(
                        "setting: " + Refusal.of(() -> far.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, 8L)));
                far.longestMessage(LENGTH).enable();
                System.out.println("longest " + far.options().get(EndpointOption.MINIMUM_MULTI_RECEIVE));
                Peer peer = vector.insert(far.address());
                System.out.println("inserted and found: " + vector.address(peer).equals(far.address()));
                far.messages().receive(target.slice(0, LENGTH), 1);
                near.messages().send(source.slice(0, LENGTH), peer, 2);
                List<Long> done = new ArrayList<>();
                Waiting.YIELD.until(() -> {
                    queue.poll((token, flags, length, data) -> done.add(token), 8);
                    return done.size() == 2;
                }, Pair.DEADLINE);
                System.out.println("received " + done.stream().sorted().toList());
                System.out.println(
                        "one peer: " + Refusal.of(() -> far.messages().receive(target.slice(0, LENGTH), peer, 3)));
                domain.openEndpoint().close();
                System.out.println("closed without peers");
            }
            System.out.println("closed");
        }
    }
}
