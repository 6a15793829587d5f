package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A provider's own operations: no software provider has any, which it says by name, and a table of the test's own shows
 * the layouts.
 */
@SuppressWarnings("restricted")
class ProviderOperationsTest {
    private static final FunctionDescriptor QUERY = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
            ValueLayout.ADDRESS);
    private static int status;

    @AfterEach
    void succeed() { status = 0; }

    /** query_mr of the test's table: a struct of four numbers of 16 bits, of which the first two are valid. */
    static int query(MemorySegment region, MemorySegment attributes) {
        MemorySegment struct = attributes.reinterpret(8);
        struct.set(ValueLayout.JAVA_SHORT, 0, (short) 0b011);
        struct.set(ValueLayout.JAVA_SHORT, 2, (short) 7);
        struct.set(ValueLayout.JAVA_SHORT, 4, (short) 0xffff);
        struct.set(ValueLayout.JAVA_SHORT, 6, (short) 9);
        return region.address() == 0 ? -1 : status;
    }

    private static MemorySegment table(Arena arena) throws ReflectiveOperationException {
        MemorySegment function = Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup().findStatic(ProviderOperationsTest.class, "query",
                                MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class)),
                        QUERY, arena);
        return arena.allocateFrom(ValueLayout.ADDRESS, function);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void operationsThatAProviderLacksAreRefusedByName(String provider) {
        try (Pair pair = new Pair(provider)) {
            for (String name : new String[]{"nonesuch", "efa domain ops", "cxi_dom_ops_v1"}) {
                assertThatThrownBy(() -> pair.domain.operations(name)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining(name).hasMessageContaining("not offered by the provider");
                assertThatThrownBy(() -> pair.fabric.operations(name)).isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining(name);
                assertThatThrownBy(() -> pair.endpoint.operations(name))
                        .isInstanceOf(UnsupportedOperationException.class).hasMessageContaining(name);
            }
            assertThatThrownBy(() -> EfaOperations.of(pair.domain)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("efa domain ops");
            assertThatIllegalArgumentException().isThrownBy(() -> pair.domain.operations(""));
            assertThatIllegalArgumentException().isThrownBy(() -> pair.fabric.operations("a\0b"));
        }
    }

    @Test
    void theInterconnectsOfARegionAreThoseThatAreValid() throws ReflectiveOperationException {
        try (Arena arena = Arena.ofConfined();
                Pair pair = new Pair("shm");
                MemoryRegion region = pair.domain.allocate(64, Access.READ)) {
            EfaOperations operations = EfaOperations.ofTable(pair.domain, table(arena));

            EfaOperations.Interconnects found = operations.interconnects(region);

            assertThat(found.receive()).hasValue(7);
            assertThat(found.rdmaRead()).hasValue(0xffff);
            assertThat(found.rdmaReceive()).isEqualTo(OptionalInt.empty());
            status = -22;
            assertThatThrownBy(() -> operations.interconnects(region)).isInstanceOf(FabricException.class)
                    .hasMessageContaining("query_mr");
        }
    }

    @Test
    void aTableWithoutTheFunctionIsRefused() {
        try (Arena arena = Arena.ofConfined();
                Pair pair = new Pair("shm");
                MemoryRegion region = pair.domain.allocate(64, Access.READ)) {
            EfaOperations operations = EfaOperations.ofTable(pair.domain,
                    arena.allocateFrom(ValueLayout.ADDRESS, MemorySegment.NULL));

            assertThatThrownBy(() -> operations.interconnects(region)).isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("query_mr");
        }
    }

    @Test
    void regionsOfOtherDomainsAndClosedOnesAreRefused() throws ReflectiveOperationException {
        try (Arena arena = Arena.ofConfined();
                Pair pair = new Pair("shm");
                Pair other = new Pair("shm");
                MemoryRegion foreign = other.domain.allocate(64, Access.READ)) {
            EfaOperations operations = EfaOperations.ofTable(pair.domain, table(arena));
            MemoryRegion closed = pair.domain.allocate(64, Access.READ);
            closed.close();

            assertThatIllegalArgumentException().isThrownBy(() -> operations.interconnects(foreign))
                    .withMessageContaining("another domain");
            assertThatIllegalStateException().isThrownBy(() -> operations.interconnects(closed));
        }
    }
}
