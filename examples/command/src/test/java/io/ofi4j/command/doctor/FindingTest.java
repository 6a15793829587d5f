package io.ofi4j.command.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.doctor.Finding.Level;
import io.ofi4j.command.verify.ShortRun.Verdict;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.info.Version;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What no process can arrange for another: other machines than this. */
class FindingTest {
    private static void require(Finding finding, Level level, String found, String advice) {
        assertThat(finding.level()).isEqualTo(level);
        assertThat(finding.found()).contains(found);
        assertThat(finding.advice()).contains(advice);
    }

    @Test
    void aDevicePinsWhatIsRegistered() {
        require(SystemChecks.lockedMemory("65536", true), Level.PROBLEM, "65536 bytes", "'ulimit -l unlimited'");
        require(SystemChecks.lockedMemory("unlimited", true), Level.OK, "unlimited", "");
        require(SystemChecks.lockedMemory("65536", false), Level.OK, "65536 bytes, and no device needs more", "");
    }

    @Test
    void aKindOfMachineThatWasNotTestedIsAHint() {
        require(SystemChecks.machine("amd64"), Level.OK, "x86-64", "");
        require(SystemChecks.machine("aarch64"), Level.HINT, "under emulation only", "scripts/test");
        require(SystemChecks.machine("riscv64"), Level.HINT, "riscv64, which was not tried", "scripts/test");
    }

    @Test
    void readingOfAChildSaysNothingOfOthersUnderYama() {
        Optional<String> refused = Optional.of("process_vm_readv says Operation not permitted (1)");

        require(SystemChecks.crossMemoryAttach("0", Optional.empty()), Level.OK, "allowed", "");
        require(SystemChecks.crossMemoryAttach("1", Optional.empty()), Level.HINT,
                "of others it is refused, kernel.yama.ptrace_scope is 1: shm copies", "ptrace_scope=0");
        require(SystemChecks.crossMemoryAttach("0", refused), Level.HINT,
                "process_vm_readv says Operation not permitted (1): shm copies", "--cap-add=SYS_PTRACE");
        require(SystemChecks.crossMemoryAttach("3", refused), Level.HINT,
                "Operation not permitted (1), kernel.yama.ptrace_scope is 3: shm copies", "ptrace_scope=0");
    }

    @Test
    void whatIsTooOldIsAProblemAndWhatWasNotTestedAHint() {
        require(LibfabricChecks.version(new Version(1, 17)), Level.OK, "1.17", "");
        require(LibfabricChecks.version(new Version(1, 15)), Level.HINT, "1.15, on which ofi4j was not tested", "1.17");
        require(LibfabricChecks.version(new Version(2, 3)), Level.HINT, "2.3, on which ofi4j was not tested",
                "tested versions are 1.17, 2.1, 2.6");
        require(JavaChecks.jdk(Runtime.Version.parse("21.0.5")), Level.PROBLEM, "21.0.5", "a JDK of 22 or newer");
        require(JavaChecks.jdk(Runtime.Version.parse("22")), Level.OK, "22", "");
    }

    @Test
    void whatIsWrongWithAProviderIsNamedInAFewLines() {
        List<Result> wrongs = Stream.of("fi_write", "fi_read", "fi_send, fi_recv", "fi_inject").map(
                call -> new Result("fi_rma(3)", call, Outcome.WRONG, "came 1; expected was 2", Duration.ofMillis(1)))
                .toList();

        require(found("98 work", List.of(), true), Level.OK, "98 work", "");
        require(found("94 work, 4 wrong", wrongs, true), Level.PROBLEM,
                "fi_send, fi_recv (wrong: came 1; expected was 2); and 1 more", "'ofi4j verify -p shm --report");
    }

    @Test
    void aProviderOfWhichTooLittleWasTriedIsAHint() {
        require(found("63 not tried", List.of(), false), Level.HINT, "63 not tried",
                "'ofi4j verify -p shm' has more time");
    }

    private static Finding found(String counts, List<Result> wrongs, boolean isEnough) {
        return DeepChecks.finding("shm", "ofi4j verify -p shm",
                new Verdict(counts, wrongs, isEnough, Optional.empty()));
    }
}
