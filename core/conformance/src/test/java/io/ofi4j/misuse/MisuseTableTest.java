package io.ofi4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.documentation.LibraryModules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Walks the table of misuses; each is a named exception, and what it was committed on can be closed afterwards. Then
 * every {@code @throws} of the public API was shown by one of them. {@code scripts/test --collectors} does it in a JVM
 * with {@code -Xcheck:jni}.
 */
@Tag("gate")
@Tag("once")
@Timeout(900)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MisuseTableTest {
    private static final int MIN_CASES = 100;
    private static final List<String> ARTIFACTS = List.of("fabric", "job", "durable", "verbs", "test");
    private static final String REMEDY = " has no row in the table of misuses: add one that makes the call throw it, to"
            + " the Misuse... class of its subject, or say in ShownElsewhere why there can be none";

    /** What was thrown, by the name of the misuse. */
    private static final Map<String, Throwable> THROWN = new HashMap<>();

    static Stream<Misuse> misuses() { return Misuse.all(); }

    @ParameterizedTest
    @MethodSource("misuses")
    void isANamedException(Misuse misuse) { THROWN.put(misuse.name(), misuse.commit()); }

    @Test
    void thereAreManyAndNoneTwice() {
        List<String> names = Misuse.all().map(Misuse::name).toList();

        assertThat(names).hasSizeGreaterThan(MIN_CASES).doesNotHaveDuplicates();
    }

    /** After the others, which have committed the misuses. */
    @Test
    @Order(Integer.MAX_VALUE)
    void showsEveryDocumentedException() throws IOException {
        DocumentedThrows documented = documented();
        Set<String> shown = new HashSet<>();
        Misuse.all().forEach(misuse -> shown
                .addAll(documented.shownBy(THROWN.computeIfAbsent(misuse.name(), name -> misuse.commit()))));
        Map<String, ShownElsewhere> elsewhere = new LinkedHashMap<>();
        ShownElsewhere.all().forEach(one -> elsewhere.put(one.key(), one));

        List<String> keys = documented.keys();
        assertThat(keys.stream().filter(key -> !shown.contains(key) && !elsewhere.containsKey(key))
                .map(key -> documented.place(key) + ": @throws of " + key + REMEDY)).isEmpty();
        assertThat(elsewhere.keySet().stream().filter(key -> !keys.contains(key)))
                .as("what ShownElsewhere has, and no public member documents").isEmpty();
        assertThat(elsewhere.keySet().stream().filter(shown::contains))
                .as("what ShownElsewhere has, and a row of the table shows").isEmpty();
        assertThat(elsewhere.values().stream().filter(one -> !one.test().isEmpty() && !isThere(one.test()))
                .map(ShownElsewhere::toString)).as("tests that ShownElsewhere names, and nobody has").isEmpty();
    }

    private static DocumentedThrows documented() throws IOException {
        Map<String, Path> modules = new LinkedHashMap<>();
        for (String artifact : ARTIFACTS) {
            modules.put(artifact.equals("fabric") ? "io.ofi4j" : "io.ofi4j." + artifact,
                    Path.of("..", artifact, "src/main/java"));
        }
        return DocumentedThrows.of(modules,
                "../../bindings/fabric/target/classes:../../bindings/verbs/target/classes:" + LibraryModules.path());
    }

    /** Whether there is a test, such as {@code io.ofi4j.job.JobTest#method}. */
    private static boolean isThere(String test) {
        String[] names = test.split("#");
        return Stream.concat(ARTIFACTS.stream(), Stream.of("conformance"))
                .map(artifact -> Path.of("..", artifact, "src/test/java", names[0].replace('.', '/') + ".java"))
                .filter(Files::exists).anyMatch(file -> DocumentedThrows.hasMethod(file, names[1]));
    }
}
