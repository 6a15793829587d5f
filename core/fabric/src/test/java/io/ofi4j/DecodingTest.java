package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.TestSeed;
import java.util.HexFormat;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever bytes are decoded: they are what was encoded, or the exception that is documented says what they are not.
 */
@Tag("gate")
@Tag("once")
class DecodingTest {
    private static final int ROUNDS = Rounds.of(20_000);
    private static final int MAXIMUM = 600;

    /** What decodes, and encodes again, and an example of what was encoded. */
    static Stream<Arguments> decoders() {
        Function<byte[], byte[]> region = bytes -> RemoteRegion.decode(bytes).encode();
        Function<byte[], byte[]> address = bytes -> EndpointAddress.decode(bytes).encode();
        Function<byte[], byte[]> rawKey = bytes -> RawKey.decode(bytes).encode();
        return Stream.of(
                Arguments.of("RemoteRegion", region, new RemoteRegion(4096, 1L << 40, -7, Access.ALL).encode()),
                Arguments.of("EndpointAddress", address,
                        EndpointAddress.of(new byte[]{1, 2, 3, 4, 5}, AddressFormat.SOCKADDR_IN).encode()),
                Arguments.of("RawKey", rawKey, new RawKey(4096, 1L << 40, Access.ALL, new byte[32]).encode()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("decoders")
    void randomBytesAreRefused(String name, Function<byte[], byte[]> decoder, byte[] encoded) {
        Random random = TestSeed.random(name);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = new byte[random.nextInt(MAXIMUM)];
            random.nextBytes(bytes);
            // From some rounds on the head is right, so that what follows it is reached.
            System.arraycopy(encoded, 0, bytes, 0, Math.min(random.nextInt(encoded.length), bytes.length));
            check(decoder, bytes);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("decoders")
    void damagedBytesAreRefused(String name, Function<byte[], byte[]> decoder, byte[] encoded) {
        Random random = TestSeed.random(name);
        assertThat(decoder.apply(encoded)).isEqualTo(encoded);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = encoded.clone();
            for (int change = random.nextInt(3); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            check(decoder, bytes);
        }
    }

    private static void check(Function<byte[], byte[]> decoder, byte[] bytes) {
        byte[] again;
        try {
            again = decoder.apply(bytes);
        } catch (IllegalArgumentException e) {
            assertThat(e.getMessage()).isNotBlank();
            return;
        } catch (RuntimeException e) {
            throw new AssertionError(HexFormat.of().formatHex(bytes), e);
        }
        assertThat(again).isEqualTo(bytes);
    }
}
