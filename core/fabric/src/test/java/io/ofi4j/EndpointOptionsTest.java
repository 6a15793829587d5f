package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.DevicePeerToPeer;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Options, default flags, aliases and room of endpoints: where providers have them, and the refusal by name elsewhere.
 */
@Timeout(300)
class EndpointOptionsTest {
    private static void assertNotOffered(ThrowingCallable call, String what, String provider) {
        assertThatThrownBy(call).isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(what)
                .hasMessageContaining("not offered by the provider " + provider);
    }

    private static void assertTransfers(Pair pair, Rma rma) {
        try (MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            source.segment().fill((byte) 3);
            rma.write(source.slice(0, 64), pair.far, target.remote(), 9);
            pair.awaitToken(9);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return source.segment().mismatch(target.segment()) < 0;
            }, Pair.DEADLINE);
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anOptionThatIsSetIsRead(String provider) {
        try (Pair pair = new Pair(provider)) {
            EndpointOptions options = pair.endpoint.options();
            long before = options.get(EndpointOption.MINIMUM_MULTI_RECEIVE);

            options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, before + 8);

            // those two of 2.x keep what was set for the next receive
            if (!provider.equals("shm") && !provider.equals("tcp;ofi_rxm") || Libfabric.load().version().major() < 2) {
                assertThat(options.get(EndpointOption.MINIMUM_MULTI_RECEIVE)).isEqualTo(before + 8);
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, -1L));
            assertTransfers(pair, pair.rma());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void receivesOfManyMessagesThatWouldNotEndAreRefused(String provider) {
        try (Pair pair = new Pair(provider)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.endpoint.options().set(EndpointOption.MINIMUM_MULTI_RECEIVE, 0L))
                    .withMessageContaining("1 or more");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void everyOptionIsReadOrRefusedByName(String provider) throws IllegalAccessException {
        try (Pair pair = new Pair(provider)) {
            for (Field field : EndpointOption.class.getFields()) {
                EndpointOption<?> option = (EndpointOption<?>) field.get(null);
                try {
                    assertThat(pair.endpoint.options().get(option)).as(option.toString()).isNotNull();
                } catch (UnsupportedOperationException e) {
                    assertThat(e).hasMessage(
                            "fi_getopt of the option " + option + " is not offered by the provider " + provider);
                }
            }
            EndpointOption<Boolean> unknown = EndpointOption.flagOfProvider("NONESUCH", -4711);
            assertNotOffered(() -> pair.endpoint.options().get(unknown), "NONESUCH", provider);
            assertNotOffered(() -> pair.endpoint.options().set(unknown, true), "NONESUCH", provider);
            assertNotOffered(
                    () -> pair.endpoint.options().set(EndpointOption.DEVICE_PEER_TO_PEER, DevicePeerToPeer.DISABLED),
                    "FI_HMEM_P2P", provider);
            assertTransfers(pair, pair.rma());
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void optionsBeforeAndAfterAnEndpointsLife(String provider) {
        try (Pair pair = new Pair(provider)) {
            Endpoint endpoint = pair.domain.openEndpoint();
            EndpointOptions options = endpoint.options();
            boolean isSetLate = ProviderFault.RECEIVE_OPTIONS_NEED_ENABLE.isOf(provider);
            if (isSetLate) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, 128L))
                        .withMessageContaining("enable");
            } else {
                options.set(EndpointOption.MINIMUM_MULTI_RECEIVE, 128L);
            }
            if (ProviderFault.OPTIONS_NEED_ENABLE.isOf(provider)) {
                assertThatIllegalStateException().isThrownBy(() -> options.get(EndpointOption.MINIMUM_MULTI_RECEIVE))
                        .withMessageContaining("enable");
            } else if (!isSetLate) { assertThat(options.get(EndpointOption.MINIMUM_MULTI_RECEIVE)).isEqualTo(128); }
            if (provider.equals("shm")) {
                // as without a device: what matters is that the process goes on
                assertThatThrownBy(() -> options.set(EndpointOption.CUDA_API_PERMITTED, false))
                        .isInstanceOfAny(FabricException.class, UnsupportedOperationException.class);
            }
            endpoint.close();
            assertThatIllegalStateException().isThrownBy(() -> options.get(EndpointOption.MINIMUM_MULTI_RECEIVE))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> endpoint.control().transmitSizeLeft())
                    .withMessageContaining("closed");
        }
    }

    @Test
    void anOptionForWhichItIsTooLateSaysSo() {
        try (Pair pair = new Pair("tcp;ofi_rxm"); Endpoint early = pair.domain.openEndpoint()) {
            early.options().set(EndpointOption.BUFFERED_MINIMUM, 0L);
            if (!ProviderFault.OPTIONS_NEED_ENABLE.isOf("tcp;ofi_rxm")) {
                assertThat(early.options().get(EndpointOption.BUFFERED_MINIMUM)).isZero();
            }
            assertThatThrownBy(() -> pair.endpoint.options().set(EndpointOption.BUFFERED_MINIMUM, 0L))
                    .isInstanceOf(FabricException.class).hasMessageContaining("BUFFERED_MIN");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void defaultFlagsAndRoomAreToldBySocketsAlone(String provider) {
        try (Pair pair = new Pair(provider); Endpoint unbound = pair.domain.openEndpoint()) {
            EndpointControl control = pair.endpoint.control();
            assertThatIllegalStateException().isThrownBy(() -> unbound.control().defaultFlags())
                    .withMessageContaining("enable");
            assertThatIllegalArgumentException().isThrownBy(() -> control.defaultFlags(Set.of(OperationFlag.INJECT)))
                    .withMessageContaining("PreparedRma");
            if (!provider.equals("sockets")) {
                assertNotOffered(control::defaultFlags, "FI_GETOPSFLAG", provider);
                assertNotOffered(() -> control.defaultFlags(Set.of()), "FI_GETOPSFLAG", provider);
                assertNotOffered(control::transmitSizeLeft, "fi_tx_size_left", provider);
                assertNotOffered(control::receiveSizeLeft, "fi_rx_size_left", provider);
                return;
            }
            control.defaultFlags(Set.of(OperationFlag.DELIVERY_COMPLETE));
            assertThat(control.defaultFlags()).contains(OperationFlag.DELIVERY_COMPLETE)
                    .doesNotContain(OperationFlag.TRANSMIT_COMPLETE);
            assertTransfers(pair, pair.rma());
            control.defaultFlags(Set.of());
            assertThat(control.defaultFlags()).doesNotContain(OperationFlag.DELIVERY_COMPLETE);
            assertTransfers(pair, pair.rma());
            assertThat(control.transmitSizeLeft()).isPositive();
            assertThat(control.receiveSizeLeft()).isNotNegative();
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAliasSharesTheEndpointAndHasFlagsOfItsOwn(String provider) {
        try (Pair pair = new Pair(provider)) {
            if (!provider.equals("sockets")) {
                assertNotOffered(() -> pair.endpoint.alias(Set.of()), "fi_ep_alias", provider);
                return;
            }
            Set<OperationFlag> before = pair.endpoint.control().defaultFlags();
            Endpoint alias = pair.endpoint.alias(Set.of(OperationFlag.DELIVERY_COMPLETE));
            Rma rma = alias.rma();

            assertThat(alias.control().defaultFlags()).contains(OperationFlag.DELIVERY_COMPLETE);
            assertThat(pair.endpoint.control().defaultFlags()).isEqualTo(before);
            assertThat(alias.address()).isEqualTo(pair.endpoint.address());
            assertTransfers(pair, rma);
            assertTransfers(pair, pair.rma());
            assertThatIllegalStateException().isThrownBy(pair.endpoint::close)
                    .withMessageContaining("Alias of endpoint RDM of sockets");
            assertThatIllegalStateException().isThrownBy(alias::enable).withMessageContaining("enabled already");
            assertThatIllegalStateException().isThrownBy(() -> alias.bind(pair.queue));
            alias.close();
            alias.close();
            try (MemoryRegion source = pair.domain.allocate(8, Access.WRITE, Access.REMOTE_WRITE)) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> rma.tryWrite(source, 0, 8, pair.far, source.remote(), 0, 1))
                        .withMessageContaining("closed");
            }
            assertTransfers(pair, pair.rma());
        }
    }

    @Test
    void anAliasCompletesSelectivelyWhereItsEndpointDoes() {
        try (Pair pair = new Pair("sockets");
                CompletionQueue queue = pair.domain.openCompletionQueue();
                Endpoint selective = pair.domain.openEndpoint().bind(pair.vector).bindSelective(queue)
                        .bind(queue, Direction.RECEIVE).enable();
                Endpoint alias = selective.alias(Set.of(OperationFlag.DELIVERY_COMPLETE));
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            alias.rma().write(source.slice(0, 64), pair.far, target.remote(), 1);
            alias.rma().prepare().peer(pair.far).local(source, 0, 64).remote(target.remote(), 0, 64)
                    .flags(OperationFlag.COMPLETION).write(2);
            List<Long> tokens = new ArrayList<>();
            Waiting.YIELD.until(() -> {
                pair.poll();
                queue.poll((token, flags, length, data) -> tokens.add(token), 16);
                return queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);

            assertThat(tokens).containsExactly(2L);
        }
    }

    @Test
    void anAliasOfAnAliasKeepsThePromiseOfTheEndpoint() {
        FabricHints hints = TestProviders.hints("sockets").capabilities(Capability.MSG);
        try (Pair pair = new Pair(hints);
                Endpoint endpoint = pair.domain.openEndpoint().bind(pair.vector).bind(pair.queue).longestMessage(64)
                        .enable();
                Endpoint alias = endpoint.alias(Set.of());
                Endpoint second = alias.alias(Set.of());
                MemoryRegion region = pair.domain.allocate(64, Access.RECEIVE)) {
            assertThatIllegalArgumentException().isThrownBy(() -> second.messages().tryReceive(region, 0, 8, 1))
                    .withMessageContaining("at least 64 bytes");
        }
    }

    @Test
    void anAliasOfAnAliasHasTheAddressOfTheEndpoint() {
        try (Pair pair = new Pair("sockets");
                Endpoint alias = pair.endpoint.alias(Set.of());
                Endpoint second = alias.alias(Set.of())) {
            assertThat(second.address()).isEqualTo(pair.endpoint.address());
        }
    }

    @Test
    void operationsOfAnAliasThatIsClosedComplete() {
        try (Pair pair = new Pair("sockets");
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            try (Endpoint alias = pair.endpoint.alias(Set.of(OperationFlag.TRANSMIT_COMPLETE))) {
                alias.rma().write(source.slice(0, 64), pair.far, target.remote(), 77);
            }
            pair.awaitToken(77);
            assertThat(pair.queue.operationsInFlight()).isZero();
        }
    }

    @Test
    void anAliasOfASelectiveEndpointIsSelectiveToo() {
        try (Pair pair = new Pair("sockets");
                CompletionQueue queue = pair.domain.openCompletionQueue();
                Endpoint endpoint = pair.domain.openEndpoint().bind(pair.vector).bindSelective(queue)
                        .bind(queue, Direction.RECEIVE).enable();
                Endpoint alias = endpoint.alias(Set.of());
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            alias.rma().write(source.slice(0, 64), pair.far, target.remote(), 1);
            alias.rma().prepare().peer(pair.far).local(source, 0, 64).remote(target.remote(), 0, 64)
                    .flags(OperationFlag.COMPLETION).write(2);
            List<Long> completed = new ArrayList<>();
            Waiting.YIELD.until(() -> {
                pair.poll();
                queue.poll((token, flags, length, data) -> completed.add(token), 8);
                return queue.operationsInFlight() == 0;
            }, Pair.DEADLINE);

            assertThat(completed).containsExactly(2L);
        }
    }

    @Test
    void anotherThreadThanTheOwnerIsRefused() throws Exception {
        try (Pair pair = new Pair(TestProviders.hints("sockets").threading(ThreadingModel.DOMAIN));
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            other.submit(() -> {
                for (ThrowingCallable call : new ThrowingCallable[]{
                        () -> pair.endpoint.options().get(EndpointOption.MINIMUM_MULTI_RECEIVE),
                        () -> pair.endpoint.control().defaultFlags(), () -> pair.endpoint.alias(Set.of()),
                        () -> pair.endpoint.control().transmitSizeLeft()}) {
                    assertThatThrownBy(call).isInstanceOf(WrongThreadException.class);
                }
            }).get();
        }
    }
}
