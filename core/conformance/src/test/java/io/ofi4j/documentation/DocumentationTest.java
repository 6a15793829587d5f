package io.ofi4j.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Holds documents and comments to the width of a page, documents to the files they link to, and the README to its
 * program.
 */
@Tag("once")
class DocumentationTest {
    private static final Path ROOT = Path.of("../..");
    private static final Path README = ROOT.resolve("README.md");
    private static final Path PROGRAM = ROOT
            .resolve("examples/programs/src/main/java/io/ofi4j/examples/WriteToPeer.java");
    private static final Set<String> NO_DOCUMENTS = Set.of(".git", ".cache", "target");
    private static final Pattern COMMENT = Pattern.compile("\\s*(\\*|/\\*\\*|//).*");
    private static final Pattern LINK = Pattern.compile("]\\(([^)#]*)(?:#([^)]*))?\\)");

    @Test
    void theProgramOfTheReadmeIsOneThatRuns() throws IOException {
        Matcher quoted = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(README));
        assertThat(quoted.find()).as("a program in " + README).isTrue();
        assertThat(withoutLayout(quoted.group(1))).isEqualTo(withoutLayout(Files.readString(PROGRAM)));
    }

    /** The code: without the package, comments and lines. */
    private static String withoutLayout(String program) {
        return program.replaceFirst("package .*", "").replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("//.*", "")
                .replaceAll("\\s+", " ").strip();
    }

    @Test
    void everyScriptHasASection() throws IOException {
        List<String> headings = headings(ROOT.resolve("scripts/README.md"));
        try (Stream<Path> files = Files.list(ROOT.resolve("scripts"))) {
            assertThat(files.filter(Files::isExecutable).filter(Files::isRegularFile))
                    .allSatisfy(script -> assertThat(headings).contains(script.getFileName().toString()));
        }
    }

    /** Every Markdown file that is not in a folder of the build. */
    static Stream<Path> documents() throws IOException {
        return files(".md");
    }

    private static Stream<Path> files(String suffix) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return NO_DOCUMENTS.contains(folder.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(suffix)) { found.add(file); }
                return FileVisitResult.CONTINUE;
            }
        });
        return found.stream().sorted();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("documents")
    void everyLinkLeadsSomewhere(Path document) throws IOException {
        for (MatchResult link : LINK.matcher(Files.readString(document)).results().toList()) {
            String target = link.group(1);
            if (target.contains("://")) { continue; }
            Path file = target.isEmpty() ? document : document.resolveSibling(target);
            assertThat(file).as("%s in %s", link.group(), document).exists();
            if (link.group(2) != null) {
                assertThat(headings(file)).as("%s in %s", link.group(), document).contains(link.group(2));
            }
        }
    }

    /** Rows of tables excepted, which cannot be broken. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("documents")
    void noLineIsLongerThan120Columns(Path document) throws IOException {
        assertThat(Files.readAllLines(document)).filteredOn(line -> !line.strip().startsWith("|"))
                .allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(120));
    }

    /** Those of the generated bindings excepted. The formatter keeps code to this width, and not comments. */
    @Test
    void noLineOfACommentIsLongerThan120Columns() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path source : files(".java").filter(file -> !file.startsWith(ROOT.resolve("bindings"))).toList()) {
            Files.readAllLines(source).stream().filter(COMMENT.asMatchPredicate()).filter(line -> line.length() > 120)
                    .map(line -> source + ": " + line).forEach(tooLong::add);
        }
        assertThat(tooLong).isEmpty();
    }

    /** The anchors of a document's headings. */
    private static List<String> headings(Path document) throws IOException {
        return Files.readAllLines(document).stream().filter(line -> line.startsWith("#")).map(line -> line
                .replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-'))
                .toList();
    }
}
