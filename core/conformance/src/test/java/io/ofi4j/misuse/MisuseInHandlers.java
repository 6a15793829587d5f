package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;
import static io.ofi4j.misuse.MisuseStage.IGNORING;

import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.support.Pair;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** What a completion handler should not do: it is told so by an exception, which comes out of the poll, or it works. */
final class MisuseInHandlers {
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;

    private MisuseInHandlers() {}

    private static Misuse handled(String name, Class<? extends Throwable> expected, String words,
            Consumer<MisuseStage> inside) {
        return refused("in a handler: " + name, expected, words, s -> {
            s.write(1);
            s.write(2);
            Waiting.YIELD.until(() -> s.pair.queue.poll((token, flags, length, data) -> inside.accept(s), 64) > 0,
                    Pair.DEADLINE);
        });
    }

    /** That what was done worked. */
    private static void worked() { throw new Worked(); }

    private static final class Worked extends RuntimeException {
        private static final long serialVersionUID = 1;

        Worked() { super("worked"); }
    }

    static Stream<Misuse> cases() {
        return Stream.of(handled("close the queue", STATE, "close these before", s -> s.pair.queue.close()),
                handled("close the domain", STATE, "close these before", s -> s.pair.domain.close()),
                handled("close the endpoint and the queue", Worked.class, "worked", s -> {
                    s.pair.endpoint.close();
                    s.pair.queue.close();
                    worked();
                }), handled("close the endpoint and post", STATE, "closed", s -> {
                    s.pair.endpoint.close();
                    s.write(3);
                }), handled("close the endpoint, the queue, and poll it", STATE, "closed", s -> {
                    s.pair.endpoint.close();
                    s.pair.queue.close();
                    s.pair.queue.poll(IGNORING, 1);
                }), handled("close the region", Worked.class, "worked", s -> {
                    s.source.close();
                    worked();
                }), handled("post", Worked.class, "worked", s -> {
                    s.write(3);
                    worked();
                }), handled("poll", Worked.class, "worked", s -> {
                    s.pair.queue.poll(IGNORING, 64);
                    worked();
                }), handled("poll without end", Worked.class, "worked", s -> {
                    pollDeeper(s, 100);
                    worked();
                }), handled("wait for a completion", Worked.class, "worked", s -> {
                    s.write(3);
                    s.pair.queue.await(IGNORING, 1, Pair.DEADLINE);
                    worked();
                }), handled("throw", ArithmeticException.class, "thrown by a handler", s -> {
                    throw new ArithmeticException("thrown by a handler");
                }), handled("close everything", Worked.class, "worked", s -> {
                    s.pair.endpoint.close();
                    s.close();
                    worked();
                }), handled("an interrupted wait", FabricException.class, "interrupted", s -> {
                    s.pair.queue.poll(IGNORING, 64);
                    MisuseStage.interrupted(() -> s.pair.queue.await(IGNORING, 1, Pair.DEADLINE));
                }));
    }

    private static void pollDeeper(MisuseStage s, int levels) {
        if (levels > 0) {
            s.write(levels);
            s.pair.queue.poll((token, flags, length, data) -> pollDeeper(s, levels - 1), 64);
        }
    }
}
