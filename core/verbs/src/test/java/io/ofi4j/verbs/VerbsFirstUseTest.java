package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.bindings.verbs.ibv_context;
import io.ofi4j.bindings.verbs.ibv_context_ops;
import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import io.ofi4j.verbs.internal.ContextOps;
import io.ofi4j.verbs.internal.WorkCompletions;
import io.ofi4j.verbs.internal.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first calls of a process come where the stack ends. No device is needed. Each test has a JVM of its own. */
class VerbsFirstUseTest {
    @ParameterizedTest
    @ValueSource(strings = {"platform", "virtual"})
    void whatIsFirstUsedAtTheEndOfAStackWorksAfterwards(String kindOfThread) {
        Forked.Result result = Forked.run(UsesDeeply.class, kindOfThread);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Loads the libraries with a whole stack, and first uses them without. */
    static final class UsesDeeply {
        private static final int STACK = 512 << 10;
        /** The frames in which there is stack enough. */
        private static final int ENOUGH = 10;

        private final Verbs verbs = Verbs.load();
        private final ContextOps ops = new ContextOps(context());
        private final WorkCompletions completions = new WorkCompletions(1);
        private final WorkRequest request = new WorkRequest(ops, MemorySegment.NULL, true, 0);
        private final InetSocketAddress local = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private int overflows;
        private int complete;
        private LinkageError broken;

        /** A device whose functions of the data path only return 0. */
        private static MemorySegment context() {
            MemorySegment context = Arena.global().allocate(ibv_context.layout());
            MemorySegment functions = ibv_context.ops(context);
            MemorySegment function = LibC.function("sched_yield");
            ibv_context_ops.poll_cq(functions, function);
            ibv_context_ops.post_send(functions, function);
            ibv_context_ops.req_notify_cq(functions, function);
            return context;
        }

        public static void main(String[] arguments) throws InterruptedException {
            new UsesDeeply().run(arguments[0].equals("virtual"));
        }

        private void run(boolean isVirtual) throws InterruptedException {
            Thread thread = isVirtual
                    ? Thread.ofVirtual().unstarted(this::dive)
                    : new Thread(null, this::dive, "diver", STACK);
            thread.start();
            if (!thread.join(Patience.seconds(60))) { throw new AssertionError("a call at the end of a stack hangs"); }
            if (broken != null) { throw broken; }
            if (overflows == 0) { throw new AssertionError("no stack has ended"); }
            use();
        }

        /** Goes to the end of the stack, and uses everything on the way back from there. */
        private void dive() {
            try {
                dive();
            } catch (StackOverflowError e) {
                complete = 0;
            }
            if (broken != null || complete == ENOUGH) { return; }
            try {
                use();
                complete++;
            } catch (StackOverflowError e) {
                overflows++;
                complete = 0;
            } catch (LinkageError e) {
                broken = e;
            }
        }

        private void use() {
            completions.poll(ops, 0, 1);
            ops.ibv_req_notify_cq(0, false);
            request.send(1, 0, 0, 0, 0);
            verbs.devices();
            try {
                verbs.listen(local, 1).close();
                verbs.resolve(null, local, Duration.ofMillis(1)).close();
            } catch (FabricException | UnsupportedOperationException e) {
                // no device has this address
            }
        }
    }
}
