package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Endpoints whose default flags have INJECT, over every provider with tags that offers that. */
@Timeout(600)
class InjectedByDefaultTest {
    private static final String EVERY = "offering";
    private static final long TAG = 7;

    private static FabricHints hints(String provider) {
        return TestProviders.hints(provider).capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA)
                .operationFlags(OperationFlag.INJECT);
    }

    static Stream<String> offering() { return TestProviders.rma().filter(InjectedByDefaultTest::isOffered); }

    private static boolean isOffered(String provider) {
        try {
            TestProviders.info(hints(provider));
            return true;
        } catch (NoProviderException e) {
            assertThat(e).hasMessageContaining("[INJECT] by default");
            return false;
        }
    }

    private static Mailbox open(String provider) { return new Mailbox(hints(provider)); }

    private static boolean isRefused(String provider, Mailbox box) {
        if (!ProviderFault.INJECTED_MESSAGES_HANG.isOf(provider)) { return false; }
        assertThatThrownBy(box.pair.endpoint::tagged).isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("INJECT");
        return true;
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void theBytesMayChangeWhenTheCallReturns(String provider) {
        try (Mailbox box = open(provider)) {
            if (isRefused(provider, box)) { return; }
            int length = (int) Math.min(64, box.pair.endpoint.tagged().injectSize());
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, length), TAG, 0, 1);
            box.pair.farEndpoint.messages().receive(box.far.slice(length, length), 2);
            box.write(length, 1);
            box.pair.endpoint.tagged().send(box.near.slice(0, length), box.pair.far, TAG, 3);
            box.write(length, 2);
            box.pair.endpoint.messages().send(box.near.slice(0, length), box.pair.far, 4);
            box.near.segment().asSlice(0, length).fill((byte) 0);
            box.await(2, 2);

            assertThat(box.nearDone.tokens()).containsExactlyInAnyOrder(3L, 4L);
            assertThat(box.nearDone.errors).isEmpty();
            box.write(length, 1);
            assertThat(box.far.segment().asSlice(0, length).mismatch(box.near.segment().asSlice(0, length)))
                    .as("the tagged message").isEqualTo(-1);
            box.write(length, 2);
            assertThat(box.far.segment().asSlice(length, length).mismatch(box.near.segment().asSlice(0, length)))
                    .as("the other message").isEqualTo(-1);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void aMessageThatIsLongerThanAnInjectIsRefused(String provider) {
        try (Mailbox box = open(provider)) {
            if (isRefused(provider, box)) { return; }
            Tagged tagged = box.pair.endpoint.tagged();
            assertThat(tagged.maximumMessageSize()).isEqualTo(tagged.injectSize());
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tagged.trySend(box.near, 0, tagged.injectSize() + 1, box.pair.far, TAG, 1))
                    .withMessageContaining("at most " + tagged.injectSize());
            PreparedMessage message = tagged.prepare().peer(box.pair.far).tag(TAG).local(box.near, 0,
                    tagged.injectSize() + 1);
            assertThatIllegalArgumentException().isThrownBy(() -> message.send(1))
                    .withMessageContaining("at most " + tagged.injectSize());
            box.write(tagged.injectSize() + 1, 1);
            box.pair.farEndpoint.tagged().receive(box.far.slice(0, tagged.injectSize() + 1), TAG, 0, 2);
            message.flags(OperationFlag.TRANSMIT_COMPLETE).send(3); // in place of INJECT
            box.await(1, 1);
            assertThat(box.hasArrived(tagged.injectSize() + 1)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void otherOperationsThanMessagesAreRefused(String provider) {
        try (Mailbox box = open(provider)) {
            assertThatThrownBy(box.pair.endpoint::rma).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContainingAll("INJECT", "PreparedRma.flags");
        }
    }
}
