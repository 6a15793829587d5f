package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.ProgressThread;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * JVMs that end in the middle of any step of a life cycle, by System.exit, halt or SIGTERM, from the thread that takes
 * the step, from another one or from a handler: with that status, soon, without another signal. Only halt leaves files
 * of shm.
 */
final class HostileSteps {
    private static final int STATUS = 42;
    private static final int TERMINATED = 128 + 15;
    /** Two life cycles, about. */
    private static final int STEPS = 50;
    private static final int MAX_DELAY_MICROS = 3000;
    private static final long DEADLINE_SECONDS = Patience.seconds(60).toSeconds();

    private HostileSteps() {}

    /** How a JVM ends. */
    private enum End {
        EXIT(STATUS), HALT(STATUS), TERMINATE(TERMINATED);

        private final int status;

        End(int status) { this.status = status; }
    }

    /** Who ends it. */
    private enum Ender {
        ANOTHER, ITSELF, HANDLER
    }

    static void run(HostileRun run) throws IOException {
        Random random = run.random();
        while (run.goesOn()) {
            End end = End.values()[random.nextInt(3)];
            Ender ender = Ender.values()[random.nextInt(3)];
            List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
            arguments.addAll(List.of(run.provider, end.name(), ender.name(), Integer.toString(random.nextInt(STEPS)),
                    Integer.toString(random.nextInt(MAX_DELAY_MICROS)), Boolean.toString(random.nextInt(4) == 0)));
            Forked.Running running = Forked.start(Steps.class, arguments.toArray(String[]::new));
            Forked.Result result = running.await(DEADLINE_SECONDS);
            run.tried(end + " by " + ender);
            if (result.exit() != end.status) {
                run.fail(new AssertionError(arguments + " ended with " + result.exit() + ":\n" + result.output()));
            }
            List<Path> left = files(running.process().pid());
            if (end != End.HALT && !left.isEmpty()) {
                run.fail(new AssertionError(arguments + " left " + left + ":\n" + result.output()));
            }
            left.forEach(file -> file.toFile().delete());
        }
    }

    private static List<Path> files(long pid) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.filter(file -> file.getFileName().toString().matches("\\D*" + pid + "\\b.*")).toList();
        }
    }

    /** Takes one step after the other, again and again, until it is ended in the chosen one. */
    static final class Steps {
        private static final MethodHandle KILL = find("kill", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
        private static final int SIGTERM = 15;

        private final String provider;
        private final End end;
        private final Ender ender;
        private final int chosen;
        private final long delayNanos;
        private final AtomicBoolean hasEnded = new AtomicBoolean();
        private volatile int step;
        private volatile String name = "nothing";

        private Steps(String[] arguments) {
            provider = arguments[0];
            end = End.valueOf(arguments[1]);
            ender = Ender.valueOf(arguments[2]);
            chosen = Integer.parseInt(arguments[3]);
            delayNanos = 1000L * Integer.parseInt(arguments[4]);
        }

        @SuppressWarnings("restricted")
        private static MethodHandle find(String call, ValueLayout... arguments) {
            Linker linker = Linker.nativeLinker();
            return linker.downcallHandle(linker.defaultLookup().find(call).orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
        }

        public static void main(String[] arguments) throws Throwable {
            Steps steps = new Steps(arguments);
            if (Boolean.parseBoolean(arguments[5])) { // a hook of the program's, too
                Runtime.getRuntime().addShutdownHook(new Thread(() -> steps.liveQuietly()));
            }
            if (steps.ender == Ender.ANOTHER) { Thread.ofPlatform().daemon().start(steps::endInTime); }
            while (true) {
                steps.liveQuietly();
            }
        }

        /** While the JVM ends, calls are refused by name. */
        private void liveQuietly() {
            try {
                live();
            } catch (IllegalStateException | FabricException e) {
                LockSupport.parkNanos(1_000_000);
            }
        }

        private void endInTime() {
            while (step < chosen) {
                Thread.onSpinWait();
            }
            end();
        }

        private void end() {
            if (!hasEnded.compareAndSet(false, true)) { return; } // an exit in a hook would wait for itself
            long start = System.nanoTime();
            while (System.nanoTime() - start < delayNanos) {
                Thread.onSpinWait();
            }
            System.out.println(end + " in step " + step + ", " + name);
            System.out.flush();
            switch (end) {
                case EXIT -> System.exit(STATUS);
                case HALT -> Runtime.getRuntime().halt(STATUS);
                default -> terminate();
            }
        }

        private static void terminate() {
            try {
                int status = (int) KILL.invokeExact((int) ProcessHandle.current().pid(), SIGTERM);
                if (status != 0) { throw new AssertionError("kill"); }
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        }

        private void begin(String next) {
            name = next;
            int number = ++step;
            if (ender == Ender.ITSELF && number == chosen) { end(); }
        }

        private void handled() { if (ender == Ender.HANDLER && step >= chosen) { end(); } }

        private void live() {
            begin("load");
            Libfabric libfabric = Libfabric.load();
            begin("info");
            FabricInfo info = TestProviders.info(provider.startsWith("MSG ")
                    ? TestProviders.connectedHints(provider.substring("MSG ".length()))
                    : TestProviders.hints(provider));
            begin("fabric");
            try (Fabric fabric = libfabric.openFabric(info)) {
                begin("domain");
                try (Domain domain = fabric.openDomain()) {
                    begin("queues");
                    try (CompletionQueue queue = domain.openCompletionQueue();
                            CompletionQueue farQueue = domain.openCompletionQueue()) {
                        begin("region");
                        try (MemoryRegion region = domain.allocate(4096, Access.values())) {
                            if (info.endpoint().type() == EndpointType.MSG) {
                                connect(fabric, domain, info, queue, farQueue, region);
                            } else {
                                insert(domain, queue, farQueue, region);
                            }
                            begin("close of a region");
                        }
                        begin("close of queues");
                    }
                    begin("close of a domain");
                }
                begin("close of a fabric");
            }
        }

        private void insert(Domain domain, CompletionQueue queue, CompletionQueue farQueue, MemoryRegion region) {
            begin("vector");
            try (AddressVector vector = domain.openAddressVector()) {
                begin("endpoint");
                try (Endpoint endpoint = domain.openEndpoint(); Endpoint far = domain.openEndpoint()) {
                    begin("bind");
                    endpoint.bind(queue).bind(vector);
                    far.bind(farQueue).bind(vector);
                    begin("enable");
                    endpoint.enable();
                    begin("second enable");
                    far.enable();
                    begin("insert");
                    Peer peer = vector.insert(far.address());
                    transfer(domain, endpoint, peer, queue, farQueue, region);
                    begin("close of endpoints");
                }
                begin("close of a vector");
            }
        }

        private void connect(Fabric fabric, Domain domain, FabricInfo info, CompletionQueue queue,
                CompletionQueue farQueue, MemoryRegion region) {
            begin("event queue");
            try (EventQueue events = fabric.openEventQueue()) {
                begin("passive endpoint");
                try (PassiveEndpoint passive = fabric.openPassiveEndpoint(info)) {
                    begin("listen");
                    passive.bind(events).listen();
                    begin("endpoint");
                    try (Endpoint endpoint = domain.openEndpoint(info.withDestination(passive.address()))) {
                        begin("bind");
                        endpoint.bind(queue).bind(events);
                        begin("enable");
                        endpoint.enable();
                        begin("connect");
                        endpoint.connection().connect(passive.address());
                        begin("request");
                        if (!(events
                                .read(Pair.DEADLINE) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
                            return;
                        }
                        begin("endpoint of a request");
                        try (Endpoint far = domain.openEndpoint(request)) {
                            far.bind(farQueue).bind(events).enable();
                            begin("accept");
                            far.connection().accept(Pair.DEADLINE);
                            begin("connected");
                            endpoint.connection().awaitConnected(Pair.DEADLINE);
                            transfer(domain, endpoint, endpoint.connection().peer(), queue, farQueue, region);
                            begin("shutdown");
                            endpoint.connection().shutdown();
                            begin("close of the accepting endpoint");
                        }
                        begin("close of the connecting endpoint");
                    }
                    begin("close of a passive endpoint");
                }
                begin("close of an event queue");
            }
        }

        private void transfer(Domain domain, Endpoint endpoint, Peer peer, CompletionQueue queue,
                CompletionQueue farQueue, MemoryRegion region) {
            begin("post");
            endpoint.rma().write(region.slice(0, 8), peer, region.remote().slice(8, 8), 1);
            begin("progress thread");
            try (ProgressThread progress = domain.startProgress()) {
                begin("completion");
                int[] found = new int[1];
                long start = System.nanoTime();
                while (found[0] == 0 && progress.isRunning() && System.nanoTime() - start < Pair.DEADLINE.toNanos()) {
                    queue.poll((token, flags, length, data) -> {
                        found[0]++;
                        handled();
                    }, 8);
                    farQueue.poll(HostileTraffic.IGNORE, 8);
                }
                begin("close of a progress thread");
            }
        }
    }
}
