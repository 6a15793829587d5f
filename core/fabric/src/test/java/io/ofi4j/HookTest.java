package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Hook;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Data passes through each hooking provider, through one over every provider. libfabric reads their names once: each
 * needs a JVM.
 */
@Tag("gate")
@Timeout(900)
class HookTest {
    private static final int LENGTH = 100_000;

    /** Of one that this libfabric was built without, libfabric says so and goes on. */
    @ParameterizedTest
    @EnumSource(Hook.class)
    void dataPassesThrough(Hook hook) {
        Forked.Result result = Forked.run(Transfers.class, hook.name());
        assertThat(result.output()).contains("all data passed through [" + hook.name().toLowerCase(Locale.ROOT) + "]");
        assertThat(result.exit()).isZero();
    }

    @Test
    void withoutHooksAnInfoHasNone() { assertThat(TestProviders.info("shm").hooks()).isEmpty(); }

    /** Transfers over each provider. */
    static final class Transfers {
        public static void main(String[] arguments) {
            Hook hook = Hook.valueOf(arguments[0]);
            Libfabric.load(List.of(hook));
            ThreadingModel model = hook == Hook.DEBUG ? ThreadingModel.DOMAIN : ThreadingModel.SAFE;
            TestProviders.rma()
                    .filter(provider -> hook == Hook.PERF || !provider.contains(";") && !provider.equals("sockets"))
                    .forEach(provider -> transfer(provider, model));
            System.out.println("all data passed through " + TestProviders.info("shm").hooks());
        }

        private static void transfer(String provider, ThreadingModel model) {
            try (Pair pair = new Pair(TestProviders.hints(provider).threading(model));
                    MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ);
                    MemoryRegion back = pair.domain.allocate(LENGTH, Access.READ)) {
                source.segment().fill((byte) 5);
                pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
                pair.awaitToken(1);
                Waiting.YIELD.until(() -> {
                    pair.poll();
                    return target.segment().get(JAVA_BYTE, LENGTH - 1) == 5;
                }, Pair.DEADLINE);
                pair.rma().read(back.slice(0, LENGTH), pair.far, target.remote(), 2);
                pair.awaitToken(2);
                if (back.segment().mismatch(source.segment()) != -1) { throw new AssertionError(provider); }
            }
        }
    }
}
