package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class InfoTest {
    @Test
    void theTableHasEveryProviderOnce() {
        String out = Run.of("info", "--table").succeeded().out();

        for (String provider : Libfabric.load().providers()) {
            assertThat(out).containsOnlyOnce("provider " + provider + " ");
        }
        assertThat(out).contains("RDM", "SHM", "ADDR_STR", "libfabric " + Libfabric.load().version());
    }

    /** The six lines of fi_info's own, of each info. */
    @Test
    void listsAsFiInfoDoes() {
        Libfabric libfabric = Libfabric.load();
        List<String> lines = Run.of("info", "-p", "shm").succeeded().lines();

        assertThat(lines).hasSizeGreaterThanOrEqualTo(6);
        assertThat(lines.subList(0, 6)).containsExactly("provider: shm", "    fabric: shm", "    domain: shm",
                "    version: "
                        + libfabric.info(FabricHints.any().provider("shm")).getFirst().fabric().providerVersion(),
                "    type: FI_EP_RDM", "    protocol: FI_PROTO_SHM");
        assertThat(Run.of("info").succeeded().lines().stream().filter(line -> line.startsWith("provider: "))
                .map(line -> line.substring(10)).distinct()).containsExactlyInAnyOrderElementsOf(libfabric.providers());
    }

    @Test
    void filtersByAddressesAndDestination() {
        assertThat(Run.of("info", "--table", "-p", "sockets", "-a", "FI_SOCKADDR_IN6").succeeded().out())
                .contains(" SOCKADDR_IN6 ").doesNotContain(" SOCKADDR_IN ");
        JsonObject json = json("info", "-p", "sockets", "-n", "127.0.0.1", "-P", "7", "--json").getAsJsonObject();
        assertThat(json.getAsJsonArray("infos")).isNotEmpty()
                .allSatisfy(info -> assertThat(info.getAsJsonObject().get("destinationAddress").getAsString())
                        .isEqualTo("127.0.0.1:7"));
    }

    @Test
    void listsTheVariablesWithAWordInTheirNames() {
        List<String> names = Run.of("info", "-g", "log").succeeded().lines().stream()
                .filter(line -> line.matches("# FI_[A-Z0-9_]+")).toList();

        assertThat(names).contains("# FI_LOG_LEVEL").allMatch(name -> name.contains("LOG"));
        Run.of("info", "-g", "nonsense").failed(1, "'nonsense'", "-e lists all");
    }

    /** The table of the fields in the README has each that this machine shows; others have a device. */
    @Test
    void everyFieldOfTheJsonIsDocumented() throws IOException {
        Set<String> fields = new TreeSet<>();
        collect(json("info", "-v", "--json"), fields);
        String section = Files.readString(Path.of("README.md")).split("\n## The fields of info --json\n")[1]
                .split("\n## ")[0];
        Set<String> documented = new TreeSet<>();
        Pattern.compile("^\\| (`[^|]+`) \\|", Pattern.MULTILINE).matcher(section).results().forEach(
                row -> documented.addAll(List.of(row.group(1).replaceAll("[`.]", " ").strip().split("[ ,]+"))));

        assertThat(documented).containsAll(fields);
    }

    private static void collect(JsonElement value, Set<String> fields) {
        if (value.isJsonObject()) {
            value.getAsJsonObject().entrySet().forEach(entry -> {
                fields.add(entry.getKey());
                collect(entry.getValue(), fields);
            });
        } else if (value.isJsonArray()) { value.getAsJsonArray().forEach(one -> collect(one, fields)); }
    }

    /** As fi_info -l has it. */
    @Test
    void listsTheProvidersAlone() {
        List<String> lines = Run.of("info", "-l").succeeded().lines();

        assertThat(lines.stream().filter(line -> !line.startsWith(" "))).containsExactlyInAnyOrderElementsOf(
                Libfabric.load().providers().stream().map(name -> name + ":").toList());
        for (int i = 0; i < lines.size(); i += 2) {
            assertThat(lines.get(i)).matches("\\S+:");
            assertThat(lines.get(i + 1)).matches(" {4}version: \\d+\\.\\d+");
        }
        assertThat(Run.of("info", "-l", "-p", "shm").succeeded().lines()).hasSize(2).first().isEqualTo("shm:");
    }

    @Test
    void helpOfACommandsCommand() {
        assertThat(Run.of("help", "perf", "write").succeeded().out())
                .isEqualTo(Run.of("perf", "write", "--help").out());
        assertThat(Run.of("help").succeeded().out()).isEqualTo(Run.of("--help").out());
    }

    @Test
    void completionIsAScriptThatBashTakes() throws Exception {
        String script = Run.of("completion").succeeded().out();

        assertThat(script).contains("complete -F", "--verify", "doctor");
        Process bash = new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
        try (var in = bash.outputWriter()) {
            in.write(script);
        }
        assertThat(bash.waitFor()).as(new String(bash.getInputStream().readAllBytes())).isZero();
    }

    /** The script has one list of words for each label. */
    @Test
    void optionsWithWordsOfTheirOwnHaveLabelsOfTheirOwn() { requireOwnLabels(Ofi4j.commandLine()); }

    private static void requireOwnLabels(CommandLine command) {
        assertThat(command.getCommandSpec().options().stream().filter(option -> option.completionCandidates() != null)
                .map(OptionSpec::paramLabel)).as(command.getCommandSpec().qualifiedName()).doesNotHaveDuplicates();
        command.getSubcommands().values().forEach(InfoTest::requireOwnLabels);
    }

    @ParameterizedTest
    @CsvSource({"perf write --threading, safe domain completion", "perf read --progress, auto manual",
            "perf tagged -e, rdm msg", "perf write --path, libfabric verbs"})
    void bashCompletesTheWordsOfAnOption(String typed, String words) throws Exception {
        Process bash = new ProcessBuilder("bash", "-s").redirectErrorStream(true).start();
        try (var in = bash.outputWriter()) {
            in.write(Run.of("completion").succeeded().out());
            in.write("%nCOMP_WORDS=(ofi4j %s '')%nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))%n_complete_ofi4j 2>/dev/null%n"
                    .formatted(typed));
            in.write("echo ${COMPREPLY[*]}%n".formatted());
        }
        assertThat(new String(bash.getInputStream().readAllBytes()).strip()).isEqualTo(words);
        assertThat(bash.waitFor()).isZero();
    }

    @Test
    void showsEverythingOnRequest() {
        assertThat(Run.of("info", "-v", "-p", "shm").succeeded().out()).contains("fi_tx_attr:", "inject_size: 4096",
                "FI_PROTO_SHM");
    }

    @Test
    void filtersAsFiInfoDoes() {
        JsonObject json = json("info", "-p", "sockets", "-d", "lo", "-t", "FI_EP_RDM", "-c", "FI_RMA|FI_ATOMIC",
                "--json").getAsJsonObject();

        assertThat(json.getAsJsonArray("infos")).isNotEmpty().allSatisfy(info -> {
            JsonObject object = info.getAsJsonObject();
            assertThat(object.get("provider").getAsString()).isEqualTo("sockets");
            assertThat(object.getAsJsonObject("domain").get("name").getAsString()).isEqualTo("lo");
            assertThat(object.getAsJsonObject("endpoint").get("type").getAsString()).isEqualTo("RDM");
            assertThat(object.getAsJsonArray("capabilities").toString()).contains("\"RMA\"", "\"ATOMIC\"");
        });
    }

    @Test
    void jsonHasEveryAttribute() {
        JsonObject json = json("info", "-p", "shm", "--json").getAsJsonObject();
        JsonObject info = json.getAsJsonArray("infos").get(0).getAsJsonObject();

        assertThat(json.get("libfabric").getAsString()).isEqualTo(Libfabric.load().version().toString());
        assertThat(info.keySet()).containsExactly("provider", "capabilities", "capabilityBits", "modeBits",
                "addressFormat", "protocolName", "transmit", "receive", "endpoint", "domain", "fabric", "device",
                "sourceAddress", "destinationAddress");
        assertThat(info.getAsJsonObject("transmit").get("injectSize").getAsLong()).isEqualTo(4096);
        assertThat(info.getAsJsonObject("domain").getAsJsonArray("memoryRegionMode")).isNotNull();
    }

    @Test
    void listsTheEnvironment() {
        assertThat(Run.of("info", "-e").succeeded().out()).contains("FI_LOG_LEVEL", "FI_SHM_TX_SIZE");
        JsonArray ofShm = json("info", "-e", "-p", "shm", "--json").getAsJsonArray();
        assertThat(ofShm).isNotEmpty()
                .allSatisfy(one -> assertThat(one.getAsJsonObject().get("name").getAsString()).startsWith("FI_SHM_"));
    }

    @Test
    void helpIsEverywhere() {
        for (String command : new String[]{"", "info", "perf", "perf write", "perf read", "perf inject"}) {
            String[] arguments = (command + " --help").strip().split(" ");
            assertThat(Run.of(arguments).succeeded().out()).contains("Usage: ofi4j " + command, "--stacktrace");
        }
        assertThat(Run.of("--version").succeeded().out()).contains("ofi4j 0.",
                "libfabric " + Libfabric.load().version());
    }

    private static JsonElement json(String... arguments) {
        return JsonParser.parseString(Run.of(arguments).succeeded().out());
    }
}
