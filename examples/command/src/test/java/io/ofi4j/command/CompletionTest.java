package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Libfabric;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
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
        Files.writeString(program, Run.of("completion").succeeded().out() + COMPLETE.get(shell) + command()
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

    /** A function of the shell that runs the command. */
    private static String command() {
        return "ofi4j() {\n" + Forked.command(Forked.Launch.USUAL).stream().map(word -> "'" + word + "'")
                .collect(Collectors.joining(" ")) + " \"$@\"\n}\n";
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

    /** Tools that know only the class find the same, but for the names of providers. */
    @Test
    void theClassSaysWhatTheCommandSays() {
        List<String> script = Run.of("completion").succeeded().out().lines().toList();

        assertThat(script)
                .containsSubsequence(AutoComplete.bash("ofi4j", new CommandLine(new Ofi4j())).lines().toList());
    }

    /** As the machine has them, with what the command needs; the shell would end the command at a semicolon. */
    @ParameterizedTest
    @ValueSource(strings = {"bash", "zsh"})
    void providersAreThoseOfThisMachineInTheFormThatTheShellNeeds(String shell) throws Exception {
        requireShell(shell);
        Map<String, Set<String>> offered = offered(shell, List.of("ofi4j info -p ''", "ofi4j perf write --provider ''",
                "ofi4j perf msg -e msg -p ''", "ofi4j perf atomic -p ''", "ofi4j verify -e DGRAM -p ''"));

        assertThat(offered.get("ofi4j info -p")).isEqualTo(names(FabricHints.any()));
        assertThat(offered.get("ofi4j perf write --provider")).contains("shm", "tcp\\;ofi_rxm")
                .isEqualTo(names(FabricHints.rma()));
        assertThat(offered.get("ofi4j perf msg -e msg -p")).contains("tcp").doesNotContain("shm")
                .isEqualTo(names(FabricHints.connected().capabilities(Capability.MSG)));
        assertThat(offered.get("ofi4j perf atomic -p")).isEqualTo(names(FabricHints.atomics()));
        assertThat(offered.get("ofi4j verify -e DGRAM -p")).contains("udp").doesNotContain("tcp\\;ofi_rxm");
    }

    private static Set<String> names(FabricHints hints) {
        return Libfabric.load().info(hints.threading(ThreadingModel.UNSPECIFIED)).stream()
                .map(info -> info.provider().replace(";", "\\;")).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theBeginningOfAProviderIsCompletedWithItsSemicolonAndWithoutABackslashBetweenQuotes() throws Exception {
        Map<String, Set<String>> offered = offered("bash",
                List.of("ofi4j soak -p 'tcp\\;o'", "ofi4j soak -p \"'tcp;o\"", "ofi4j soak -p sh"));

        assertThat(offered).containsExactly(Map.entry("ofi4j soak -p tcp\\;o", Set.of("tcp\\;ofi_rxm")),
                Map.entry("ofi4j soak -p 'tcp;o", Set.of("tcp;ofi_rxm")), Map.entry("ofi4j soak -p sh", Set.of("shm")));
    }

    static Stream<Arguments> offeredValues() {
        return CommandTree.all().stream().flatMap(command -> command.getCommandSpec().options().stream()
                .filter(option -> !option.hidden() && option.completionCandidates() != null)
                .flatMap(option -> StreamSupport.stream(option.completionCandidates().spliterator(), false).map(
                        value -> Arguments.of(command.getCommandSpec().qualifiedName(), option.longestName(), value))));
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @MethodSource("offeredValues")
    void noValueIsOfferedThatIsRefused(String name, String option, String value) {
        List<String> words = new ArrayList<>(Arrays.asList(name.split(" ")));
        words.addAll(List.of(option, value));

        assertThatCode(() -> Ofi4j.commandLine().parseArgs(words.subList(1, words.size()).toArray(String[]::new)))
                .doesNotThrowAnyException();
    }
}
