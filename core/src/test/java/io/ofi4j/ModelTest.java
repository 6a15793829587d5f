package io.ofi4j;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Thousands of random programs over the public API, each checked step by step against a simple model of the rules: which call
 * succeeds and which throws what, every token back exactly once, no byte changed that nobody wrote, nothing left over. The
 * programs run in a JVM of their own: where it dies, this fails with the seed and the shortest beginning of the program that
 * does it. More programs: {@code -Dofi4j.model.programs=20000}; others: {@code -Dofi4j.model.seed=1000000}.
 */
@Timeout(3600)
class ModelTest {
    private static final int STEPS = 40;
    private static final long FIRST_SEED = Long.getLong("ofi4j.model.seed", 1);
    private static final long A_FEW = 50;
    /** How many programs per provider, model and number of threads; without it, as many as a second allows. */
    private static final long PROGRAMS = Long.getLong("ofi4j.model.programs", 0);
    private static final long ENDLESS = 3600;

    static Stream<Arguments> settings() {
        return TestProviders.rma()
                .flatMap(provider -> Stream.of(ThreadingModel.SAFE, ThreadingModel.DOMAIN, ThreadingModel.COMPLETION)
                        .map(model -> Arguments.of(provider, model)));
    }

    @ParameterizedTest
    @MethodSource("settings")
    void randomProgramsOfOneThread(String provider, ThreadingModel model) {
        run(provider, model, 1);
    }

    @ParameterizedTest
    @MethodSource("settings")
    void randomProgramsOfThreeThreads(String provider, ThreadingModel model) {
        if (model != ThreadingModel.DOMAIN) { // that has one thread
            run(provider, model, 3);
        }
    }

    private static void run(String provider, ThreadingModel model, int threads) {
        long count = PROGRAMS > 0 ? PROGRAMS : A_FEW;
        long seconds = PROGRAMS > 0 ? ENDLESS : 1;
        Forked.Result result = fork(provider, model, threads, FIRST_SEED, count, STEPS, seconds, false);
        System.out.println(provider + ", " + model + ", " + threads + " threads: " + lastLine(result));
        if (result.exit() != 0) {
            throw new AssertionError(explain(result, provider, model, threads));
        }
    }

    /** The seed, and how the shortest beginning of that program fails. */
    private static String explain(Forked.Result result, String provider, ThreadingModel model, int threads) {
        long seed = result.output().lines().filter(line -> line.startsWith("program "))
                .mapToLong(line -> Long.parseLong(line.substring("program ".length()))).max().orElse(FIRST_SEED);
        Forked.Result shortest = result;
        for (int steps = 1; steps <= STEPS && threads == 1; steps += 3) {
            Forked.Result shorter = fork(provider, model, threads, seed, 1, steps, ENDLESS, true);
            if (shorter.exit() != 0) {
                shortest = shorter;
                break;
            }
        }
        return "program " + seed + " on " + provider + " with " + model + " and " + threads + " threads failed, exit "
                + result.exit() + "; the shortest beginning that fails, exit " + shortest.exit() + ":\n"
                + shortest.output();
    }

    private static Forked.Result fork(String provider, ThreadingModel model, int threads, long seed, long count,
            int steps, long seconds, boolean isVerbose) {
        List<String> arguments = new ArrayList<>();
        Stream.of(provider, model, threads, seed, count, steps, seconds).map(Object::toString).forEach(arguments::add);
        if (isVerbose) {
            arguments.add("verbose");
        }
        return Forked.start(ModelRunner.class, arguments.toArray(String[]::new)).await(seconds + 60);
    }

    private static String lastLine(Forked.Result result) {
        return result.output().lines().reduce("", (one, other) -> other);
    }
}
