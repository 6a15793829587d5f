package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.Version;
import io.ofi4j.info.VersionRange;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.TestInfo;

/** What travels between processes survives the way, and what is damaged is refused. */
class ValuesTest {
    private static final long RIGHTS = Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit();

    private Random random;

    @BeforeEach
    void seed(TestInfo info) { random = TestSeed.random(info.getTestMethod() + info.getDisplayName()); }

    @RepeatedTest(50)
    void aRegionSurvivesEncodingAndDecoding() {
        RemoteRegion region = new RemoteRegion(random.nextLong() >>> 1, random.nextLong() >>> 1, random.nextLong(),
                RIGHTS);

        byte[] encoded = region.encode();

        assertThat(encoded).hasSize(RemoteRegion.ENCODED_LENGTH);
        assertThat(RemoteRegion.decode(encoded)).isEqualTo(region);
    }

    @Test
    void aNumberIsPutOnlyWhereItsTypeHasIt() {
        assertRange(Datatype.INT8, -128, 127);
        assertRange(Datatype.UINT8, 0, 255);
        assertRange(Datatype.INT16, -32768, 32767);
        assertRange(Datatype.UINT16, 0, 65535);
        assertRange(Datatype.INT32, Integer.MIN_VALUE, Integer.MAX_VALUE);
        assertRange(Datatype.UINT32, 0, (1L << 32) - 1);
        for (Datatype wide : List.of(Datatype.INT64, Datatype.UINT64)) {
            for (long number : new long[]{Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
                assertThat(put(wide, number).get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(number);
            }
        }
    }

    private static void assertRange(Datatype datatype, long least, long most) {
        long mask = -1L >>> Long.SIZE - datatype.size() * Byte.SIZE;
        for (long number : new long[]{least, 0, 1, most}) {
            long bits = put(datatype, number).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            assertThat(bits).as("%s %d", datatype, number).isEqualTo(number & mask);
        }
        for (long number : new long[]{least - 1, most + 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThatIllegalArgumentException().as("%s %d", datatype, number).isThrownBy(() -> put(datatype, number))
                    .withMessageContaining(datatype + " has no element " + number);
        }
    }

    private static MemorySegment put(Datatype datatype, long number) {
        MemorySegment memory = MemorySegment.ofArray(new byte[Long.BYTES]);
        assertThat(datatype.put(memory, 0, number)).isZero();
        return memory;
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
        encoded[5] = 3;

        assertThatIllegalArgumentException().isThrownBy(() -> RemoteRegion.decode(encoded))
                .withMessageContaining("format 3").withMessageContaining("same release");
    }

    @RepeatedTest(50)
    void aRawKeySurvivesEncodingAndDecoding() {
        byte[] key = new byte[random.nextInt(100)];
        random.nextBytes(key);
        RawKey raw = new RawKey(random.nextLong() >>> 1, random.nextLong() >>> 1, RIGHTS, key);

        RawKey decoded = RawKey.decode(raw.encode());

        assertThat(decoded).isEqualTo(raw).hasSameHashCodeAs(raw);
        assertThat(decoded.key()).isEqualTo(key);
        assertThat(decoded.withKey(7)).isEqualTo(new RemoteRegion(raw.base(), raw.length(), 7, RIGHTS));
    }

    @RepeatedTest(50)
    void aRawKeyThatIsDamagedOrCutIsRefused() {
        byte[] key = new byte[1 + random.nextInt(40)];
        random.nextBytes(key);
        byte[] encoded = new RawKey(1, 2, RIGHTS, key).encode();
        byte[] cut = Arrays.copyOf(encoded, random.nextInt(encoded.length));
        byte[] longer = Arrays.copyOf(encoded, encoded.length + 1 + random.nextInt(9));
        assertThatIllegalArgumentException().isThrownBy(() -> RawKey.decode(cut));
        assertThatIllegalArgumentException().isThrownBy(() -> RawKey.decode(longer));
        for (int bit = 0; bit < encoded.length * Byte.SIZE; bit++) {
            byte[] damaged = encoded.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatIllegalArgumentException().as("bit %d", bit).isThrownBy(() -> RawKey.decode(damaged));
        }
    }

    @Test
    void theTwoFormatsAreToldApart() {
        RawKey raw = new RawKey(1, 2, RIGHTS, new byte[]{9, 8, 7});

        assertThatIllegalArgumentException().isThrownBy(() -> RemoteRegion.decode(raw.encode()))
                .withMessageContaining("RawKey.decode");
        assertThatIllegalArgumentException().isThrownBy(() -> RawKey.decode(new RemoteRegion(1, 2, 3, RIGHTS).encode()))
                .withMessageContaining("format 1").withMessageContaining("RemoteRegion");
        assertThat(raw.toString()).contains("length=2").doesNotContain("9, 8");
    }

    @RepeatedTest(20)
    void severalDamagedBytesAreNoticed() {
        byte[] encoded = new RemoteRegion(random.nextLong() >>> 1, 2, random.nextLong(), RIGHTS).encode();
        byte[] damaged = encoded.clone();
        for (int i = 0; i < 1 + random.nextInt(8); i++) {
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
        }
        if (!Arrays.equals(encoded, damaged)) {
            assertThatIllegalArgumentException().isThrownBy(() -> RemoteRegion.decode(damaged));
        }
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
        byte[] bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 512 : 65_535)];
        random.nextBytes(bytes);
        AddressFormat format = AddressFormat.values()[random.nextInt(AddressFormat.values().length)];

        EndpointAddress decoded = EndpointAddress.decode(EndpointAddress.of(bytes, format).encode());

        assertThat(decoded).isEqualTo(EndpointAddress.of(bytes));
        assertThat(decoded.format()).isEqualTo(format);
    }

    @Test
    void everyFlippedBitOfAnAddressIsNoticed() {
        byte[] encoded = EndpointAddress.of(new byte[]{1, 2, 3, 4, 5}, AddressFormat.SOCKADDR_IN).encode();
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
    void addressesAreReadableWhereTheirFormatIsKnown() {
        assertThat(EndpointAddress.of(new InetSocketAddress("127.0.0.1", 47_471))).hasToString("127.0.0.1:47471");
        assertThat(EndpointAddress.of(new InetSocketAddress("::1", 80))).hasToString("[0:0:0:0:0:0:0:1]:80");
        assertThat(TestProviders.info("shm").addressNamed("server")).hasToString("fi_shm://server");
        assertThat(EndpointAddress.of(new byte[16])).hasToString("0".repeat(32));
        assertThat(EndpointAddress.of(new byte[]{2, 0, 1})).hasToString("020001");
    }

    @Test
    @Timeout(10)
    void aLongAddressIsShortInSentences() {
        byte[] zerosAndOne = new byte[65_535];
        zerosAndOne[65_534] = 1;

        assertThat(EndpointAddress.of(zerosAndOne)).hasToString("0".repeat(64) + "... (65535 bytes)");
        assertThat(EndpointAddress.of(new byte[257])).hasToString("0".repeat(64) + "... (257 bytes)");
        assertThat(EndpointAddress.of(new byte[256])).hasToString("0".repeat(512));
    }

    @Test
    void errorsAndEventsPrintNoArrays() {
        CompletionError error = new CompletionError(7, true, 0, 0, 0, 0, 0, 0, 5, 3, "gone", new byte[3], "shm");
        EventError event = new EventError(Optional.empty(), 0, 0, 111, 0, "", new byte[2], "tcp");

        assertThat(error)
                .hasToString("operation with token 7 failed on provider shm: Input/output error (errno 5) (gone)");
        assertThat(error.toException()).hasMessageStartingWith(error + ".").hasMessageContaining("ofi4j doctor");
        assertThat(event).hasToString("EventError on provider tcp: Connection refused (errno 111), 2 bytes of data");
        assertThat(new Event.Unknown(9, new byte[]{1, 2})).hasToString("Unknown[code 9, 0102]");
    }

    @Test
    void anErrorOfNobodysOperationSaysSo() {
        CompletionError error = new CompletionError(CompletionHandler.NO_TOKEN, false, 0, 0, 0, 0, 0, 0, 5, 0, "",
                new byte[0], "sockets");

        assertThat(error.toException()).hasMessageContaining("an operation of a peer").hasMessageContaining("sockets");
    }

    @Test
    void theDefaultOfAHandlerThrowsErrorsOfItsOwnOperationsAlone() {
        CompletionHandler handler = (token, flags, length, data) -> {};
        long token = CompletionHandler.NO_TOKEN; // which an operation may have, too
        CompletionError own = new CompletionError(token, true, 0, 0, 0, 0, 0, 0, 5, 0, "", new byte[0], "net");

        assertThatThrownBy(() -> handler.onError(own)).isInstanceOf(FabricException.class);
        handler.onError(new CompletionError(token, false, 0, 0, 0, 0, 0, 0, 5, 0, "", new byte[0], "net"));
    }

    @Test
    void anotherEncodingOfAnAddressIsNamed() {
        byte[] encoded = EndpointAddress.of(new byte[]{1}, AddressFormat.SOCKADDR_IN).encode();
        encoded[5] = 9;

        assertThatIllegalArgumentException().isThrownBy(() -> EndpointAddress.decode(encoded))
                .withMessageContaining("format 9").withMessageContaining("same release");
    }

    @Test
    void versionsCompareByNumber() {
        assertThat(new Version(1, 17)).isLessThan(new Version(2, 1)).isGreaterThan(new Version(1, 9));
        assertThat(Version.of(new Version(2, 1).packed())).isEqualTo(new Version(2, 1)).hasToString("2.1");
    }

    @Test
    void aRangeOfVersionsHasAllFromTheFirstToTheLast() {
        VersionRange closed = VersionRange.from(1, 15).to(1, 22);
        VersionRange open = VersionRange.from(2, 0);

        assertThat(List.of(new Version(1, 15), new Version(1, 18), new Version(1, 22))).allMatch(closed::contains);
        assertThat(List.of(new Version(1, 14), new Version(2, 0))).noneMatch(closed::contains);
        assertThat(List.of(new Version(2, 0), new Version(2, 99), new Version(3, 0))).allMatch(open::contains);
        assertThat(open.contains(new Version(1, 22))).isFalse();
    }

    @Test
    void aRangeOfVersionsIsWrittenAsAPersonWould() {
        assertThat(VersionRange.from(1, 15).to(1, 22)).hasToString("1.15 to 1.22");
        assertThat(VersionRange.from(2, 0)).hasToString("2.0 and newer");
        assertThat(VersionRange.from(1, 18).to(1, 18)).hasToString("1.18");
        assertThat(VersionRange.from(2, 1).guess()).hasToString("2.1 and newer").isNotEqualTo(VersionRange.from(2, 1));
    }

    @Test
    void aRangeOfVersionsDoesNotEndBeforeItBegins() {
        VersionRange open = VersionRange.from(2, 0);

        assertThatThrownBy(() -> open.to(1, 22)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the range ends with 1.22, before 2.0");
    }
}
