package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.MemoryRegion;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.test.TestFabric;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** What tests do wrong with the two sides that they get. */
final class MisuseOfTests {
    private MisuseOfTests() {}

    private static Misuse on(String name, Class<? extends Throwable> expected, String words,
            Consumer<TestFabric> call) {
        return refused(name, expected, words, stage -> call.accept(stage.opened(TestFabric.open("shm"))));
    }

    static Stream<Misuse> cases() {
        return Stream.of(
                refused("test over a provider that is not there", NoProviderException.class, "nonsense",
                        stage -> TestFabric.open("nonsense")),
                refused("test with hints that nothing matches", NoProviderException.class, "nonsense",
                        stage -> TestFabric.open(FabricHints.rma().provider("nonsense"))),
                on("allocate nothing for a test", IllegalArgumentException.class, "at least 1 byte",
                        fabric -> fabric.client().allocate(0)),
                on("await an operation of a test that was canceled", FabricException.class, "cancel", fabric -> {
                    MemoryRegion memory = fabric.client().allocate(64);
                    fabric.client().endpoint().messages().receive(memory.slice(0, 64), 1);
                    fabric.client().endpoint().messages().cancel(1);
                    fabric.client().await(1);
                }), refused("close what another thread has opened for its test", WrongThreadException.class, "thread",
                        MisuseOfTests::closeElsewhere));
    }

    private static void closeElsewhere(MisuseStage stage) {
        TestFabric fabric = stage
                .opened(TestFabric.open(FabricHints.rma().provider("shm").threading(ThreadingModel.DOMAIN)));
        try {
            CompletableFuture.runAsync(fabric::close, Thread.ofPlatform()::start).join();
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }
}
