package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.Capability;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.TestProviders;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages of endpoints of type DGRAM. Over loopback, and few at a time, none is lost. */
@Timeout(300)
class DatagramTest {
    private static final String EVERY = "io.ofi4j.support.TestProviders#datagrams";
    private static final int SENT = 1;
    private static final int RECEIVED = 2;

    private static Mailbox open(String provider) { return new Mailbox(provider, Capability.MSG); }

    @ForEachProvider
    @MethodSource(EVERY)
    void aDatagramOfTheLargestSizeArrivesWhole(String provider) {
        try (Mailbox box = open(provider)) {
            long largest = Math.min(box.pair.endpoint.messages().maximumMessageSize(), 64 << 10);
            box.write(largest, 1);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, largest), RECEIVED);
            box.pair.endpoint.messages().send(box.near.slice(0, largest), box.pair.far, SENT);
            box.await(1, 1);

            assertThat(box.farDone.done.getFirst().length()).isEqualTo(largest);
            assertThat(box.hasArrived(largest)).isTrue();
        }
    }

    @Test
    void aMessageThatFitsIntoNoPacketIsRefused() {
        try (Mailbox box = open("DGRAM udp")) {
            Messages messages = box.pair.endpoint.messages();
            assertThatIllegalArgumentException().isThrownBy(
                    () -> messages.send(box.near.slice(0, messages.maximumMessageSize() + 1), box.pair.far, SENT))
                    .withMessageContaining(String.valueOf(messages.maximumMessageSize()));
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void injectsAndVectorsArrive(String provider) {
        try (Mailbox box = open(provider)) {
            Messages messages = box.pair.endpoint.messages();
            box.write(48, 2);
            box.pair.farEndpoint.messages().prepare().local(box.far, 16, 32).local(box.far, 0, 16).receive(RECEIVED);
            messages.prepare().peer(box.pair.far).local(box.near, 16, 32).local(box.near, 0, 16).send(SENT);
            box.await(1, 1);
            assertThat(box.hasArrived(48)).isTrue();

            box.write(40, 3);
            box.far.segment().fill((byte) 0);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 64), RECEIVED);
            messages.inject(box.near.slice(0, 40), box.pair.far);
            box.await(1, 2);
            assertThat(box.hasArrived(40)).isTrue();
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void preparedMessagesArrive(String provider) {
        try (Mailbox box = open(provider)) {
            box.write(48, 4);
            box.pair.farEndpoint.messages().prepare().local(box.far, 0, 48).receive(RECEIVED);
            box.pair.endpoint.messages().prepare().peer(box.pair.far).local(box.near, 0, 48).send(SENT);
            box.await(1, 1);

            assertThat(box.farDone.tokens()).containsExactly((long) RECEIVED);
            assertThat(box.nearDone.tokens()).containsExactly((long) SENT);
            assertThat(box.hasArrived(48)).isTrue();
        }
    }

    @Test
    void whatUdpLacksIsRefusedByName() {
        try (Mailbox box = open("DGRAM udp")) {
            Messages messages = box.pair.farEndpoint.messages();
            messages.receive(box.far.slice(0, 64), RECEIVED);
            assertThatThrownBy(() -> messages.cancel(RECEIVED)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("fi_cancel");
            assertThatThrownBy(() -> messages.sendData(box.far.slice(0, 8), 1, box.back, SENT))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("completion data");
            assertThatThrownBy(() -> messages.receive(box.far.slice(0, 8), box.back, RECEIVED))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("DIRECTED_RECV");
            assertThatThrownBy(() -> messages.receiveMany(box.far.slice(0, 4096), RECEIVED))
                    .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining("MULTI_RECV");
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void theSenderIsNamedWhereThatIsAskedFor(String provider) {
        try (Mailbox box = new Mailbox(provider, Capability.MSG, Capability.SOURCE)) {
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 8), RECEIVED);
            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, SENT);
            box.await(1, 1);

            assertThat(box.farDone.done.getFirst().source()).isEqualTo(box.back.fabricAddress());
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void everyReceiveComesBackWhenItsEndpointCloses(String provider) {
        try (Mailbox box = open(provider)) {
            for (int i = 0; i < 10; i++) {
                box.pair.farEndpoint.messages().receive(box.far.slice(8 * i, 8), i);
            }
            box.pair.farEndpoint.close();
            box.await(0, 10);

            assertThat(box.farDone.errors).extracting(CompletionError::token)
                    .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 10).boxed().toList());
            assertThat(box.farDone.errors).extracting(CompletionError::errno).containsOnly(Errno.ECANCELED);
        }
    }

    @ForEachProvider
    @MethodSource(EVERY)
    void theOtherFamiliesAreRefusedByName(String provider) {
        try (Mailbox box = open(provider)) {
            assertThatThrownBy(box.pair.endpoint::tagged).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("TAGGED");
            assertThatThrownBy(box.pair.endpoint::atomics).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("ATOMIC");
            assertThatThrownBy(box.pair.endpoint::rma).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("RMA");
        }
    }
}
