package io.ofi4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Walks the table of misuses; each is a named exception, and what it was committed on can be closed afterwards.
 * {@code scripts/test --collectors} does it in a JVM with {@code -Xcheck:jni}.
 */
@Tag("gate")
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
}
