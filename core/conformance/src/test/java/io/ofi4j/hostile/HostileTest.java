package io.ofi4j.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import io.ofi4j.support.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random programs of callers who do what nobody should, each kind in a JVM of its own, which must survive them: no
 * crash, no hang, no exception without a name, no token that is lost or comes twice. A failure prints what was tried,
 * and the command that repeats it. The gate has those of one thread, so many steps from the same seed;
 * {@code scripts/test --hostile} has all of them, for a time.
 */
@Tag("gate")
@Timeout(40_000)
class HostileTest {
    private static final long SEED = Long.getLong("ofi4j.hostile.seed", 1);
    /** For each kind and provider. */
    static final long SECONDS = Long.getLong("ofi4j.hostile.seconds", 1);
    private static final String CHOSEN = System.getProperty("ofi4j.hostile.case", "");

    static Stream<HostileCase> programs() {
        List<HostileCase> chosen = Stream.of(HostileCase.values())
                .filter(one -> CHOSEN.isEmpty() ? one != HostileCase.VERBS : one.name().equals(CHOSEN)).toList();
        if (chosen.isEmpty()) {
            throw new AssertionError("there is no case " + CHOSEN + "; there are " + List.of(HostileCase.values()));
        }
        return chosen.stream();
    }

    static Stream<HostileCase> programsOfOneThread() { return programs().filter(HostileCase::isOfOneThread); }

    @Tag("long") // which thread comes when is chance
    @ParameterizedTest
    @MethodSource("programs")
    void aHostileProgramEndsNothingButItself(HostileCase program) { survive(program, SECONDS, 0); }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("programsOfOneThread")
    void aHostileProgramOfOneThreadEndsNothingButItself(HostileCase program) {
        survive(program, 0, Rounds.of(program.steps()));
    }

    /** Runs it over all that it runs over, for so many seconds, or so many steps. */
    static void survive(HostileCase program, long seconds, long steps) {
        List<String> providers = program.providers().toList();
        assumeFalse(providers.isEmpty(), "none of the chosen providers is of this kind");
        Optional<String> whyNot = program.whyNot();
        whyNot.ifPresent(why -> System.out.println(program + " is skipped: " + why));
        assumeTrue(whyNot.isEmpty(), () -> program + ": " + whyNot.get());
        long patience = providers.size() * (seconds + Patience.seconds(100).toSeconds());
        String heap = program == HostileCase.ERRORS ? "-Xmx64m" : "-Xmx256m"; // so that it is soon full
        HostileJvm jvm = HostileJvm.chosen();
        List<String> arguments = new ArrayList<>(jvm.options());
        arguments.addAll(List.of(heap, "-Dofi4j.hostile.jvm=" + jvm, program.name(), String.join(",", providers),
                Long.toString(SEED), Long.toString(seconds), Long.toString(steps)));
        Forked.Running running = Forked.start(HostileMain.class, arguments.toArray(String[]::new));
        jvm.attend(running.process());
        Forked.Result result = running.await(patience);

        assertThat(result.exit()).as("%s; again: scripts/test --hostile%s %ds %s '%s' %d; it printed:\n%s", program,
                jvm.argument(), Math.max(1, seconds), program, last(program, result), SEED, result.output()).isZero();
        assertThat(jvm.hasWarned(result.output())).as(result.output()).isFalse();
        assertThat(result.output()).contains("survived").contains("tried ");
        System.out
                .println(result.output().lines().filter(line -> line.matches("(tried|held|" + program.name() + ") .*"))
                        .collect(Collectors.joining("\n")));
    }

    /** The provider that it ended with. */
    private static String last(HostileCase program, Forked.Result result) {
        String beginning = program + " over ";
        return result.output().lines().filter(line -> line.startsWith(beginning)).reduce((one, other) -> other)
                .map(line -> line.substring(beginning.length())).orElse("");
    }
}
