package io.ofi4j.documentation;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every public or protected member of the exported packages has a comment; the build allows missing tags. */
@Tag("gate")
@Tag("once")
class JavadocTest {
    private static final String MODULES = String.join(":", "../../bindings/fabric/target/classes",
            "../../bindings/verbs/target/classes", "../fabric/target/classes", "../job/target/classes",
            LibraryModules.path());
    private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();

    @TempDir
    Path output;

    @ParameterizedTest
    @ValueSource(strings = {"fabric", "job", "durable", "verbs", "test", "netty"})
    void everyPublicOrProtectedMemberHasAComment(String artifact) throws Exception {
        try (Stream<Path> files = Files.walk(Path.of("..", artifact, "src/main/java"))) {
            List<String> sources = files.map(Path::toString).filter(file -> file.endsWith(".java")).toList();
            assertThat(sources).isNotEmpty();
            assertThat(membersWithoutComment(sources, MODULES)).isEmpty();
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
        assertThat(membersWithoutComment(List.of(source.toString()), "")).singleElement().asString()
                .startsWith("Sample.java:8:");
    }

    /** Members that doclint warns of, one line each; missing tags, whose warnings name the tag, are allowed. */
    private List<String> membersWithoutComment(List<String> sources, String modules) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("-Xdoclint:missing/protected",
                "-Xdoclint/package:io.ofi4j,io.ofi4j.info,io.ofi4j.job,io.ofi4j.netty,io.ofi4j.test,io.ofi4j.util,io.ofi4j.verbs",
                "-XDrawDiagnostics", "-Xmaxwarns", "10000", "-proc:none", "-d", output.toString(), "-p", modules));
        arguments.addAll(sources);
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages);
        int status = JAVAC.run(out, out, arguments.toArray(String[]::new));
        assertThat(status).as(messages.toString()).isZero();
        return messages.toString().lines().filter(line -> line.matches("\\w+\\.java:\\d+:.*"))
                .filter(line -> !line.contains("@")).toList();
    }
}
