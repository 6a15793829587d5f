package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Capability;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Mailbox;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages of one peer are matched with receives in order. Their completions need not come in that order. */
@Timeout(600)
class MessageOrderTest {
    private static final int LONG = 64 << 10;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void aLongMessageTakesTheFirstReceiveWhicheverCompletesFirst(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.MSG, Capability.RMA)) {
            for (int round = 0; round < 20; round++) {
                box.nearDone.done.clear();
                box.farDone.done.clear();
                box.write(LONG, round);
                box.pair.farEndpoint.messages().receive(box.far.slice(0, LONG), 1);
                box.pair.farEndpoint.messages().receive(box.far.slice(LONG + 64, LONG), 2);
                box.pair.endpoint.messages().send(box.near.slice(0, LONG), box.pair.far, 11);
                box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, 12);
                box.await(2, 2);

                assertThat(box.farDone.tokens()).containsExactlyInAnyOrder(1L, 2L);
                assertThat(box.farDone.done).filteredOn(done -> done.token() == 1).singleElement()
                        .satisfies(done -> assertThat(done.length()).isEqualTo(LONG));
                assertThat(box.farDone.done).filteredOn(done -> done.token() == 2).singleElement()
                        .satisfies(done -> assertThat(done.length()).isEqualTo(8));
                assertThat(box.hasArrived(LONG)).isTrue();
                if (box.pair.endpoint.info().receive().completesInOrder()) {
                    assertThat(box.farDone.tokens()).containsExactly(1L, 2L);
                }
            }
        }
    }
}
