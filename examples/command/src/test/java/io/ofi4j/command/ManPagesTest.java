package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What is written by hand for the man pages, which {@code scripts/package} makes. */
class ManPagesTest {
    private static final Path FOLDER = Path.of("src/main/man");
    private static final Pattern REFERENCE = Pattern.compile("\\*(ofi4j[a-z-]*)\\*\\(1\\)");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    private static List<String> pages() {
        return CommandTree.all().stream().map(command -> command.getCommandSpec().qualifiedName("-")).toList();
    }

    private static List<String> lines(String page) throws IOException {
        return Files.readAllLines(FOLDER.resolve(page + ".adoc"));
    }

    @Test
    void everyCommandHasAPage() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            assertThat(files.map(file -> file.getFileName().toString().replace(".adoc", ""))
                    .filter(name -> name.startsWith("ofi4j"))).containsExactlyInAnyOrderElementsOf(pages());
        }
        for (String page : pages()) {
            assertThat(lines(page)).as(page).contains("// tag::examples[]", "// end::examples[]", "// tag::see-also[]",
                    "// end::see-also[]");
        }
    }

    @Test
    void everyExampleIsOfItsCommandAndIsTaken() throws IOException {
        for (String page : pages()) {
            List<String> examples = lines(page).stream().filter(line -> line.startsWith(" ")).map(String::strip)
                    .toList();
            String command = page.equals("ofi4j-perf") ? "ofi4j perf" : page.replace('-', ' ');
            assertThat(examples).as(page).isNotEmpty().allMatch(
                    example -> example.startsWith("ofi4j ") && (example.startsWith(command) || page.equals("ofi4j")));
            examples.stream().filter(example -> !example.contains("--library")).forEach(ManPagesTest::parse);
        }
    }

    private static void parse(String example) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(example.substring("ofi4j ".length()));
        while (matcher.find()) {
            words.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
        }
        CommandLine.ParseResult parsed = Ofi4j.commandLine().parseArgs(words.toArray(String[]::new));
        assertThat(parsed.hasSubcommand()).as(example).isTrue();
    }

    @Test
    void everyPageThatIsReferredToIsThere() throws IOException {
        for (String page : pages()) {
            assertThat(REFERENCE.matcher(String.join("\n", lines(page))).results().map(match -> match.group(1)))
                    .as(page).isSubsetOf(pages()).doesNotContain(page);
        }
        assertThat(REFERENCE.matcher(String.join("\n", lines("ofi4j"))).results())
                .hasSameSizeAs(Ofi4j.commandLine().getSubcommands().keySet());
    }
}
