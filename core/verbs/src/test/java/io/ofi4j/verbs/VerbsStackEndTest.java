package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Objects are opened and closed where the stack ends, in a JVM of its own. */
@Timeout(600)
class VerbsStackEndTest {
    @Test
    void whatIsOpenedOrClosedAtTheEndOfTheStackLeavesNothingOpen() throws IOException {
        Forked.Result result = Forked.run(OpensAtEachDepth.class, VerbsLink.addresses().getFirst());

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all is closed");
        KernelLog.requireNoFailure();
    }

    @Test
    void tokensThatWereAcceptedAtTheEndOfTheStackComeBackOnce() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-Xint"));
        arguments.addAll(VerbsLink.addresses());
        Forked.Result result = Forked.run(VerbsTokensAtStackEnd.class, arguments.toArray(String[]::new));

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all tokens came back");
        KernelLog.requireNoFailure();
    }

    /** At each of the last frames of a stack. What a close at its end has left open is closed afterwards. */
    static final class OpensAtEachDepth {
        private static final int STACK = 512 << 10;
        /** The frames in which there is stack enough: above them nothing else would be shown. */
        private static final int ENOUGH = 3;
        /** Uses with a whole stack: a first one at its end fails in the JDK. */
        private static final int FIRST = 130;

        private final Verbs verbs = Verbs.load();
        private final InetSocketAddress address;
        private final ConnectionListener listener;
        private final String name = verbs.devices().getFirst().name();
        private final DeviceContext context = verbs.open(name);
        private final ProtectionDomain domain = context.openProtectionDomain();
        private final VerbsCompletionQueue queue = context.openCompletionQueue(64);
        /** What was opened, and could not be closed for lack of stack. */
        private AutoCloseable left;
        private int overflows;
        private int complete;

        private enum Kind {
            DEVICE, DOMAIN, CHANNEL, QUEUE, QUEUE_WITH_CHANNEL, REGION, QUEUE_PAIR, LISTENER, CONNECTION
        }

        private OpensAtEachDepth(String host) {
            this.address = new InetSocketAddress(host, 0);
            this.listener = verbs.listen(address, 1);
        }

        public static void main(String[] arguments) throws Exception {
            OpensAtEachDepth all = new OpensAtEachDepth(arguments[0]);
            for (Kind kind : Kind.values()) {
                for (int i = 0; i < (kind == Kind.CONNECTION ? 5 : FIRST); i++) {
                    all.openAndClose(kind);
                }
                all.diveFor(kind);
            }
            for (AutoCloseable one : List.of(all.listener, all.queue, all.domain, all.context)) {
                one.close();
            }
            System.out.println("all is closed");
        }

        private void diveFor(Kind kind) throws InterruptedException {
            Thread thread = new Thread(null, () -> dive(kind), "diver", STACK);
            overflows = 0;
            thread.start();
            thread.join(Patience.seconds(60).toMillis());
            if (thread.isAlive() || overflows == 0 || complete < ENOUGH) {
                throw new AssertionError(kind + ": " + overflows + " overflows, then " + complete + " without"
                        + (thread.isAlive() ? ", and a call that hangs" : ""));
            }
        }

        /** Goes to the end of the stack, and opens and closes on the way back from there. */
        private void dive(Kind kind) {
            try {
                dive(kind);
            } catch (StackOverflowError e) {
                complete = 0;
            }
            if (complete < ENOUGH) {
                try {
                    openAndClose(kind);
                    complete++;
                } catch (StackOverflowError e) {
                    overflows++;
                } catch (Exception e) {
                    throw new AssertionError(kind.toString(), e);
                }
            }
        }

        private void openAndClose(Kind kind) throws Exception {
            if (left == null) { left = opened(kind); }
            left.close();
            left = null;
        }

        private AutoCloseable opened(Kind kind) {
            return switch (kind) {
                case DEVICE -> verbs.open(name);
                case DOMAIN -> context.openProtectionDomain();
                case CHANNEL -> context.openCompletionChannel();
                case QUEUE -> context.openCompletionQueue(16);
                case QUEUE_WITH_CHANNEL -> queueWithChannel();
                case REGION -> domain.allocate(4096, VerbsAccess.LOCAL_WRITE);
                case QUEUE_PAIR -> domain.openQueuePair(QueuePairAttributes.of(queue).sizes(16, 16));
                case LISTENER -> verbs.listen(address, 1);
                case CONNECTION -> verbs.resolve(null, listener.address(), VerbsLink.DEADLINE);
            };
        }

        private AutoCloseable queueWithChannel() {
            CompletionChannel channel = context.openCompletionChannel();
            left = channel;
            VerbsCompletionQueue made = context.openCompletionQueue(16, channel);
            return () -> {
                made.close();
                channel.close();
            };
        }
    }
}
