package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.AllocatedBytes;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** The data path allocates nothing, also where no compiler has taken allocations away. */
@Tag("gate")
@Tag("once")
@Timeout(600)
class AllocationTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void postsAndPollsAllocateNothingWhenTheyAreInterpreted(String provider) {
        Forked.Result result = Forked.run(Posts.class, "-Xint", provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines()).contains("write 0 bytes", "read 0 bytes", "inject 0 bytes",
                "write with data 0 bytes", "prepared write 0 bytes", "message 0 bytes", "tagged message 0 bytes",
                "header and body 0 bytes", "tagged header and body 0 bytes");
    }

    private static final class Posts {
        private static final int LENGTH = 64;
        private static final int OPERATIONS = 100;
        private static final int WARM_UP_ROUNDS = 3;

        private final CompletionHandler counting = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { completed++; }

            @Override
            public void onError(CompletionError error) { throw error.toException(); }
        };
        private final Pair pair;
        private int completed;

        private Posts(Pair pair) { this.pair = pair; }

        public static void main(String[] arguments) {
            FabricHints hints = TestProviders.hints(arguments[0]).capabilities(Capability.RMA, Capability.MSG,
                    Capability.TAGGED);
            try (Pair pair = new Pair(hints);
                    MemoryRegion near = pair.domain.allocate(LENGTH, Access.values());
                    MemoryRegion far = pair.domain.allocate(LENGTH, Access.values());
                    MemoryRegion header = pair.domain.allocate(LENGTH, Access.SEND)) {
                new Posts(pair).measure(near, far, header);
            }
        }

        private void measure(MemoryRegion near, MemoryRegion far, MemoryRegion header) {
            RemoteRegion remote = far.remote();
            Rma rma = pair.rma();
            Messages sends = pair.endpoint.messages();
            Messages receives = pair.farEndpoint.messages();
            Tagged taggedSends = pair.endpoint.tagged();
            Tagged taggedReceives = pair.farEndpoint.tagged();
            PreparedRma prepared = rma.prepare().peer(pair.far).local(near, 0, LENGTH).remote(remote, 0, LENGTH);
            measure("write", 1, () -> rma.tryWrite(near, 0, LENGTH, pair.far, remote, 0, 1));
            measure("read", 1, () -> rma.tryRead(near, 0, LENGTH, pair.far, remote, 0, 1));
            measure("inject", 0, () -> rma.tryInjectWrite(near, 0, Long.BYTES, pair.far, remote, 0));
            measure("write with data", 2, () -> rma.tryWriteData(near, 0, LENGTH, 1, pair.far, remote, 0, 1));
            measure("prepared write", 1, () -> prepared.tryWrite(1));
            measure("message", 2,
                    () -> receives.tryReceive(far, 0, LENGTH, 1) && sends.trySend(near, 0, LENGTH, pair.far, 1));
            measure("tagged message", 2, () -> taggedReceives.tryReceive(far, 0, LENGTH, 5, 0, 1)
                    && taggedSends.trySend(near, 0, LENGTH, pair.far, 5, 1));
            measure("header and body", 2, () -> receives.tryReceive(far, 0, LENGTH, 1)
                    && sends.trySend(header, 0, Long.BYTES, near, 0, LENGTH - Long.BYTES, pair.far, 1));
            measure("tagged header and body", 2, () -> taggedReceives.tryReceive(far, 0, LENGTH, 5, 0, 1)
                    && taggedSends.trySend(header, 0, Long.BYTES, near, 0, LENGTH - Long.BYTES, pair.far, 5, 1));
        }

        /** Prints what a round allocates, after some in which classes are loaded. */
        private void measure(String name, int completions, BooleanSupplier post) {
            for (int i = 0; i < WARM_UP_ROUNDS; i++) {
                round(completions, post);
            }
            System.out.println(name + " " + round(completions, post) + " bytes");
        }

        private long round(int completions, BooleanSupplier post) {
            long before = AllocatedBytes.now();
            for (int i = 0; i < OPERATIONS; i++) {
                completed = 0;
                while (!post.getAsBoolean()) {
                    poll();
                }
                do {
                    poll();
                } while (completed < completions);
            }
            return AllocatedBytes.now() - before;
        }

        private void poll() {
            pair.queue.poll(counting, 16);
            if (pair.farQueue != pair.queue) { pair.farQueue.poll(counting, 16); }
        }
    }
}
