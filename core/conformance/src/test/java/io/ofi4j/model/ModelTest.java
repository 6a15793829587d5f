package io.ofi4j.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.Libfabric;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random programs over the public API, each checked step by step against a simple model of the rules: which call
 * succeeds and which throws what, every token back exactly once, no byte changed that nobody wrote, nothing left over:
 * of unconnected endpoints, with everything that they need, and of connections, that come about, are refused and end.
 * The programs run in a JVM of their own: where it dies, this fails with the seed and the shortest beginning of the
 * program that does it.
 *
 * <p>The gate has a few of one thread each, the same each day. {@code scripts/test --model} runs tens of thousands, of
 * several threads as well, and those of a seed again.
 */
@Tag("gate")
@Timeout(40_000)
class ModelTest {
    private static final int STEPS = 40;
    private static final long FIRST_SEED = Long.getLong("ofi4j.model.seed", 1);
    private static final long A_FEW = 15;
    /** How many programs per provider, threading model and number of threads. */
    private static final long PROGRAMS = Long.getLong("ofi4j.model.programs", A_FEW);
    /** For how long more follow, all together. */
    private static final long MINUTES = Long.getLong("ofi4j.model.minutes", 0);
    /** What so many programs of a setting take on a machine that is far too busy; who takes longer fails. */
    private static final long TIMEOUT_SECONDS = 120;
    private static final long PROGRAMS_PER_TIMEOUT = 100;
    /** Of three threads none has {@link ThreadingModel#DOMAIN}, which has one. */
    private static final List<String> SETTINGS = List.of("SAFE:1", "DOMAIN:1", "COMPLETION:1", "SAFE:3",
            "COMPLETION:3");

    private static final List<String> TABLE = new ArrayList<>(List.of(ModelReport.HEADER));

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void randomProgramsBreakNoRule(String provider) { run(provider, settings(true)); }

    @Tag("long") // which thread comes when is chance
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void randomProgramsOfSeveralThreadsBreakNoRule(String provider) { run(provider, settings(false)); }

    private static void run(String provider, List<String> settings) {
        assumeFalse(settings.isEmpty(), "none of the chosen settings is of this kind");
        long seconds = MINUTES * 60 / (TestProviders.transfers().count() * settings().size());
        Forked.Result result = fork(provider, settings, FIRST_SEED, PROGRAMS, STEPS, seconds, false);
        if (result.exit() != 0) { throw new AssertionError(explain(result, provider, settings)); }

        List<ModelReport> reports = result.output().lines().filter(line -> line.startsWith("report "))
                .map(ModelReport::of).toList();
        reports.forEach(report -> TABLE.add(report.row(provider)));
        assertThat(reports).as("from seed " + FIRST_SEED + " on " + provider).extracting(ModelReport::setting)
                .isEqualTo(settings);
        assertThat(reports).as("from seed " + FIRST_SEED + " on " + provider).allSatisfy(ModelTest::requireWork);
    }

    /** So many programs were run, and they did what they are for. */
    private static void requireWork(ModelReport report) {
        ModelTally tally = report.tally();
        if (MINUTES == 0) {
            assertThat(report.programs()).isEqualTo(PROGRAMS);
        } else {
            assertThat(report.programs()).isGreaterThanOrEqualTo(PROGRAMS);
        }
        assertThat(tally.completions() + tally.failures() + tally.dropped()).isEqualTo(tally.tokens());
        if (report.programs() >= A_FEW) { // one may have other things to do; they come to three or more of each
            assertThat(tally.posts()).isGreaterThan(report.programs() / 4);
            assertThat(tally.completions()).isGreaterThan(report.programs() / 4);
        }
    }

    @BeforeAll
    static void printSeed() {
        System.out.println("random programs from seed " + FIRST_SEED + " on libfabric " + Libfabric.load().version());
    }

    @AfterAll
    static void printTable() { TABLE.forEach(System.out::println); }

    private static List<String> settings(boolean ofOneThread) {
        return settings().stream().filter(setting -> setting.endsWith(":1") == ofOneThread).toList();
    }

    private static List<String> settings() {
        String chosen = System.getProperty("ofi4j.model.settings", "");
        if (!chosen.isEmpty()) { return List.of(chosen.split(",")); }
        return SETTINGS;
    }

    /** The seed, and how the shortest beginning of that program fails. */
    private static String explain(Forked.Result result, String provider, List<String> settings) {
        String setting = last(result, "setting ").orElse(settings.getFirst());
        long seed = last(result, "program ").map(Long::parseLong).orElse(FIRST_SEED);
        Forked.Result shortest = result;
        for (int steps = 1; steps <= STEPS && setting.endsWith(":1"); steps += 3) {
            Forked.Result shorter = fork(provider, List.of(setting), seed, 1, steps, 0, true);
            if (shorter.exit() != 0) {
                shortest = shorter;
                break;
            }
        }
        return "program " + seed + " on " + provider + " with " + setting + " failed, exit " + result.exit()
                + "; again: scripts/test --model 1 " + seed + " '" + provider + "' " + setting
                + "; the shortest beginning that fails, exit " + shortest.exit() + ":\n" + shortest.output();
    }

    private static Optional<String> last(Forked.Result result, String beginning) {
        return result.output().lines().filter(line -> line.startsWith(beginning))
                .map(line -> line.substring(beginning.length())).reduce((one, other) -> other);
    }

    private static Forked.Result fork(String provider, List<String> settings, long seed, long count, int steps,
            long seconds, boolean isVerbose) {
        List<String> arguments = new ArrayList<>();
        if (count > A_FEW || seconds > 0) { arguments.add(Forked.EVERY_COMPILER); }
        Stream.of(provider, String.join(",", settings), seed, count, steps, seconds).map(Object::toString)
                .forEach(arguments::add);
        if (isVerbose) { arguments.add("verbose"); }
        long patience = Patience.seconds(1).toSeconds() * TIMEOUT_SECONDS * (1 + count / PROGRAMS_PER_TIMEOUT);
        return Forked.start(ModelRunner.class, arguments.toArray(String[]::new))
                .await(settings.size() * (seconds + patience));
    }
}
