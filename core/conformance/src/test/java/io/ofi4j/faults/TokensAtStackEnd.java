package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;

/**
 * Posts and polls at each of the last frames of a stack, and then with a whole stack until all is back. Run where
 * everything is interpreted: there the handler, which calls nothing, needs less stack than what a poll calls before it.
 * An overflow is therefore always the poll's own.
 *
 * <p>Arguments: providers.
 */
final class TokensAtStackEnd {
    private static final int STACK = 256 << 10;
    private static final int DIVES = 4;
    /** The frames above the end of the stack in which something is called. */
    private static final int FRAMES = 150;
    /** Posted with a whole stack before each dive. */
    private static final int BEFORE = 64;
    /** Calls with a whole stack: a first use at its end fails in the JDK. */
    private static final int FIRST = 200;
    private static final int MAX_TOKENS = 1 << 16;

    private final String provider;
    private final Queue kind;
    /** What became of each token. Arrays, since there is no stack for calls. */
    private final byte[] accepted = new byte[MAX_TOKENS];
    private final byte[] broken = new byte[MAX_TOKENS];
    private final byte[] returned = new byte[MAX_TOKENS];
    private int next;
    private int errors;
    private int acceptedCount;
    private int acceptedReturned;
    private int overflows;
    private int interrupted;
    private int above;
    private int turn;
    private final CompletionHandler polling;
    private Pair pair;
    private MemoryRegion source;
    private RemoteRegion target;
    private Throwable failure;

    private final CompletionHandler handler = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            returned[(int) token]++;
            acceptedReturned += accepted[(int) token];
        }

        @Override
        public void onError(CompletionError error) { errors++; }
    };

    private final CompletionHandler detailedHandler = new DetailedCompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data, long buffer, long tag, long source) {
            returned[(int) token]++;
            acceptedReturned += accepted[(int) token];
        }

        @Override
        public void onError(CompletionError error) { errors++; }
    };

    /** The ways in which a poll reads. */
    private enum Queue {
        LOCKED(ThreadingModel.SAFE, CompletionFormat.DATA),
        OWNED(ThreadingModel.DOMAIN, CompletionFormat.DATA),
        /** Entries are converted, and handed out with details. */
        CONVERTED(ThreadingModel.SAFE, CompletionFormat.TAGGED);

        final ThreadingModel threading;
        final CompletionFormat format;

        Queue(ThreadingModel threading, CompletionFormat format) {
            this.threading = threading;
            this.format = format;
        }
    }

    /** What is called in each frame of a dive. */
    private enum Dive {
        POLL, POLL_FEW, PROGRESS_AND_POLL, POST_AND_POLL
    }

    private TokensAtStackEnd(String provider, Queue kind) {
        this.provider = provider;
        this.kind = kind;
        this.polling = kind == Queue.CONVERTED ? detailedHandler : handler;
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (String provider : arguments) {
            boolean isFirst = provider.equals(arguments[0]); // how a poll reads is the same over each
            for (Queue kind : isFirst ? Queue.values() : new Queue[]{Queue.LOCKED}) {
                System.out.println("over " + provider + ", " + kind);
                new TokensAtStackEnd(provider, kind).runInASmallStack();
            }
        }
        System.out.println("all tokens came back");
    }

    private void runInASmallStack() throws InterruptedException {
        Thread thread = new Thread(null, this::run, "diver", STACK);
        thread.setUncaughtExceptionHandler((_, thrown) -> failure = thrown);
        thread.start();
        if (!thread.join(Patience.seconds(60)) || failure != null) {
            throw new AssertionError(kind + ": the diver failed", failure);
        }
    }

    private void run() {
        pair = new Pair(TestProviders.hints(provider).threading(kind.threading),
                CompletionQueueAttributes.defaults().format(kind.format));
        try (MemoryRegion near = pair.domain.allocate(4096, Access.WRITE);
                MemoryRegion far = pair.domain.allocate(4096, Access.REMOTE_WRITE)) {
            source = near;
            target = far.remote();
            for (int i = 0; i < FIRST; i++) {
                for (Dive dive : Dive.values()) {
                    call(dive);
                }
                pair.farQueue.progress();
            }
            drain("before");
            for (Dive dive : Dive.values()) {
                for (int i = 0; i < DIVES; i++) {
                    postBefore();
                    above = 0;
                    dive(dive);
                    drain(dive + ", dive " + i);
                }
            }
            pair.endpoint.close();
            while (pair.queue.poll(polling, 64) > 0) {
                // what was broken off comes back as canceled
            }
            requireOnce();
        } finally {
            pair.close();
        }
        System.out.println(kind + ": " + acceptedCount + " accepted, " + overflows + " calls ended the stack, "
                + interrupted + " found a guard that was not left, " + errors + " canceled");
        if (overflows == 0) { throw new AssertionError("no call ended the stack"); }
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
                case POLL -> pair.queue.poll(polling, 64);
                case POLL_FEW -> pair.queue.poll(polling, 3);
                case PROGRESS_AND_POLL -> {
                    pair.queue.progress();
                    pair.queue.poll(polling, 5);
                }
                default -> {
                    if (turn++ % 3 == 0) { post(); }
                    pair.farQueue.progress();
                    pair.queue.poll(polling, 64);
                }
            }
        } catch (StackOverflowError e) {
            overflows++;
        } catch (IllegalStateException e) {
            interrupted++;
        }
    }

    private void post() {
        int token = next++;
        broken[token] = 1;
        boolean isAccepted = pair.rma().tryWrite(source, 0, 8, pair.far, target, 0, token);
        broken[token] = 0;
        if (isAccepted) {
            accepted[token] = 1;
            acceptedCount++;
            acceptedReturned += returned[token]; // not yet, unless a call made progress
        }
    }

    private void postBefore() {
        for (int i = 0; i < BEFORE; i++) {
            post();
        }
        for (int i = 0; i < 16; i++) {
            pair.farQueue.progress();
        }
    }

    private void drain(String when) {
        long begin = System.nanoTime();
        while (acceptedReturned < acceptedCount) {
            pair.farQueue.progress();
            pair.queue.poll(polling, 64);
            if (System.nanoTime() - begin > Pair.DEADLINE.toNanos()) {
                throw new AssertionError(when + ": " + (acceptedCount - acceptedReturned) + " of " + acceptedCount
                        + " accepted tokens do not come back; " + overflows + " calls ended the stack");
            }
        }
    }

    private void requireOnce() {
        for (int token = 0; token < next; token++) {
            if (returned[token] > 1 || returned[token] < accepted[token]) {
                throw new AssertionError("token " + token + " came back " + returned[token] + " times"
                        + (accepted[token] == 0 ? ", and was not accepted" : ""));
            }
            if (returned[token] > accepted[token] + broken[token]) {
                throw new AssertionError("token " + token + " came back, and was refused");
            }
        }
    }
}
