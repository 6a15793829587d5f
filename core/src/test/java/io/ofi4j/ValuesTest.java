package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** What travels between processes survives the way, and what is damaged is refused. */
class ValuesTest {
    private static final long RIGHTS = Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit();

    private final Random random = new Random();

    @RepeatedTest(50)
    void aRegionSurvivesEncodingAndDecoding() {
        RemoteRegion region = new RemoteRegion(random.nextLong(), random.nextLong() >>> 1, random.nextLong(), RIGHTS);

        byte[] encoded = region.encode();

        assertThat(encoded).hasSize(RemoteRegion.ENCODED_LENGTH);
        assertThat(RemoteRegion.decode(encoded)).isEqualTo(region);
    }

    @Test
    void everyFlippedBitIsNoticed() {
        byte[] encoded = new RemoteRegion(1, 2, 3, RIGHTS).encode();
        for (int bit = 0; bit < encoded.length * Byte.SIZE; bit++) {
            byte[] damaged = encoded.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatIllegalArgumentException().as("bit %d", bit).isThrownBy(() -> RemoteRegion.decode(damaged));
        }
    }

    @RepeatedTest(50)
    void bytesThatAreNoRegionAreRefused() {
        byte[] noise = new byte[random.nextInt(100)];
        random.nextBytes(noise);

        assertThatIllegalArgumentException().isThrownBy(() -> RemoteRegion.decode(noise));
    }

    @Test
    void anotherFormatIsNamed() {
        byte[] encoded = new RemoteRegion(1, 2, 3, RIGHTS).encode();
        encoded[5] = 2;

        assertThatIllegalArgumentException().isThrownBy(() -> RemoteRegion.decode(encoded))
                .withMessageContaining("format 2").withMessageContaining("same release");
    }

    @Test
    void aRegionDoesNotPrintItsKey() {
        assertThat(new RemoteRegion(0, 2, 0x1234567890L, RIGHTS).toString())
                .doesNotContain(Long.toString(0x1234567890L)).contains("length=2");
    }

    @Test
    void addressesAreValues() {
        byte[] bytes = {1, 2, 3};
        EndpointAddress address = EndpointAddress.of(bytes);
        bytes[0] = 9;

        assertThat(address).isEqualTo(EndpointAddress.of(new byte[]{1, 2, 3})).hasToString("010203");
        assertThat(address.toBytes()).isEqualTo(new byte[]{1, 2, 3}).isNotSameAs(address.toBytes());
        assertThat(address.hashCode()).isEqualTo(Arrays.hashCode(new byte[]{1, 2, 3}));
    }

    @RepeatedTest(50)
    void anAddressSurvivesEncodingAndDecoding() {
        byte[] bytes = new byte[1 + random.nextInt(512)];
        random.nextBytes(bytes);
        int format = random.nextInt(20);

        EndpointAddress decoded = EndpointAddress.decode(EndpointAddress.of(bytes, format).encode());

        assertThat(decoded).isEqualTo(EndpointAddress.of(bytes));
        assertThat(decoded.format()).isEqualTo(format);
    }

    @Test
    void everyFlippedBitOfAnAddressIsNoticed() {
        byte[] encoded = EndpointAddress.of(new byte[]{1, 2, 3, 4, 5}, 2).encode();
        for (int bit = 0; bit < encoded.length * Byte.SIZE; bit++) {
            byte[] damaged = encoded.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatIllegalArgumentException().as("bit %d", bit).isThrownBy(() -> EndpointAddress.decode(damaged));
        }
        for (int length = 0; length < encoded.length; length++) {
            byte[] cut = Arrays.copyOf(encoded, length);
            assertThatIllegalArgumentException().as("length %d", length).isThrownBy(() -> EndpointAddress.decode(cut));
        }
    }

    @Test
    void anotherEncodingOfAnAddressIsNamed() {
        byte[] encoded = EndpointAddress.of(new byte[]{1}, 2).encode();
        encoded[5] = 9;

        assertThatIllegalArgumentException().isThrownBy(() -> EndpointAddress.decode(encoded))
                .withMessageContaining("format 9").withMessageContaining("same release");
    }

    @Test
    void versionsCompareByNumber() {
        assertThat(new Version(1, 17)).isLessThan(new Version(2, 1)).isGreaterThan(new Version(1, 9));
        assertThat(Version.of(new Version(2, 1).packed())).isEqualTo(new Version(2, 1)).hasToString("2.1");
    }
}
