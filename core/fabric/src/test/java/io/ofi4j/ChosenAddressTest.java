package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Endpoints that are where the application wants them; fi_setname. */
@Timeout(300)
public class ChosenAddressTest {
    private static final int LENGTH = 64;
    private static final int PORT = 2;
    private static final int HOST = 4;
    private static int names;

    /** An address of this machine that nobody else has; not the one of the hints. */
    public static EndpointAddress free(String provider) {
        return provider.equals("shm")
                ? TestProviders.info("shm").addressNamed("ofi4j-test-" + ProcessHandle.current().pid() + "-" + names++)
                : EndpointAddress.of(new InetSocketAddress(elsewhere(provider), 0));
    }

    /** A device has no other address. */
    private static String elsewhere(String provider) {
        String address = TestProviders.address(provider);
        return address.equals("127.0.0.1") ? "127.0.0.2" : address;
    }

    private static boolean takesNone(String provider) {
        return provider.contains("ofi_rxd") || provider.contains("verbs");
    }

    private static Pair.Wiring wiring(EndpointAddress address) {
        return new Pair.Wiring() {
            @Override
            public Endpoint bindFar(Pair pair, Endpoint endpoint) {
                return endpoint.bind(pair.farQueue).address(address);
            }
        };
    }

    private static Pair pair(String provider, EndpointAddress address) {
        return new Pair(TestProviders.hints(provider), CompletionQueueAttributes.defaults(), wiring(address));
    }

    public static void requireAt(EndpointAddress address, EndpointAddress chosen, String provider) {
        byte[] is = address.toBytes();
        byte[] wanted = chosen.toBytes();
        if (provider.equals("shm")) {
            assertThat(new String(is, StandardCharsets.US_ASCII)).contains("ofi4j-test-");
            return;
        }
        assertThat(Arrays.copyOfRange(is, HOST, is.length)).isEqualTo(Arrays.copyOfRange(wanted, HOST, wanted.length));
        assertThat(is[PORT] | is[PORT + 1]).isNotZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void peersReachAnEndpointWhereItWasToBe(String provider) {
        EndpointAddress chosen = free(provider);
        if (takesNone(provider)) {
            assertThatThrownBy(() -> pair(provider, chosen)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("FabricHints.source");
            return;
        }
        try (Pair pair = pair(provider, chosen);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE, Access.READ);
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            requireAt(pair.farEndpoint.address(), chosen, provider);
            assertThat(provider.equals("shm") && !pair.farEndpoint.address().equals(chosen)).isFalse();
            source.segment().fill((byte) 5);
            pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
            pair.awaitToken(1);
            pair.rma().read(source.slice(0, LENGTH), pair.far, target.remote(), 2);
            pair.awaitToken(2);
            assertThat(source.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(5);
            assertThatIllegalStateException().isThrownBy(() -> pair.farEndpoint.address(chosen))
                    .withMessageContaining("is enabled");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAddressThatAnotherEndpointHasIsRefused(String provider) {
        if (takesNone(provider)) {
            return; // takes none at all, see above
        }
        try (Pair pair = pair(provider, free(provider))) {
            EndpointAddress taken = pair.farEndpoint.address();
            Endpoint late = pair.domain.openEndpoint().bind(pair.vector).bind(pair.farQueue).address(taken);
            FabricException refused = catchThrowableOfType(FabricException.class, late::enable);
            assertThat(refused.errno()).isEqualTo(Errno.EADDRINUSE);
            assertThatIllegalStateException().isThrownBy(late::address).withMessageContaining("closed");
        }
    }

    @Test
    void aFileThatIsInTheWayOfAnShmEndpointStays() throws IOException {
        EndpointAddress chosen = free("shm");
        Path file = Path.of("/dev/shm",
                new String(chosen.toBytes(), StandardCharsets.US_ASCII).substring(9).strip().replace("\0", ""));
        Files.createFile(file);
        try {
            assertThatThrownBy(() -> pair("shm", chosen)).isInstanceOf(FabricException.class)
                    .hasMessageContaining(file.toString());
            assertThat(file).isEmptyFile();
        } finally {
            Files.delete(file);
        }
        pair("shm", chosen).close();
        assertThat(file).doesNotExist();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAddressOfAnotherKindIsRefused(String provider) {
        EndpointAddress other = provider.equals("shm")
                ? EndpointAddress.of(new InetSocketAddress("127.0.0.1", 0))
                : TestProviders.info("shm").addressNamed("ofi4j");
        try (Pair pair = new Pair(provider)) {
            Endpoint endpoint = pair.domain.openEndpoint();
            assertThatIllegalArgumentException().isThrownBy(() -> endpoint.address(other));
            endpoint.close();
            assertThatIllegalStateException().isThrownBy(() -> endpoint.address(free(provider)));
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAddressLongerThanItsFormatIsRefused(String provider) {
        if (provider.equals("shm")) {
            return; // whose addresses are texts
        }
        try (Pair pair = new Pair(provider); Endpoint endpoint = pair.domain.openEndpoint()) {
            EndpointAddress longer = EndpointAddress.of(Arrays.copyOf(free(provider).toBytes(), 60_000),
                    pair.domain.info().addressFormat());

            assertThatIllegalArgumentException().isThrownBy(() -> endpoint.address(longer))
                    .withMessageContaining("bytes, not 60000");
        }
    }

    @Test
    void anShmEndpointIsCalledAsEndpointsAre() {
        try (Pair pair = new Pair("shm"); Endpoint endpoint = pair.domain.openEndpoint()) {
            for (String name : new String[]{"x", "fi_shm://", "fi_shm://a/b\0", "fi_shm://../b\0", "fi_shm://a"}) {
                EndpointAddress address = EndpointAddress.of(name.getBytes(StandardCharsets.US_ASCII),
                        pair.domain.info().addressFormat());
                assertThatIllegalArgumentException().isThrownBy(() -> endpoint.address(address));
            }
        }
        FabricInfo info = TestProviders.info("shm");
        for (String name : new String[]{"", "a/b", ".a", "a b", "x".repeat(201)}) {
            assertThatIllegalArgumentException().isThrownBy(() -> info.addressNamed(name));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EndpointAddress.of(InetSocketAddress.createUnresolved("nowhere", 1)));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void peersConnectToAPassiveEndpointWhereItWasToBe(String provider) {
        String name = "MSG " + provider;
        EndpointAddress chosen = free(name);
        if (takesNone(provider)) {
            return; // verbs, see below
        }
        try (Listener listener = new Listener(provider);
                EventQueue events = listener.fabric.openEventQueue();
                PassiveEndpoint passive = listener.fabric.openPassiveEndpoint(listener.fabric.info()).bind(events)) {
            passive.address(chosen).listen();
            requireAt(passive.address(), chosen, name);
            Endpoint client = listener.client(passive.address());
            client.connection().connect(passive.address());
            assertThat(listener.await(events)).isInstanceOfSatisfying(Event.ConnectionRequested.class,
                    asked -> asked.request().reject());
            assertThatIllegalStateException().isThrownBy(() -> passive.address(chosen))
                    .withMessageContaining("listens");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aPassiveEndpointIsToldOfAnAddressThatAnotherOneHas(String provider) {
        try (Listener listener = new Listener(provider);
                PassiveEndpoint late = listener.fabric.openPassiveEndpoint(listener.fabric.info())
                        .bind(listener.events)) {
            if (takesNone(provider)) {
                assertThatThrownBy(() -> late.address(listener.passive.address()))
                        .isInstanceOf(UnsupportedOperationException.class);
                return;
            }
            late.address(listener.passive.address());
            assertThatThrownBy(late::listen).isInstanceOf(FabricException.class).hasMessageContaining("port");
        }
    }

    @Test
    void addressesOfBothFamiliesAreWrittenAsTheSystemDoes() {
        byte[] four = EndpointAddress.of(new InetSocketAddress("192.0.2.1", 0x1234)).toBytes();
        assertThat(four).containsExactly(2, 0, 0x12, 0x34, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0);
        byte[] six = EndpointAddress.of(new InetSocketAddress("2001:db8::1", 0x1234)).toBytes();
        assertThat(six).containsExactly(10, 0, 0x12, 0x34, 0, 0, 0, 0, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 1, 0, 0, 0, 0);
    }
}
