package io.ofi4j.verbs;

import io.ofi4j.support.Patience;
import java.util.List;

/**
 * Posts and polls at each of the last frames of a stack, and then with a whole stack until all is back. Run where
 * everything is interpreted: there the handler, which calls nothing, needs less stack than what a poll calls before it.
 *
 * <p>Arguments: the addresses of devices, without JUnit, which the JVM of this program does not have.
 */
final class VerbsTokensAtStackEnd {
    private static final int STACK = 256 << 10;
    private static final int DIVES = 4;
    /** The frames above the end of the stack in which something is called. */
    private static final int FRAMES = 100;
    /** Posted with a whole stack before each dive. */
    private static final int BEFORE = 32;
    /** Calls with a whole stack: a first use at its end fails in the JDK. */
    private static final int FIRST = 200;
    private static final int MAX_TOKENS = 1 << 14;

    private final VerbsLink link;
    private final RemoteMemory target;
    /** What became of each token. Arrays, since there is no stack for calls. */
    private final byte[] accepted = new byte[MAX_TOKENS];
    private final byte[] returned = new byte[MAX_TOKENS];
    private int next;
    private int acceptedCount;
    private int acceptedReturned;
    private int overflows;
    private int above;
    private int turn;
    private Throwable failure;

    private final WorkHandler handler = new WorkHandler() {
        @Override
        public void onCompletion(long token, WorkKind kind, int length, int flags, int word) {
            returned[(int) token]++;
            acceptedReturned += accepted[(int) token];
        }

        @Override
        public void onError(WorkError error) { returned[(int) error.token()]++; }
    };

    /** What is called in each frame of a dive. */
    private enum Dive {
        POLL, POLL_FEW, POST_AND_POLL
    }

    private VerbsTokensAtStackEnd(List<String> addresses) {
        this.link = new VerbsLink(64, addresses);
        this.target = link.far.region.remote();
    }

    public static void main(String[] arguments) throws InterruptedException {
        VerbsTokensAtStackEnd all = new VerbsTokensAtStackEnd(List.of(arguments));
        Thread thread = new Thread(null, all::run, "diver", STACK);
        thread.setUncaughtExceptionHandler((_, thrown) -> all.failure = thrown);
        thread.start();
        if (!thread.join(Patience.seconds(120)) || all.failure != null) {
            throw new AssertionError("the diver failed", all.failure);
        }
        System.out.println("all tokens came back");
    }

    private void run() {
        for (int i = 0; i < FIRST; i++) {
            for (Dive dive : Dive.values()) {
                call(dive);
            }
        }
        drain("before");
        for (Dive dive : Dive.values()) {
            for (int i = 0; i < DIVES; i++) {
                for (int posted = 0; posted < BEFORE; posted++) {
                    post();
                }
                above = 0;
                dive(dive);
                drain(dive + ", dive " + i);
            }
        }
        link.near.connection.close(); // what was broken off comes back as flushed
        while (link.near.queue.poll(handler, 64) > 0) {
            // the rest
        }
        for (int token = 0; token < next; token++) {
            if (returned[token] > 1 || returned[token] < accepted[token]) {
                throw new AssertionError("token " + token + " came back " + returned[token] + " times");
            }
        }
        if (overflows == 0) { throw new AssertionError("no call ended the stack"); }
        System.out.println(acceptedCount + " accepted, " + overflows + " calls ended the stack");
        link.close();
    }

    /** Goes to the end of the stack, and calls on the way back from there. */
    private void dive(Dive dive) {
        try {
            dive(dive);
        } catch (StackOverflowError e) {
            above = 0;
        }
        if (++above < FRAMES) { call(dive); }
    }

    private void call(Dive dive) {
        try {
            switch (dive) {
                case POLL -> link.near.queue.poll(handler, 64);
                case POLL_FEW -> link.near.queue.poll(handler, 3);
                default -> {
                    if (turn++ % 3 == 0) { post(); }
                    link.near.queue.poll(handler, 64);
                }
            }
        } catch (StackOverflowError e) {
            overflows++;
        } catch (IllegalStateException e) {
            above++; // a guard that was not left, which this call has freed
        }
    }

    private void post() {
        int token = next++;
        if (link.near.pair.tryWrite(link.near.region, 0, 8, target, 0, WorkFlags.SIGNALED, token)) {
            accepted[token] = 1;
            acceptedCount++;
        }
    }

    private void drain(String when) {
        long begin = System.nanoTime();
        while (acceptedReturned < acceptedCount) {
            link.near.queue.poll(handler, 64);
            if (System.nanoTime() - begin > VerbsLink.DEADLINE.toNanos()) {
                throw new AssertionError(when + ": " + (acceptedCount - acceptedReturned) + " of " + acceptedCount
                        + " accepted tokens do not come back; " + overflows + " calls ended the stack");
            }
        }
    }
}
