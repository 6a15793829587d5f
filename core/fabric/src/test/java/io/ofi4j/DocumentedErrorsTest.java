package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The javadoc of a public method, or of its class, names the errors that its first lines throw; the formatter lays out the sources. */
@Tag("once")
class DocumentedErrorsTest {
    private static final Path SOURCES = Path.of("src", "main", "java", "io", "ofi4j");
    private static final Pattern CHECKS_THREAD = Pattern
            .compile("checkThread\\(\\)|guard\\.enter\\(\\)|endpoint\\.(requireEnabled\\(|whileOpen\\()");
    private static final Pattern METHOD = Pattern.compile(" {4}(public|private) (?!.*(class|record|enum) )[^=]*\\(.*");

    /**
     * A method as it stands in a file.
     *
     * @param where for messages
     * @param isPublic whether users call it
     * @param name without its parameters
     * @param javadoc its comment and its class's
     * @param body what it does
     */
    private record Method(String where, boolean isPublic, String name, String javadoc, String body) {
        boolean calls(String other) { return Pattern.compile("(?<![.\\w])(" + other + ")\\(").matcher(body).find(); }
    }

    private static List<Method> methods(Path file) {
        try {
            List<String> lines = Files.readAllLines(file);
            String ofClass = String.join("\n", lines).replaceFirst("(?s)\npublic .*", "").replaceFirst("(?s).*/\\*\\*",
                    "");
            List<Method> found = new ArrayList<>();
            for (int i = 0; i < lines.size(); i++) {
                if (METHOD.matcher(lines.get(i)).matches()) { found.add(method(file, lines, i, ofClass)); }
            }
            return found;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Method method(Path file, List<String> lines, int at, String ofClass) {
        String line = lines.get(at);
        int begin = at - 1;
        while (lines.get(begin).startsWith("    @")) {
            begin--;
        }
        int end = begin + 1;
        if (lines.get(begin).endsWith("*/")) {
            while (!lines.get(begin).startsWith("    /**")) {
                begin--;
            }
        } else {
            begin = end;
        }
        int last = at;
        while (lines.get(last).startsWith("        ") || !lines.get(last).matches(".*[;}]")) {
            last++;
        }
        String text = String.join("\n", lines.subList(at, last + 1));
        String name = line.substring(0, line.indexOf('(')).replaceFirst(".* ", "");
        return new Method(file.getFileName() + ":" + (at + 1) + " " + name, line.startsWith("    public "), name,
                ofClass + String.join("\n", lines.subList(begin, end)), text.substring(text.indexOf('{') + 1));
    }

    /** Public classes' methods that look, at once or in a private method, whose thread this is. */
    private static Stream<Method> checked(List<Method> methods) {
        List<String> checks = methods.stream().filter(method -> !method.isPublic())
                .filter(method -> CHECKS_THREAD.matcher(method.body()).find()).map(Method::name).toList();
        return methods.stream().filter(Method::isPublic).filter(
                method -> CHECKS_THREAD.matcher(method.body()).find() || checks.stream().anyMatch(method::calls));
    }

    private static Stream<List<Method>> publicClasses() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> read(file).matches("(?s).*\npublic [^\n]*(class|interface|enum) .*")).sorted()
                    .map(DocumentedErrorsTest::methods).toList().stream();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatIsOneThreadsSaysSo() throws IOException {
        List<Method> checked = publicClasses().flatMap(DocumentedErrorsTest::checked).toList();

        assertThat(checked).extracting(Method::where).as("methods that look whose thread this is")
                .hasSizeGreaterThan(40);
        assertThat(checked.stream().filter(method -> !method.javadoc().contains("WrongThreadException"))
                .map(Method::where)).as("without WrongThreadException").isEmpty();
    }

    @Test
    void whatMustBeOpenSaysSo() throws IOException {
        List<Method> checked = publicClasses().flatMap(List::stream).filter(Method::isPublic)
                .filter(method -> method.calls("requireOpen|requireEnabled")).toList();

        assertThat(checked).extracting(Method::where).as("methods that need what is open").hasSizeGreaterThan(30);
        assertThat(checked.stream().filter(method -> !method.javadoc().contains("IllegalStateException"))
                .map(Method::where)).as("without IllegalStateException").isEmpty();
    }
}
