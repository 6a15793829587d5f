package io.ofi4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import io.ofi4j.support.Patience;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Walks the table of misuses; each is a named exception, and what it was committed on can be closed afterwards. */
@Timeout(180)
class MisuseTableTest {
    private static final int LEAST = 100;

    static Stream<Misuse> misuses() { return Misuse.all(); }

    @ParameterizedTest
    @MethodSource("misuses")
    void isANamedException(Misuse misuse) { misuse.commit(); }

    @Test
    void thereAreManyAndNoneTwice() {
        List<String> names = Misuse.all().map(Misuse::name).toList();

        assertThat(names).hasSizeGreaterThan(LEAST).doesNotHaveDuplicates();
    }

    @Test
    void noneKillsAJvmThatIsCheckedByItself() {
        Forked.Result result = Forked.start(All.class, "-Xcheck:jni").await(Patience.seconds(400).toSeconds());

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains(Misuse.all().count() + " misuses, 0 ended otherwise");
    }

    /** Walks the table, and prints each. */
    static final class All {
        private All() {}

        public static void main(String[] arguments) {
            int failed = 0;
            List<Misuse> misuses = Misuse.all().toList();
            for (Misuse misuse : misuses) {
                System.out.println(misuse);
                try {
                    misuse.commit();
                } catch (Throwable e) {
                    failed++;
                    System.out.println("  " + e);
                }
            }
            System.out.println(misuses.size() + " misuses, " + failed + " ended otherwise");
            System.exit(failed == 0 ? 0 : 1);
        }
    }
}
