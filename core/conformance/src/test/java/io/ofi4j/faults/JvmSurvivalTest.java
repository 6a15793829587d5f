package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Rounds;
import io.ofi4j.support.ShmFile;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What libfabric does to a process must not kill a JVM: its providers install signal handlers, and HotSpot lives on
 * signals. Each test has a JVM of its own.
 */
@Tag("gate")
class JvmSurvivalTest {
    private static final Path SHM = Path.of("/dev/shm");
    private static final int SIGTERM_EXIT = 143;

    private Forked.Running child;

    @AfterEach
    void nothingIsLeftInShm() throws IOException {
        try (Stream<Path> files = Files.list(SHM)) {
            String mine = child.process().pid() + ":";
            assertThat(files.filter(file -> file.getFileName().toString().startsWith(mine)))
                    .as("files that the child left in /dev/shm").isEmpty();
        }
    }

    private Forked.Result run(Class<?> main) {
        child = Forked.start(main, Forked.EVERY_COMPILER);
        return child.await();
    }

    @Test
    void implicitNullChecksWorkAfterLoadingAndWithAnShmEndpointOpen() {
        Forked.Result result = run(NullChecks.class);

        assertThat(result.output()).contains("after loading: 100000", "with an shm endpoint: 100000",
                "endpoint file still there: true");
        assertThat(result.exit()).as(result.output()).isZero();
    }

    @Test
    void sigtermRunsShutdownHooks() {
        child = Forked.start(WaitsForSignal.class, Forked.EVERY_COMPILER);
        child.awaitLine("ready");
        child.process().destroy(); // SIGTERM
        Forked.Result result = child.await();

        assertThat(result.output()).contains("the hook has run");
        assertThat(result.exit()).isEqualTo(SIGTERM_EXIT);
    }

    @Test
    void anEndpointThatIsNeverClosedLeavesNoFileAtExit() {
        Forked.Result result = run(ForgetsToClose.class);

        assertThat(result.output()).contains("file there: true");
        assertThat(result.exit()).as(result.output()).isZero();
    }

    @Test
    void theFirstEndpointMayBeOpenedWhileTheProcessExits() {
        // which has a hook too
        child = Forked.start(OpensInAHook.class, Forked.EVERY_COMPILER, "-Dio.ofi4j.leaks=print");
        Forked.Result result = child.await();

        assertThat(result.output()).contains("loaded in a hook, and wrote");
        assertThat(result.exit()).as(result.output()).isZero();
    }

    @Test
    void endpointsThatComeAndGoWhileTheProcessExitsLeaveNoFile() throws IOException {
        for (int time = 0; time < Rounds.of(5); time++) {
            child = Forked.start(OpensWhileOthersExit.class);
            Forked.Result result = child.await();

            assertThat(result.output()).contains("exits");
            assertThat(result.exit()).as(result.output()).isEqualTo(OpensWhileOthersExit.STATUS);
            nothingIsLeftInShm();
        }
    }

    @Test
    void signalHandlersAreTheJvmsOwnAfterwards() {
        Forked.Result result = run(SignalHandlers.class);

        assertThat(result.output()).contains("handlers changed: []", "not the JVM's: []");
        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Dereferences null in compiled code, which is a SIGSEGV that HotSpot turns into an exception. */
    static final class NullChecks {
        private int value = 1;

        private NullChecks() {}

        public static void main(String[] arguments) {
            Libfabric.load();
            TestProviders.info("shm");
            System.out.println("after loading: " + caught(100_000));
            try (Pair pair = new Pair("shm")) {
                Path file = ShmFile.of(pair.endpoint);
                if (!Files.exists(file)) { throw new AssertionError("no file " + file); }
                System.out.println("with an shm endpoint: " + caught(100_000));
                System.out.println("endpoint file still there: " + Files.exists(file));
            }
        }

        private static int caught(int times) {
            NullChecks there = new NullChecks();
            int sum = 0;
            for (int i = 0; i < 200_000; i++) { // until it is compiled, with no null ever seen
                sum += valueOf(there);
            }
            int caught = 0;
            for (int i = 0; i < times; i++) {
                try {
                    sum += valueOf(null);
                } catch (NullPointerException e) {
                    caught++;
                }
            }
            return sum > 0 ? caught : -1;
        }

        private static int valueOf(NullChecks object) { return object.value; }
    }

    /** Has an shm endpoint open and waits. */
    static final class WaitsForSignal {
        private WaitsForSignal() {}

        public static void main(String[] arguments) throws InterruptedException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("the hook has run")));
            try (Pair pair = new Pair("shm")) {
                System.out.println("ready " + ShmFile.of(pair.endpoint));
                Thread.sleep(Pair.DEADLINE);
            }
        }
    }

    /** Ends with endpoints open. */
    static final class ForgetsToClose {
        private ForgetsToClose() {}

        public static void main(String[] arguments) {
            Pair pair = new Pair("shm");
            System.out.println("file there: " + Files.exists(ShmFile.of(pair.endpoint)));
        }
    }

    /** Loads the library and writes for the first time in a shutdown hook. */
    static final class OpensInAHook {
        private OpensInAHook() {}

        public static void main(String[] arguments) {
            Runtime.getRuntime().addShutdownHook(new Thread(OpensInAHook::write));
        }

        private static void write() {
            try (Pair pair = new Pair("shm"); MemoryRegion local = pair.domain.allocate(64, Access.values())) {
                pair.rma().write(local.slice(0, 8), pair.far, local.remote().slice(8, 8), 1);
                pair.awaitToken(1);
                System.out.println("loaded in a hook, and wrote");
            }
        }
    }

    /** Two threads open and close endpoints, while a third ends the process. */
    static final class OpensWhileOthersExit {
        static final int STATUS = 3;

        private OpensWhileOthersExit() {}

        public static void main(String[] arguments) throws InterruptedException {
            CountDownLatch opened = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                Thread.ofPlatform().daemon().start(() -> {
                    while (true) {
                        try {
                            new Pair("shm").close();
                        } catch (IllegalStateException e) { // it exits
                            continue;
                        }
                        opened.countDown();
                    }
                });
            }
            opened.await();
            System.out.println("exits");
            System.exit(STATUS);
        }
    }

    /** Compares the handlers of every signal, as the kernel reports them, before and after. */
    static final class SignalHandlers {
        private SignalHandlers() {}

        public static void main(String[] arguments) {
            List<String> before = io.ofi4j.internal.os.SignalState.handlers();
            try (Pair pair = new Pair("shm")) {
                List<String> after = io.ofi4j.internal.os.SignalState.handlers();
                List<String> changed = after.stream().filter(line -> !before.contains(line)).toList();
                System.out.println("handlers changed: " + changed + " with " + pair.endpoint);
                System.out.println("not the JVM's: " + Libfabric.load().replacedSignalHandlers());
            }
        }
    }
}
