package io.ofi4j.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How much of the findings is printed. */
class ScreenTest {
    private static final int COLUMNS = 80;
    private static final String LONG = "word ".repeat(30).strip();

    private static List<Finding> good(int count) {
        return IntStream.range(0, count).mapToObj(at -> Finding.ok("subject " + at, LONG)).toList();
    }

    private static List<Finding> with(List<Finding> findings, Finding... more) {
        List<Finding> all = new ArrayList<>(findings);
        all.addAll(List.of(more));
        return all;
    }

    private static List<String> fitting(List<Finding> findings) {
        List<String> lines = Screen.fitting(findings, COLUMNS);
        assertThat(lines).hasSizeLessThanOrEqualTo(Screen.LINES)
                .allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(COLUMNS));
        return lines;
    }

    @Test
    void whatFitsIsSaidWhole() {
        List<Finding> findings = List.of(Finding.ok("JDK", "25"), Finding.hint("devices", "none", "buy one"));

        assertThat(fitting(findings)).containsExactly("ok  JDK                  25", " *  devices              none",
                "    -> buy one");
    }

    @Test
    void aLongLineIsCutAndSaysWhereTheRestIs() {
        assertThat(fitting(good(1))).containsExactly("ok  subject 0            " + LONG.substring(0, 52) + "...",
                "    'ofi4j doctor -v' says more");
        assertThat(Screen.whole(good(1))).containsExactly("ok  subject 0            " + LONG);
    }

    @Test
    void aProblemIsSaidWholeInLinesOfAScreen() {
        List<String> lines = fitting(List.of(Finding.problem("/dev/shm", LONG, LONG)));

        assertThat(lines).hasSize(6).first().asString().startsWith("!!  /dev/shm             word");
        assertThat(String.join(" ", lines)).doesNotContain("...");
        assertThat(lines.get(1)).startsWith(" ".repeat(25) + "word");
        assertThat(lines.get(3)).startsWith("    -> word");
        assertThat(lines.subList(4, 6)).allMatch(line -> line.startsWith("       word"));
    }

    @Test
    void whatIsGoodIsNamedWhereThereIsMuchElse() {
        Finding[] hints = IntStream.range(0, 4).mapToObj(at -> Finding.hint("hint " + at, LONG, LONG))
                .toArray(Finding[]::new);
        List<String> lines = fitting(with(good(12), hints));

        assertThat(lines.getFirst()).startsWith("ok  subject 0, subject 1, ");
        assertThat(lines).filteredOn(line -> line.startsWith(" *  hint ")).hasSize(4);
        assertThat(lines).filteredOn(line -> line.startsWith("    -> word")).hasSize(4);
    }

    @Test
    void adviceOfHintsIsLeftOutBeforeProblemsAre() {
        Finding[] hints = IntStream.range(0, 10).mapToObj(at -> Finding.hint("hint " + at, LONG, LONG))
                .toArray(Finding[]::new);
        List<String> lines = fitting(with(with(good(4), hints), Finding.problem("bad", "it is", "mend it")));

        assertThat(lines).filteredOn(line -> line.startsWith(" *  hint ")).hasSize(10);
        assertThat(lines).contains("!!  bad                  it is", "    -> mend it")
                .endsWith("    'ofi4j doctor -v' says more");
        assertThat(lines).filteredOn(line -> line.contains("->")).hasSize(1);
    }

    @Test
    void aWordThatIsLongerThanALineStaysWhole() {
        String word = "x".repeat(100);

        assertThat(Screen.fitting(List.of(Finding.problem("a", "b", "do " + word)), COLUMNS)).contains("    -> do",
                "       " + word);
    }

    @Test
    void aNarrowTerminalHasShorterLines() {
        List<String> lines = Screen.fitting(List.of(Finding.ok("JDK", LONG), Finding.problem("/dev/shm", LONG, LONG)),
                40);

        assertThat(lines).allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(40));
    }
}
