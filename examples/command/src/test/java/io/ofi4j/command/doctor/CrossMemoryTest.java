package io.ofi4j.command.doctor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.Waiting;
import io.ofi4j.command.Forked;
import io.ofi4j.command.Patience;
import io.ofi4j.command.Run;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether shm may copy from process to process is tried, not read in a setting. */
@Timeout(600) // the first may make the archive of classes that forked JVMs start with
@Tag("once") // what it is about is the command, not libfabric
class CrossMemoryTest {
    private static final Duration DEADLINE = Patience.seconds(60);

    /** The kernel asks the same of both: may the one process trace the other. */
    @Test
    void aChildCanBeReadWhereItsMemoryFileCan() throws IOException {
        boolean isAllowed = canOpenMemoryOfChild();

        Optional<String> refusal = CrossMemory.refusal();

        assumeFalse(isAllowed && refusal.isPresent() && isFiltered(), "a filter of this container refuses one of them");
        assertThat(refusal).isEqualTo(
                isAllowed ? Optional.empty() : Optional.of("process_vm_readv says Operation not permitted (1)"));
    }

    private static boolean canOpenMemoryOfChild() throws IOException {
        Process child = new ProcessBuilder("sleep", "60").start();
        try {
            Files.newInputStream(Path.of("/proc", Long.toString(child.pid()), "mem")).close();
            return true;
        } catch (AccessDeniedException e) {
            return false;
        } finally {
            child.destroyForcibly();
        }
    }

    private static boolean isFiltered() throws IOException {
        return Files.readString(Path.of("/proc/self/status")).contains("Seccomp:\t2");
    }

    @Test
    void theProcessThatIsReadIsEnded() {
        long children = ProcessHandle.current().children().count();

        CrossMemory.refusal();

        Waiting.YIELD.until(() -> ProcessHandle.current().children().count() <= children, DEADLINE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Operation not permitted (1)", "Function not implemented (38)"})
    void aFilterThatRefusesIsFound(String expected) {
        try (Forked filtered = Forked.Launch.USUAL.main(Filtered.class).start(expected.replaceAll("\\D", ""))) {
            Run run = filtered.await();

            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.lines()).containsExactly("process_vm_readv says " + expected);
        }
    }

    @Test
    void withoutAProcessToTryItWithThatIsSaid() {
        try (Forked lost = Forked.Launch.USUAL.main(Filtered.class).with("PATH", "/nowhere").start("0")) {
            Run run = lost.await();

            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).contains("no process could be started to try it with");
        }
    }

    /** Prints what it is told once a filter, as containers have, gives process_vm_readv(2) this error; 0 is none. */
    @SuppressWarnings("restricted")
    static final class Filtered {
        private static final int NO_NEW_PRIVILEGES = 38;
        private static final int SET_FILTER = 22;
        private static final long BY_PROGRAM = 2;
        private static final int CALL = System.getProperty("os.arch").equals("amd64") ? 310 : 270;
        private static final int LOAD_NUMBER = 0x20;
        private static final int SKIP_UNLESS = 0x15 | 1 << 24;
        private static final int RETURN = 0x06;
        private static final int ERROR = 0x50000;
        private static final int ALLOW = 0x7fff0000;

        private Filtered() {}

        public static void main(String[] arguments) throws Throwable {
            int error = Integer.parseInt(arguments[0]);
            if (error != 0) { refuse(error); }
            System.out.println(CrossMemory.refusal().orElse("allowed"));
        }

        /** From now on, for this thread. */
        private static void refuse(int error) throws Throwable {
            Linker linker = Linker.nativeLinker();
            MethodHandle prctl = linker.downcallHandle(linker.defaultLookup().find("prctl").orElseThrow(),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));
            int[] filter = {LOAD_NUMBER, 0, SKIP_UNLESS, CALL, RETURN, ERROR | error, RETURN, ALLOW};
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment program = arena.allocate(16, 8);
                program.set(JAVA_SHORT, 0, (short) (filter.length / 2));
                program.set(ADDRESS, 8, arena.allocateFrom(JAVA_INT, filter));
                int allowed = (int) prctl.invokeExact(NO_NEW_PRIVILEGES, 1L, MemorySegment.NULL, 0L, 0L);
                int filtered = (int) prctl.invokeExact(SET_FILTER, BY_PROGRAM, program, 0L, 0L);
                if (allowed != 0 || filtered != 0) { throw new IllegalStateException("this kernel takes no filter"); }
            }
        }
    }
}
