package io.ofi4j.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The lines of code in javadoc and guides compile, in one of the classes of {@code resources/examples}, which have the
 * names that the lines do not declare. Whole programs of guides run in another test.
 */
@Tag("gate")
@Tag("once")
class ExampleTest {
    private static final Path CORE = Path.of("..");
    private static final Path CLASSES = Path.of("src/test/resources/examples");
    private static final String MODULES = String.join(":", "../../bindings/fabric/target/classes",
            "../../bindings/verbs/target/classes", "../fabric/target/classes", "../job/target/classes",
            "../durable/target/classes", "../verbs/target/classes", "../test/target/classes", "../netty/target/classes",
            LibraryModules.path());
    private static final Pattern IN_JAVADOC = Pattern.compile("<pre>\\{@code(.*?)}</pre>", Pattern.DOTALL);
    private static final Pattern IN_GUIDE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    /** Of a library that the project does not use. */
    private static final String FOREIGN = "import io.grpc.";
    private static final ToolProvider JAVAC = ToolProvider.findFirst("javac").orElseThrow();

    @TempDir
    Path folder;

    /** Some lines of code, and where they are. */
    record Example(String place, String code) {
        @Override
        public String toString() { return place; }
    }

    static List<Example> examples() throws IOException {
        List<Example> found = new ArrayList<>();
        for (Path file : files("*/src/main/java", ".java")) {
            found.addAll(in(file, IN_JAVADOC));
        }
        for (Path file : files("guide", ".md")) {
            found.addAll(in(file, IN_GUIDE).stream()
                    .filter(example -> !isProgram(example.code) && !example.code.contains(FOREIGN)).toList());
        }
        return found;
    }

    private static List<Path> files(String folder, String ending) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path module : folder.startsWith("*") ? modules(folder.substring(2)) : List.of(CORE.resolve(folder))) {
            try (Stream<Path> files = Files.walk(module)) {
                files.filter(file -> file.toString().endsWith(ending)).sorted().forEach(found::add);
            }
        }
        return found;
    }

    private static List<Path> modules(String sources) throws IOException {
        try (Stream<Path> folders = Files.list(CORE)) {
            return folders.map(module -> module.resolve(sources)).filter(Files::isDirectory).sorted().toList();
        }
    }

    private static List<Example> in(Path file, Pattern code) throws IOException {
        String text = Files.readString(file);
        List<Example> found = new ArrayList<>();
        for (Matcher matcher = code.matcher(text); matcher.find();) {
            long line = text.substring(0, matcher.start()).lines().count() + 1;
            found.add(new Example(CORE.relativize(file) + ":" + line,
                    matcher.group(1).replaceAll("(?m)^\\s*\\* ?", "").strip()));
        }
        return found;
    }

    private static boolean isProgram(String code) {
        return code.contains("static void main(") || code.contains("class ");
    }

    @ParameterizedTest
    @MethodSource("examples")
    void anExampleCompiles(Example example) throws IOException {
        boolean isOfVerbs = example.place.startsWith("verbs") || example.place.startsWith("guide/VERBS");
        assertThat(errors(example.code, isOfVerbs ? "VerbsNames.java" : "Names.java")).isEmpty();
    }

    @Test
    void anExampleOfAMethodThatIsNotThereIsFound() throws IOException {
        assertThat(errors("endpoint.rma().write(region, 0, 64, peer, remote, 0, token);", "Names.java"))
                .contains("compiler.err.cant.apply.symbol");
    }

    /** {@return what the compiler says of it} */
    private String errors(String code, String names) throws IOException {
        Path source = Files.writeString(folder.resolve("Example.java"),
                whole(code, Files.readString(CLASSES.resolve(names))));
        StringWriter messages = new StringWriter();
        PrintWriter out = new PrintWriter(messages);
        JAVAC.run(out, out, "-XDrawDiagnostics", "-proc:none", "-d", folder.toString(), "-p", MODULES, "--add-modules",
                "ALL-MODULE-PATH", source.toString());
        return messages.toString();
    }

    /** An ellipsis stands for what the reader writes. */
    private static String whole(String example, String names) {
        String code = example.replace("...", "{}");
        String statements = code.contains(";") ? code : "Object value = " + code + ";";
        boolean isMember = code.startsWith("@");
        return names.replace("/* members */", isMember ? code : "").replace("/* lines */", isMember ? "" : statements);
    }
}
