package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Thousands of random programs over the public API, each checked step by step against a simple model of the rules: which call
 * succeeds and which throws what, every token back exactly once, no byte changed that nobody wrote, nothing left over: of
 * unconnected endpoints, with everything that they need, and of connections, that come about, are refused and end. The
 * programs run in a JVM of their own: where it dies, this fails with the seed and the shortest beginning of the program that
 * does it. More programs: {@code -Dofi4j.model.programs=20000}; others: {@code -Dofi4j.model.seed=1000000}.
 */
@Timeout(20_000)
class ModelTest {
    private static final int STEPS = 40;
    private static final long FIRST_SEED = Long.getLong("ofi4j.model.seed", 1);
    private static final long A_FEW = 30;
    private static final long A_FEW_SECONDS = 2;
    /** How many programs per provider, threading model and number of threads; without it, a few, or what some seconds allow. */
    private static final long PROGRAMS = Long.getLong("ofi4j.model.programs", 0);
    private static final long ENDLESS = 3600;
    /** Beyond a setting's own time, for what a busy machine does to the last program. */
    private static final long PATIENCE_SECONDS = 300;
    /** Of three threads none has {@link ThreadingModel#DOMAIN}, which has one. */
    private static final List<String> SETTINGS = List.of("SAFE:1", "DOMAIN:1", "COMPLETION:1", "SAFE:3",
            "COMPLETION:3");
    private static final List<String> SETTINGS_OF_CONNECTIONS = List.of("SAFE:1", "DOMAIN:1", "COMPLETION:1");

    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#rma")
    void randomProgramsOfOneAndOfThreeThreads(String provider) {
        run(provider, SETTINGS);
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.TestProviders#connected")
    void randomProgramsOfConnections(String provider) {
        run("MSG " + provider, SETTINGS_OF_CONNECTIONS);
    }

    private static void run(String provider, List<String> settings) {
        long count = PROGRAMS > 0 ? PROGRAMS : A_FEW;
        long seconds = PROGRAMS > 0 ? ENDLESS : A_FEW_SECONDS;
        Forked.Result result = fork(provider, String.join(",", settings), FIRST_SEED, count, STEPS, seconds, false);
        if (result.exit() != 0) {
            throw new AssertionError(explain(result, provider));
        }
        assertThat(result.output().lines().filter(line -> line.startsWith("done "))).hasSameSizeAs(settings);
    }

    /** The seed, and how the shortest beginning of that program fails. */
    private static String explain(Forked.Result result, String provider) {
        String setting = last(result, "setting ").orElse(SETTINGS.getFirst());
        long seed = last(result, "program ").map(Long::parseLong).orElse(FIRST_SEED);
        Forked.Result shortest = result;
        for (int steps = 1; steps <= STEPS && setting.endsWith(":1"); steps += 3) {
            Forked.Result shorter = fork(provider, setting, seed, 1, steps, ENDLESS, true);
            if (shorter.exit() != 0) {
                shortest = shorter;
                break;
            }
        }
        return "program " + seed + " on " + provider + " with " + setting + " failed, exit " + result.exit()
                + "; the shortest beginning that fails, exit " + shortest.exit() + ":\n" + shortest.output();
    }

    private static Optional<String> last(Forked.Result result, String beginning) {
        return result.output().lines().filter(line -> line.startsWith(beginning))
                .map(line -> line.substring(beginning.length())).reduce((one, other) -> other);
    }

    private static Forked.Result fork(String provider, String settings, long seed, long count, int steps, long seconds,
            boolean isVerbose) {
        List<String> arguments = new ArrayList<>(List.of(Forked.EVERY_COMPILER));
        Stream.of(provider, settings, seed, count, steps, seconds).map(Object::toString).forEach(arguments::add);
        if (isVerbose) {
            arguments.add("verbose");
        }
        long patience = settings.split(",").length * seconds + PATIENCE_SECONDS;
        return Forked.start(ModelRunner.class, arguments.toArray(String[]::new)).await(patience);
    }
}
