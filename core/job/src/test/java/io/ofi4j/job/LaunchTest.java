package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Waiting;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The script that starts a job where there is no launcher. */
@Tag("gate")
@Tag("once")
class LaunchTest {
    @TempDir
    Path folder;

    private record Run(int exit, List<String> out, List<String> err) {}

    private Run launch(Map<String, String> environment, String... arguments) throws Exception {
        // who runs the tests may ignore them, as nohup does, and no shell can trap an ignored signal
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP,INT,TERM", "../../scripts/launch"));
        command.addAll(List.of(arguments));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        return new Run(process.exitValue(), Files.readAllLines(out), Files.readAllLines(err));
    }

    /** A command of the shell that waits until the script has said something. */
    private String awaitSaid(String text) {
        return "until grep -q '" + text + "' " + folder.resolve("err") + "; do sleep 0.02; done; ";
    }

    @ParameterizedTest
    @ValueSource(strings = {",far", "near,", "near,,far"})
    void aHostWithoutANameIsRefused(String hosts) throws Exception {
        Run run = launch(Map.of(), "2", "--hosts", hosts, "--", "true");

        assertThat(run.exit()).isEqualTo(2);
        assertThat(run.err()).singleElement().asString().contains("beside a comma of '" + hosts + "'");
    }

    @Test
    void whatRanksPrintHasTheirRankInFront() throws Exception {
        Run run = launch(Map.of(), "2", "--", "sh", "-c", "echo \"$OFI4J_SIZE  $0\"; echo wrong >&2", "a b");

        assertThat(run.exit()).isZero();
        assertThat(run.out()).containsExactlyInAnyOrder("[0] 2  a b", "[1] 2  a b");
        assertThat(run.err()).containsExactlyInAnyOrder("[0] wrong", "[1] wrong");
    }

    @Test
    void ranksKnowWhereToMeetAndTheSecret() throws Exception {
        Run run = launch(Map.of("OFI4J_LAUNCH_PORT", "12345"), "2", "--", "sh", "-c",
                "echo $OFI4J_RENDEZVOUS ${#OFI4J_SECRET}");

        assertThat(run.out()).containsExactlyInAnyOrder("[0] 127.0.0.1:12345 32", "[1] 127.0.0.1:12345 32");
    }

    @Test
    void theFirstFailureEndsAllWithItsCode() throws Exception {
        Path alive = folder.resolve("alive");
        Run run = launch(Map.of(), "3", "--", "sh", "-c",
                "[ $OFI4J_RANK = 1 ] && exit 7; sleep 40; echo still here >" + alive);

        assertThat(run.exit()).isEqualTo(7);
        assertThat(run.err().stream().filter(line -> line.startsWith("launch: ")))
                .containsExactly("launch: rank 1 ended with status 7");
        assertThat(alive).doesNotExist();
    }

    @Test
    void theStatusIsThatOfAKilledRankEvenIfAnotherFailedBefore() throws Exception {
        Run run = launch(Map.of(), "2", "--", "sh", "-c",
                "[ $OFI4J_RANK = 1 ] && exit 4; " + awaitSaid("rank 1 ended") + "kill -9 $$");

        assertThat(run.exit()).isEqualTo(128 + 9);
        assertThat(run.err().stream().filter(line -> line.startsWith("launch: ")))
                .containsExactly("launch: rank 1 ended with status 4", "launch: rank 0 ended with status 137");
    }

    @Test
    void othersGoOnAfterAFailureIfAskedTo() throws Exception {
        Path gone = folder.resolve("gone");
        Run run = launch(Map.of(), "3", "--keep-going", "--", "sh", "-c",
                "if [ $OFI4J_RANK = 1 ]; then (" + awaitSaid("rank 1 ended") + ": >" + gone
                        + ") & exec kill -9 $$; fi; while [ ! -e " + gone
                        + " ]; do sleep 0.1; done; echo went on; exit $OFI4J_RANK");

        assertThat(run.exit()).isEqualTo(128 + 9);
        assertThat(run.err().stream().filter(line -> line.startsWith("launch: ")))
                .containsExactly("launch: rank 1 ended with status 137", "launch: rank 2 ended with status 2");
        assertThat(run.out()).containsExactlyInAnyOrder("[0] went on", "[2] went on");
    }

    @Test
    void aRankThatIsKilledWhileOthersAreStartedEndsThem() throws Exception {
        Run run = launch(Map.of(), "6", "--", "sh", "-c", "[ $OFI4J_RANK != 0 ] || exec kill -9 $$; exec sleep 40");

        assertThat(run.exit()).isEqualTo(128 + 9);
        assertThat(run.err()).contains("launch: rank 0 ended with status 137");
    }

    @ParameterizedTest
    @CsvSource({"HUP,129", "INT,130", "TERM,143"})
    void ranksEndWithTheScript(String signal, int status) throws Exception {
        Run run = launch(Map.of(), "2", "--", "sh", "-c",
                "echo $$ >" + folder + "/pid.$OFI4J_RANK; until [ -s " + folder + "/pid.0 ] && [ -s " + folder
                        + "/pid.1 ]; do sleep 0.05; done; if [ $OFI4J_RANK = 1 ]; then kill -" + signal
                        + " $(ps -o ppid= -p $$); fi; exec sleep 300");

        assertThat(run.exit()).as(run.err().toString()).isEqualTo(status);
        for (int rank = 0; rank < 2; rank++) {
            long pid = Long.parseLong(Files.readString(folder.resolve("pid." + rank)).strip());
            Waiting.BACKOFF.until(() -> ProcessHandle.of(pid).isEmpty(), Pair.DEADLINE);
        }
    }

    @Test
    void hostsGetTheirRanksInBlocksThroughTheAgent() throws Exception {
        Run run = launch(Map.of("OFI4J_LAUNCH_AGENT", agent().toString()), "4", "--hosts", "near,far", "--", "sh", "-c",
                "echo $HOST $OFI4J_RENDEZVOUS | sed 's/:.*//'");

        assertThat(run.exit()).as(run.err().toString()).isZero();
        assertThat(run.out()).containsExactlyInAnyOrder("[0] near near", "[1] near near", "[2] far near",
                "[3] far near");
    }

    @Test
    void aFailureOnOneHostEndsTheProcessesOnOthers() throws Exception {
        Path pid = folder.resolve("pid");
        Run run = launch(Map.of("OFI4J_LAUNCH_AGENT", agent().toString()), "2", "--hosts", "near,far", "--", "sh", "-c",
                "if [ $HOST = far ]; then while [ ! -s " + pid + " ]; do sleep 0.1; done; exit 5; fi; echo $$ >" + pid
                        + "; exec sleep 40");

        assertThat(run.exit()).as(run.err().toString()).isEqualTo(5);
        long number = Long.parseLong(Files.readString(pid).strip());
        Waiting.BACKOFF.until(() -> ProcessHandle.of(number).isEmpty(), Pair.DEADLINE);
    }

    /** In the place of ssh: the host's name is a variable. It leaves its process group, as another machine would. */
    private Path agent() throws IOException {
        Path agent = Files.writeString(folder.resolve("agent"), "#!/bin/sh\nHOST=$1 exec bash -c \"$2\"\n");
        return Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void badArgumentsAreSaidInASentence() throws Exception {
        assertThat(launch(Map.of(), "none", "--", "true").err()).singleElement().asString()
                .contains("a number of processes first");
        assertThat(launch(Map.of(), "2", "true").err()).singleElement().asString().contains("behind '--'");
        assertThat(launch(Map.of(), "2", "--keep", "--", "true").err()).singleElement().asString()
                .contains("no option --keep");
        Run run = launch(Map.of(), "1", "--", "/nonexistent");
        assertThat(run.exit()).isEqualTo(127);
    }
}
