package io.ofi4j.internal.quirks.rxm;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.Hints;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A process may go on after its JVM has ended, and then finds the functions of the provider below {@code ofi_rxm} as
 * they were. Each test has a JVM of its own, in which nothing else is open.
 */
@Tag("gate")
class ReplacedFunctionsTest {
    private static final String RXM = "tcp;ofi_rxm";

    @Test
    void theOriginalsComeBackWithTheCloseOfTheLastDomain() {
        Forked.Result result = Forked.run(ClosesDomains.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("the originals came back");
    }

    @Test
    void theOriginalsComeBackWhenTheJvmEndsWithAnOpenDomain() {
        Forked.Result result = Forked.run(EndsWithAnOpenDomain.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("the originals came back");
    }

    /** Its own endpoints open connections in critical calls, which must not reach a Java method. */
    @Test
    void theProviderBelowWorksBesideOfiRxm() {
        Forked.Result result = Forked.run(WritesBeside.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("wrote beside it");
    }

    static final class WritesBeside {
        private WritesBeside() {}

        public static void main(String[] arguments) {
            for (String bare : TestProviders.rma().filter(List.of("tcp", "net")::contains).toList()) {
                try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info(bare + ";ofi_rxm"));
                        Domain _ = fabric.openDomain()) {
                    write(bare);
                }
            }
            System.out.println("wrote beside it");
        }

        private static void write(String provider) {
            try (Pair pair = new Pair(provider);
                    MemoryRegion source = pair.domain.allocate(Long.BYTES, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(Long.BYTES, Access.REMOTE_WRITE)) {
                pair.rma().write(source.slice(0, Long.BYTES), pair.far, target.remote(), 1);
                pair.awaitToken(1);
            }
        }
    }

    static final class ClosesDomains {
        private ClosesDomains() {}

        public static void main(String[] arguments) {
            Libfabric libfabric = Libfabric.load();
            long original = readerr();
            try (Fabric fabric = libfabric.openFabric(TestProviders.info(RXM))) {
                for (int round = 0; round < 2; round++) {
                    try (Domain first = fabric.openDomain()) {
                        long replaced = readerr();
                        require(replaced != original, "nothing is replaced while there is " + first);
                        fabric.openDomain().close();
                        require(readerr() == replaced, "the close of one of two domains has restored it");
                    }
                    require(readerr() == original, "the close of the last domain has not restored it");
                }
            }
            System.out.println("the originals came back");
        }
    }

    static final class EndsWithAnOpenDomain {
        private EndsWithAnOpenDomain() {}

        public static void main(String[] arguments) {
            Libfabric libfabric = Libfabric.load();
            long original = readerr();
            Domain open = libfabric.openFabric(TestProviders.info(RXM)).openDomain();
            require(readerr() != original, "nothing is replaced while there is " + open);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                boolean isRestored = isRestored(original);
                System.out.println(isRestored ? "the originals came back" : "they are still replaced");
            }));
        }

        /** Hooks run beside each other, in any order: the one that restores may not have begun yet. */
        private static boolean isRestored(long original) {
            long deadline = System.nanoTime() + Pair.DEADLINE.toNanos();
            while (readerr() != original) {
                if (System.nanoTime() - deadline > 0) { return false; }
                Thread.onSpinWait();
            }
            return true;
        }
    }

    private static void require(boolean isSo, String otherwise) { if (!isSo) { throw new AssertionError(otherwise); } }

    /** fi_cq_readerr of the provider below, as it is now. */
    private static long readerr() {
        InfoHandle info = FabricCalls
                .fi_getinfo(FabricCalls.fi_version(), null, null, 0, Hints.forCoreProvider("tcp", null)).infos()
                .getFirst();
        Handle fabric = opened(FabricCalls.fi_fabric(info, "tcp"));
        Handle domain = opened(FabricOps.fi_domain(fabric, info));
        Handle queue = opened(DomainOps.fi_cq_open(domain, 0, FabricConstants.FI_CQ_FORMAT_DATA, 0, -1));
        try {
            return FunctionSlot.readerr(queue).function().address();
        } finally {
            FidOps.fi_close(queue);
            FidOps.fi_close(domain);
            FidOps.fi_close(fabric);
        }
    }

    private static Handle opened(OpenResult out) {
        if (out.status() != 0) { throw new AssertionError("status " + out.status()); }
        return out.handle();
    }
}
