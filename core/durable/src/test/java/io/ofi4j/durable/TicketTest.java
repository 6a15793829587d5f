package io.ofi4j.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.TestSeed;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Whatever bytes are decoded as a ticket: they are what was encoded, or the exception says what they are not. */
class TicketTest {
    private static final int ROUNDS = 50_000;
    private static final SaveService.Ticket ONE = new SaveService.Ticket(
            EndpointAddress.of(new byte[]{1, 2, 3, 4, 5}, AddressFormat.SOCKADDR_IN),
            new RemoteRegion(4096, 64, -7, Access.REMOTE_WRITE.bit()));

    @Test
    void randomBytesAreRefused() {
        Random random = TestSeed.random("ticket");
        byte[] encoded = ONE.encode();
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = new byte[random.nextInt(600)];
            random.nextBytes(bytes);
            // From some rounds on the head is right, so that what follows it is reached.
            System.arraycopy(encoded, 0, bytes, 0, Math.min(random.nextInt(encoded.length), bytes.length));
            check(bytes);
        }
    }

    @Test
    void damagedBytesAreRefused() {
        Random random = TestSeed.random("ticket");
        assertThat(SaveService.Ticket.decode(ONE.encode())).isEqualTo(ONE);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = ONE.encode();
            for (int change = random.nextInt(3); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            check(bytes);
        }
    }

    private static void check(byte[] bytes) {
        SaveService.Ticket decoded;
        try {
            decoded = SaveService.Ticket.decode(bytes);
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        }
        assertThat(decoded.encode()).isEqualTo(bytes);
    }
}
