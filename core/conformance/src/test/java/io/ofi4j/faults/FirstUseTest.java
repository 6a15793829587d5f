package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** The first operations of a process come where the stack ends. Each test has a JVM of its own. */
@Tag("gate")
class FirstUseTest {
    /**
     * One for each way of this library: with a provider's own, over ofi_rxm, whose functions it replaces, connected.
     */
    static Stream<String> ways() {
        return Stream.concat(TestProviders.rma().limit(2),
                TestProviders.transfers().filter(provider -> provider.startsWith("MSG ")).limit(1));
    }

    static Stream<String> first() { return TestProviders.rma().limit(1); }

    @ForEachProvider
    @MethodSource("ways")
    void whatIsFirstUsedAtTheEndOfAStackWorksAfterwards(String provider) {
        Forked.Result result = Forked.run(UsesDeeply.class, provider, "platform");

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("first")
    void whatAVirtualThreadFirstUsesAtTheEndOfItsStackWorksAfterwards(String provider) {
        Forked.Result result = Forked.run(UsesDeeply.class, provider, "virtual");

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @Test
    void aFailureThatIsFirstAtTheEndOfAStackLeavesLaterOnesWhatTheyAre() {
        Forked.Result result = Forked.run(FailsDeeply.class);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("a later failure");
    }

    /** Loads libfabric with a whole stack, and first makes an exception without. */
    static final class FailsDeeply {
        private static int overflows;

        public static void main(String[] arguments) throws InterruptedException {
            Libfabric.load();
            Thread thread = new Thread(null, FailsDeeply::dive, "diver", UsesDeeply.STACK);
            thread.start();
            if (!thread.join(Patience.seconds(60))) { throw new AssertionError("an exception at the end hangs"); }
            if (overflows == 0) { throw new AssertionError("no stack has ended"); }
            System.out.println(new FabricException("a later failure", "fi_domain", 5).getMessage());
        }

        private static void dive() {
            try {
                dive();
            } catch (StackOverflowError e) {
                overflows++;
            }
            try {
                new FabricException("a failure", "fi_domain", 5);
            } catch (StackOverflowError e) {
                overflows++;
            } catch (LinkageError e) {
                return; // as the later one, which tells
            }
        }
    }

    /** Opens a pair with a whole stack, and first uses it without. */
    static final class UsesDeeply {
        private static final int STACK = 512 << 10;
        private static final int LENGTH = 8;
        /** Of the write with a whole stack. */
        private static final long LAST = 7;

        private final Pair pair;
        private final Rma rma;
        private final MemoryRegion source;
        private final RemoteRegion target;
        private final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { isLastBack |= token == LAST; }

            @Override
            public void onError(CompletionError error) { if (error.token() == LAST) { throw error.toException(); } }
        };
        private boolean isLastBack;
        private int overflows;
        private LinkageError broken;

        private UsesDeeply(Pair pair, MemoryRegion source, MemoryRegion target) {
            this.pair = pair;
            this.rma = pair.rma();
            this.source = source;
            this.target = target.remote();
        }

        public static void main(String[] arguments) throws InterruptedException {
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
                new UsesDeeply(pair, source, target).run(arguments[1].equals("virtual"));
            }
        }

        private void run(boolean isVirtual) throws InterruptedException {
            Thread thread = isVirtual
                    ? Thread.ofVirtual().unstarted(this::dive)
                    : new Thread(null, this::dive, "diver", STACK);
            thread.start();
            if (!thread.join(Patience.seconds(60))) { throw new AssertionError("a call at the end of a stack hangs"); }
            if (broken != null) { throw broken; }
            if (overflows == 0) { throw new AssertionError("no stack has ended"); }
            pollOnce(pair.farQueue);
            pollOnce(pair.queue);
            rma.write(source.slice(0, LENGTH), pair.far, target, LAST);
            Waiting.YIELD.until(() -> { // what the diver has posted comes before it
                pair.farQueue.poll(handler, 64);
                pair.queue.poll(handler, 64);
                return isLastBack;
            }, Pair.DEADLINE);
        }

        private void pollOnce(CompletionQueue queue) {
            try {
                queue.poll(handler, 64);
            } catch (IllegalStateException e) { // of a guard that an overflow has kept: it is told once
                overflows++;
            }
        }

        private void dive() {
            try {
                dive();
            } catch (StackOverflowError e) {
                overflows++;
            }
            if (broken == null) { use(); }
        }

        private void use() {
            try {
                pair.queue.poll(handler, 1);
                rma.tryWrite(source, 0, LENGTH, pair.far, target, 0, 1);
            } catch (StackOverflowError | IllegalStateException e) {
                overflows++;
            } catch (LinkageError e) {
                broken = e;
            }
        }
    }
}
