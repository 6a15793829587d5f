package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.AutoComplete;
import picocli.CommandLine;

/** What the shell offers behind the words that were typed. */
@Tag("gate")
@Tag("once")
class CompletionTest {
    /** Of zsh, as its bashcompinit calls a function that was written for bash. */
    private static final Map<String, String> COMPLETE = Map.of("bash", """
            compopt() { :; } # which bash knows while it completes
            complete_words() {
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
                _complete_ofi4j
                echo "$* => ${COMPREPLY[*]}" | tr '\\n' ' '
                echo
            }
            """, "zsh", """
            complete_words() {
                emulate -L sh
                setopt kshglob noshglob braceexpand
                local -a COMP_WORDS COMPREPLY
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
                _complete_ofi4j
                echo "$* => ${COMPREPLY[*]}" | tr '\\n' ' '
                echo
            }
            """);

    @TempDir
    Path folder;

    private static void requireShell(String shell) {
        assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(at -> Files.isExecutable(Path.of(at, shell))),
                shell + " is not installed");
    }

    /** {@return what is offered, by the words before it} */
    private Map<String, Set<String>> offered(String shell, List<String> lines) throws Exception {
        Path program = folder.resolve("program");
        Path output = folder.resolve("output");
        Files.writeString(program, Run.of("completion").succeeded().out() + COMPLETE.get(shell)
                + String.join("\n", lines.stream().map(line -> "complete_words " + line).toList()) + "\n");
        List<String> command = shell.equals("zsh")
                ? List.of("zsh", "-f", "-c", "autoload -U +X compinit && compinit -D -u; source \"$1\"", "zsh",
                        program.toString())
                : List.of("bash", program.toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        assertThat(process.waitFor(Patience.seconds(120).toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        Map<String, Set<String>> offered = new LinkedHashMap<>();
        for (String line : Files.readAllLines(output)) {
            String[] parts = line.split(" => ", 2);
            assertThat(parts).as(line).hasSize(2);
            offered.put(parts[0].strip(), new TreeSet<>(Arrays.asList(parts[1].strip().split(" +"))));
        }
        assertThat(offered).hasSize(lines.size());
        return offered;
    }

    @ParameterizedTest
    @ValueSource(strings = {"bash", "zsh"})
    void everyCommandOffersItsOptions(String shell) throws Exception {
        requireShell(shell);
        List<CommandLine> commands = CommandTree.all();
        Map<String, Set<String>> offered = offered(shell,
                commands.stream().map(command -> command.getCommandSpec().qualifiedName() + " -").toList());

        for (CommandLine command : commands) {
            String name = command.getCommandSpec().qualifiedName();
            assertThat(offered.get(name + " -")).as(name)
                    .containsExactlyInAnyOrderElementsOf(CommandTree.options(command));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bash", "zsh"})
    void everyCommandOffersItsCommands(String shell) throws Exception {
        requireShell(shell);
        List<CommandLine> parents = CommandTree.all().stream().filter(command -> !command.getSubcommands().isEmpty())
                .toList();
        Map<String, Set<String>> offered = offered(shell,
                parents.stream().map(command -> command.getCommandSpec().qualifiedName() + " ''").toList());

        for (CommandLine parent : parents) {
            String name = parent.getCommandSpec().qualifiedName();
            assertThat(offered.get(name)).as(name)
                    .containsExactlyInAnyOrderElementsOf(parent.getSubcommands().keySet());
        }
    }

    /** zsh itself picks those of all that are offered. */
    @Test
    void beginningsOfWordsAreCompleted() throws Exception {
        Map<String, Set<String>> offered = offered("bash",
                List.of("ofi4j do", "ofi4j perf writed", "ofi4j perf write --verif", "ofi4j perf write --path v"));

        assertThat(offered.values()).containsExactly(Set.of("doctor"), Set.of("writedata"), Set.of("--verify"),
                Set.of("verbs"));
    }

    /** Tools that know only the class find the same. */
    @Test
    void theClassSaysWhatTheCommandSays() {
        assertThat(AutoComplete.bash("ofi4j", new CommandLine(new Ofi4j())))
                .isEqualTo(Run.of("completion").succeeded().out());
    }
}
