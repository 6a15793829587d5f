package io.ofi4j.command;

import static io.ofi4j.command.Forked.Launch.REFUSING;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("gate")
@Tag("once")
class BadInputTest {
    private static final int LEAST = 100;
    /** Of so many, one is tried in a process of its own. */
    private static final int EACH = 7;
    private static final String LINES = """
            ''                                         > 2 > info, perf, doctor, verify, soak, top or verbs
            verbs                                      > 2 > Say which command: info
            verbs infos                                > 2 > infos
            verbs info -d nosuch                       > 1 > RDMA device
            nonsense                                   > 2 > There is no command 'nonsense'
            nonsense --help                            > 2 > There is no command 'nonsense'
            perf nonsense --help                       > 2 > There is no command 'nonsense'
            inf                                        > 2 > There is no command 'inf': did you mean 'info'?
            perf wrte                                  > 2 > did you mean 'write'?
            perf write --windwo 3                      > 2 > did you mean '--window'?
            help perf wrte                             > 2 > no command 'wrte'; did you mean 'write'?
            info -p smh                                > 1 > No provider 'smh'; did you mean 'shm'?
            info --nonsense                            > 2 > --nonsense
            info stray                                 > 2 > stray
            info -p nonsense                           > 1 > No provider 'nonsense'; shm
            info -p ''                                 > 2 > --provider; the name is empty
            info -p shm -d ''                          > 2 > --domain; the name is empty
            perf write -p ''                           > 2 > --provider; the name is empty
            soak -p ''                                 > 2 > --provider; the name is empty
            info -p shm -d nonsense                    > 1 > no domain 'nonsense'; there is shm
            info -p shm -f nonsense                    > 1 > no fabric 'nonsense'; there is shm
            info -p shm -c COLLECTIVE                  > 1 > COLLECTIVE; RMA
            info -c RMA|nonsense                       > 2 > no capability 'nonsense'; FENCE
            info -t nonsense                           > 2 > no endpoint type 'nonsense'; MSG, DGRAM, RDM
            info -p shm -t msg                         > 1 > MSG; RDM
            info -e -p nonsense                        > 1 > 'nonsense'; shm
            soak -p nonsense                           > 1 > No provider 'nonsense'; shm
            soak --duration 0                          > 2 > '0'; from 1 to
            soak --duration x                          > 2 > 'x'
            soak --seed x                              > 2 > 'x'
            top x                                      > 2 > 'x'; number
            top 0                                      > 2 > '0'; number
            top 1 2                                    > 2 > 2
            top 999999999                              > 1 > There is no process 999999999
            top -n 2                                   > 2 > -n; PID
            top 1 -i 0                                 > 2 > '0'; seconds; from 1 to 3600
            doctor stray                               > 2 > stray
            perf                                       > 2 > write, read, inject, writedata, msg, tagged, atomic or save
            info -P 7                                  > 2 > -P goes with -n
            info -v -l                                 > 2 > --verbose; --list; mutually exclusive
            info -a nonsense                           > 2 > no address format 'nonsense'; SOCKADDR_IN6
            info --library /nonexistent/libfabric.so.1 > 2 > --library; no file '/nonexistent/libfabric.so.1'
            --library= doctor                          > 2 > --library; no file ''
            perf nonsense                              > 2 > nonsense
            perf write -p nonsense                     > 1 > No provider 'nonsense'; shm
            perf write -d nonsense                     > 1 > no domain 'nonsense'
            perf write -S 1x                           > 2 > '1x'; from 0 to 64g
            perf write -S -1                           > 2 > '-1'; from 0 to 64g
            perf write -S 8,                           > 2 > ''; from 0 to 64g
            perf write -S 65g                          > 2 > '65g'; from 0 to 64g
            perf write -S 99999999999999999999         > 2 > from 0 to 64g
            perf write -S k                            > 2 > 'k'
            perf write --json --csv                    > 2 > --json; --csv
            perf write -I 5 -D 1                       > 2 > -I; -D
            perf write -D 0                            > 2 > '0'; from 1 to
            perf write --histogram /nonexistent/file   > 2 > --histogram; /nonexistent is none
            perf write --histogram /dev/full -S 8 -I 10 -w 1 --json > 1 > histogram; /dev/full
            perf write --server -s no.such.machine.invalid > 1 > 'no.such.machine.invalid'; -s
            perf write --chart /nonexistent/c.html     > 2 > --chart; /nonexistent is none
            perf write --chart latencies.png           > 2 > --chart; .html
            perf write -I 0                            > 2 > '0'; from 1 to
            perf write -I x                            > 2 > --iterations; 'x'; from 1 to
            perf write -w -1                           > 2 > -w
            perf write --rate 0                        > 2 > '0'; from 1 to
            perf write --rate x                        > 2 > 'x'; operations per second
            perf write -W 0                            > 2 > '0'; from 1 to 4096
            perf write -W 4097                         > 2 > '4097'; from 1 to 4096
            perf write -P 0 localhost                  > 2 > '0'; port from 1 to 65535
            perf write -P 65536 localhost              > 2 > port from 1 to 65535
            perf write --server -B x                   > 2 > 'x'; port from 0 to 65535
            perf write --timeout 0                     > 2 > '0'; from 1 to 86400
            perf write --threading fast                > 2 > 'fast'; safe, domain, completion
            perf write --progress fast                 > 2 > 'fast'; auto, manual
            perf write -p shm --progress auto          > 1 > shm does not offer progress AUTO
            perf write --server localhost              > 2 > --server; HOST
            perf write --keep                          > 2 > --keep; --server
            perf write -B 9999                         > 2 > -B; --server
            perf write -P 9999                         > 2 > -P; HOST
            perf write a b                             > 2 > b
            perf write -s 192.0.2.77                   > 1 > '192.0.2.77'; -s
            perf write --server -s no.invalid          > 1 > 'no.invalid'; -s
            perf write no.invalid                      > 1 > no host 'no.invalid'
            perf inject -S 8,4097                      > 1 > at most 4096 bytes; 4097; -S
            perf write --server -B 0 --timeout 1       > 1 > No client came; --timeout
            info -p                                    > 2 > -p
            info -p shm -p tcp                         > 2 > -p
            info -t                                    > 2 > -t
            info -c                                    > 2 > -c
            info -c ''                                 > 2 > no capability
            info --json=x                              > 2 > --json
            info -v=x                                  > 2 > -v
            info -p shm -t DGRAM                       > 1 > DGRAM; RDM
            info -x                                    > 2 > -x
            info --jsom                                > 2 > --jsom
            --nonsense                                 > 2 > --nonsense
            -p shm                                     > 2 > -p
            INFO                                       > 2 > INFO
            info info                                  > 2 > info
            perf write -p                              > 2 > -p
            perf write -S                              > 2 > --sizes
            perf write -S ,                            > 2 > ''; from 0 to 64g
            perf write -S 8,,16                        > 2 > ''; from 0 to 64g
            perf write -S 1.5                          > 2 > '1.5'; from 0 to 64g
            perf write -S 8q                           > 2 > '8q'
            perf write -S 0x10                         > 2 > '0x10'
            perf write -S 64g,1k,x                     > 2 > 'x'
            perf write -S all,8                        > 2 > 'all'
            perf write -I -5                           > 2 > '-5'; from 1 to
            perf write -I 99999999999999999999         > 2 > --iterations; from 1 to
            perf write -I 1e6                          > 2 > '1e6'
            perf write -I                              > 2 > --iterations
            perf write -w x                            > 2 > 'x'; -w
            perf write -W x                            > 2 > 'x'; from 1 to 4096
            perf write -W -1                           > 2 > '-1'; from 1 to 4096
            perf write -W 99999999999                  > 2 > from 1 to 4096
            perf write -P x localhost                  > 2 > 'x'; port from 1 to 65535
            perf write -P -1 localhost                 > 2 > port from 1 to 65535
            perf write --server -B -1                  > 2 > port from 0 to 65535
            perf write --server -B 65536               > 2 > port from 0 to 65535
            perf write --timeout x                     > 2 > 'x'; from 1 to 86400
            perf write --timeout -1                    > 2 > '-1'; from 1 to 86400
            perf write --timeout 86401                 > 2 > from 1 to 86400
            perf write --threading                     > 2 > --threading
            perf write --progress                      > 2 > --progress
            perf write --server --keep stray           > 2 > --server; HOST
            perf read -p nonsense                      > 1 > No provider 'nonsense'; shm
            perf inject -p nonsense                    > 1 > No provider 'nonsense'; shm
            perf read -S 65g                           > 2 > from 0 to 64g
            perf inject -W 0                           > 2 > from 1 to 4096
            perf read stray stray                      > 2 > stray
            perf write --nonsense=7                    > 2 > --nonsense
            soak stray                                 > 2 > stray
            soak --duration -1                         > 2 > '-1'; from 1 to
            soak --duration 99999999999                > 2 > 99999999999
            soak --duration                            > 2 > --duration
            soak --seed                                > 2 > --seed
            soak -p                                    > 2 > -p
            doctor --nonsense                          > 2 > --nonsense
            doctor --json=x                            > 2 > --json
            doctor --clean stray                       > 2 > stray
            verify                                     > 2 > --provider
            verify -p nonsense                         > 2 > No provider 'nonsense'; shm
            verify -p smh                              > 2 > did you mean 'shm'?
            verify -p ''                               > 2 > --provider; the name is empty
            verify -p shm -e MSG                       > 2 > MSG; RDM
            verify -p shm -e nonsense                  > 2 > 'nonsense'; RDM
            verify -p shm --deadline 0                 > 2 > --deadline; '0'; from 1 to 86400
            verify -p shm --limit x                    > 2 > --limit; 'x'
            verify -p shm --only nonsense              > 2 > --only; no page 'nonsense'; fi_rma(3)
            verify -p shm --json /nonexistent/x        > 2 > --json; /nonexistent is none
            verify -p shm --report /nonexistent/x.md   > 2 > --report; /nonexistent is none
            verify -p shm --json /                     > 2 > --json; / is a folder
            verify -p shm --only fi_mr(3) --skip fi_mr(3) > 2 > --only; --skip; nothing to try
            verify -p shm no.invalid                   > 2 > no host 'no.invalid'
            verify -p nonsense localhost               > 2 > No provider 'nonsense'; shm
            verify -p shm a b                          > 2 > b
            verify -p shm --server localhost           > 2 > --server; HOST
            verify -p shm -B 9999                      > 2 > -B; --server
            verify -p shm -P 9999                      > 2 > -P; HOST
            verify -p shm --timeout 5                  > 2 > --timeout; HOST; --server
            verify -p shm --timeout 0 localhost        > 2 > --timeout; '0'; from 1 to 86400
            verify -p shm --server --quirks            > 2 > --server; --quirks
            verify -p shm --server --limit 5           > 2 > --server; --limit
            verify -p shm --server -B x                > 2 > 'x'; port from 0 to 65535
            verify -p shm -P 0 localhost               > 2 > '0'; port from 1 to 65535
            verify -p shm --server -s no.invalid       > 2 > 'no.invalid'; -s
            verify -p tcp;ofi_rxm -s 192.0.2.77        > 2 > '192.0.2.77'; -s
            """;

    /** What is typed, the exit code, and what the sentence says. */
    static Stream<Arguments> lines() {
        return LINES.lines().map(line -> line.split(" +> ")).map(
                parts -> Arguments.of(parts[0].equals("''") ? "" : parts[0], Integer.parseInt(parts[1]), parts[2]));
    }

    @ParameterizedTest
    @MethodSource("lines")
    void isAnsweredWithOneSentence(String line, int exitCode, String words) {
        Run.of(words(line)).failed(exitCode, words.split("; "));
    }

    private static String[] words(String line) {
        return Stream.of(line.split(" +")).filter(word -> !word.isEmpty()).map(word -> word.equals("''") ? "" : word)
                .toArray(String[]::new);
    }

    /** Some of them, from the shell's side. */
    @Test
    void theProcessSaysTheSame() {
        List<Object[]> some = lines().map(Arguments::get).toList();
        for (int at = 0; at < some.size(); at += EACH) {
            Object[] one = some.get(at);
            try (Forked process = Forked.start(words((String) one[0]))) {
                process.await().failed((int) one[1], ((String) one[2]).split("; "));
            }
        }
    }

    @Test
    void thereAreManyAndNoneTwice() {
        assertThat(lines().map(line -> line.get()[0])).hasSizeGreaterThanOrEqualTo(LEAST).doesNotHaveDuplicates();
    }

    @Test
    void serverThatIsNotThereIsNamedAfterTheDeadline() {
        Run.of("perf", "write", "127.0.0.1", "-P", "1", "--timeout", "1").failed(1, "127.0.0.1:1 ", "1 s", "--server");
    }

    @Test
    void portInUse() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(taken.getLocalPort());

            Run.of("perf", "write", "--server", "-B", port).failed(1, "Port " + port, "in use", "-B");
        }
    }

    @Test
    void noLibfabric() {
        List<String> options = List.of("-Dio.ofi4j.library=/nonexistent");
        try (Forked perf = Forked.start(options, "perf", "write");
                Forked info = Forked.start(options, "info", "--stacktrace");
                Forked version = Forked.start(options, "--version");
                Forked help = Forked.start(options, "perf", "write", "--help")) {
            perf.await().failed(1, "libfabric", "/nonexistent");
            assertThat(info.await().err()).contains("\tat ", "LibfabricNotFoundException");
            assertThat(version.await().succeeded().out()).contains("ofi4j 0", "libfabric not found");
            assertThat(help.await().succeeded().out()).contains("--verify");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"info", "info -p shm --json", "perf write", "perf read --server -B 0", "soak",
            "soak --part target"})
    void aJvmThatRefusesNativeAccess(String line) {
        try (Forked process = REFUSING.start(words(line))) {
            process.await().failed(1, "The JVM refuses native access", NativeAccess.OPTION);
        }
    }

    @Test
    void aJvmThatRefusesTheBindingsNativeAccess() {
        try (Forked info = REFUSING.and("--enable-native-access=io.ofi4j").start("info")) {
            info.await().failed(1, "The JVM refuses native access", NativeAccess.OPTION);
        }
    }

    /** They are other bindings, and the exception of core names them, too. */
    @Test
    void aJvmThatRefusesTheBindingsOfVerbsNativeAccess() {
        try (Forked info = REFUSING.and("--enable-native-access=io.ofi4j,io.ofi4j.bindings").start("verbs", "info",
                "--stacktrace")) {
            assertThat(info.await().err()).contains(NativeAccess.OPTION,
                    "IllegalCallerException: The JVM refuses native access: start java with "
                            + "--enable-native-access=io.ofi4j,io.ofi4j.bindings,io.ofi4j.bindings.verbs.");
        }
    }

    @Test
    void stackTraceIsShownOnRequest() {
        Run run = Run.of("info", "-p", "nonsense", "--stacktrace");

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("No provider", "\tat io.ofi4j");
    }
}
