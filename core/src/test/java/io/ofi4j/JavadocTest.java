package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every public or protected member of the exported packages has a comment; the build allows missing tags. */
@Tag("gate")
@Tag("once")
class JavadocTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final String BINDINGS = Path.of("../bindings/target/classes").toString();
    private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();

    @TempDir
    Path output;

    @Test
    void everyPublicOrProtectedMemberHasAComment() throws Exception {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            List<String> sources = files.map(Path::toString).filter(file -> file.endsWith(".java")).toList();
            assertThat(membersWithoutComment(sources)).isEmpty();
        }
    }

    @Test
    void aMemberWithoutACommentIsFound() throws Exception {
        Path source = Files.writeString(output.resolve("Sample.java"), """
                package io.ofi4j;

                /** A sample. */
                public interface Sample {
                    /** {@return a number} */
                    int documented(int parameter);

                    int undocumented();

                    @Override
                    String toString();
                }
                """);
        assertThat(membersWithoutComment(List.of(source.toString()))).singleElement().asString()
                .startsWith("Sample.java:8:");
    }

    /** Members that doclint warns of, one line each; missing tags, whose warnings name the tag, are allowed. */
    private List<String> membersWithoutComment(List<String> sources) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("-Xdoclint:missing/protected",
                "-Xdoclint/package:io.ofi4j,io.ofi4j.info,io.ofi4j.job,io.ofi4j.util,io.ofi4j.verbs",
                "-XDrawDiagnostics", "-Xmaxwarns", "10000", "-proc:none", "-d", output.toString(), "-p", BINDINGS));
        arguments.addAll(sources);
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages);
        int status = JAVAC.run(out, out, arguments.toArray(String[]::new));
        assertThat(status).as(messages.toString()).isZero();
        return messages.toString().lines().filter(line -> line.matches("\\w+\\.java:\\d+:.*"))
                .filter(line -> !line.contains("@")).toList();
    }
}
