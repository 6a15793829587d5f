package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The process may open no more files, from the first step on or from any later one: whoever needs one is told so, and
 * how to get more, until there are enough. Each test has a JVM of its own.
 */
@Tag("gate")
class DescriptorFaultTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void everyStepThatGetsNoDescriptorSaysSo(String provider) {
        List<String> prefix = List.of("sh", "-c", "ulimit -n 120; exec \"$0\" \"$@\"");
        Forked.Result result = Forked.startBehind(prefix, Starved.class, provider).await();

        assertThat(result.exit()).as(result.output()).isZero();
        System.out.print(result.output().lines().filter(line -> line.startsWith("faults ")).map(line -> line + "\n")
                .reduce("", String::concat));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aListenerIsNotSaidToBeClosedWhileItsPortIsTaken(String provider) {
        if (!List.of("tcp", "net").contains(provider)) {
            return; // whose close takes no descriptor
        }
        List<String> prefix = List.of("sh", "-c", "ulimit -n 120; exec \"$0\" \"$@\"");
        Forked.Result result = Forked.startBehind(prefix, StarvedListener.class, provider).await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("its port is free");
    }

    private static final class StarvedListener {
        private StarvedListener() {}

        public static void main(String[] arguments) throws IOException {
            Starved.loadClasses();
            FabricInfo info = TestProviders.info(TestProviders.connectedHints(arguments[0]));
            try (Fabric fabric = Libfabric.load().openFabric(info); EventQueue events = fabric.openEventQueue()) {
                listen(fabric, events).close(); // loads what a close needs
                PassiveEndpoint passive = listen(fabric, events);
                EndpointAddress address = passive.address();
                Deque<Closeable> taken = Starved.takeAll();
                try {
                    passive.close();
                } catch (FabricException e) {
                    if (e.errno() != DescriptorSteps.EMFILE) { throw e; }
                }
                for (Closeable one : taken) {
                    one.close();
                }
                passive.close();
                try (PassiveEndpoint next = fabric.openPassiveEndpoint(info).bind(events).address(address)) {
                    next.listen();
                    System.out.println("its port is free");
                }
            }
        }

        private static PassiveEndpoint listen(Fabric fabric, EventQueue events) {
            return fabric.openPassiveEndpoint(fabric.info()).bind(events).listen();
        }
    }

    /** With no descriptor left, with one, with two, and so on, until everything works. */
    private static final class Starved {
        private static final int MAX_FAILURES = 100;

        private final String provider;
        private final Set<DescriptorSteps.Step> refused = EnumSet.noneOf(DescriptorSteps.Step.class);

        private Starved(String provider) { this.provider = provider; }

        public static void main(String[] arguments) throws IOException {
            loadClasses();
            new Starved(arguments[0]).run();
        }

        private void run() throws IOException {
            work();
            int left = 0;
            while (!worksWith(left)) {
                work();
                if (++left == MAX_FAILURES) { throw new AssertionError("it never works"); }
            }
            System.out.println(
                    "faults " + provider + ": refused with 0 to " + (left - 1) + " descriptors, at " + refused);
            if (!refused.containsAll(DescriptorSteps.needy(provider))) {
                throw new AssertionError(refused + " were refused, and not all of " + DescriptorSteps.needy(provider));
            }
            work();
        }

        private void work() {
            try (DescriptorSteps steps = new DescriptorSteps(provider)) {
                steps.run();
            }
        }

        /** Whether so many descriptors are enough; if not, it must have been said. */
        private boolean worksWith(int left) throws IOException {
            Deque<Closeable> taken = takeAll();
            for (int i = 0; i < left; i++) {
                taken.removeLast().close();
            }
            try (DescriptorSteps steps = new DescriptorSteps(provider)) {
                try {
                    steps.run();
                    return true;
                } catch (FabricException e) {
                    requireNamed(e, steps.step());
                    refused.add(steps.step());
                    return false;
                } finally {
                    for (Closeable one : taken) {
                        one.close();
                    }
                }
            }
        }

        private static Deque<Closeable> takeAll() {
            Deque<Closeable> taken = new ArrayDeque<>();
            while (true) {
                try {
                    taken.add(new FileInputStream("/dev/null"));
                } catch (IOException e) {
                    return taken;
                }
            }
        }

        /** What takes no descriptor itself, and waits for who does, ends with its deadline. */
        private static void requireNamed(FabricException refusal, DescriptorSteps.Step step) {
            int errno = step.waits ? DescriptorSteps.ETIMEDOUT : DescriptorSteps.EMFILE;
            boolean isNamed = refusal.errno() == DescriptorSteps.EMFILE || refusal.errno() == errno;
            if (!isNamed || !refusal.getMessage().contains("ulimit -n")) {
                throw new AssertionError(step + " says another cause", refusal);
            }
        }

        /** Those of a folder are files to be opened, too, which those of a jar are not. */
        private static void loadClasses() throws IOException {
            Status.exception(-DescriptorSteps.EMFILE, "nothing", "none");
            for (String place : System.getProperty("java.class.path").split(":")) {
                Path folder = Path.of(place);
                if (Files.isDirectory(folder)) {
                    try (Stream<Path> files = Files.walk(folder)) {
                        files.map(file -> folder.relativize(file).toString()).filter(Starved::mayBeNeeded)
                                .forEach(Starved::load);
                    }
                }
            }
        }

        private static boolean mayBeNeeded(String file) {
            return file.matches("io/ofi4j/(info/|support/|faults/|internal/.*|bindings/f)?[^/]+[.]class")
                    && !file.contains("Test");
        }

        private static void load(String file) {
            try {
                Class.forName(file.substring(0, file.length() - ".class".length()).replace('/', '.'), false,
                        Starved.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new UncheckedIOException(new IOException(e));
            }
        }
    }
}
