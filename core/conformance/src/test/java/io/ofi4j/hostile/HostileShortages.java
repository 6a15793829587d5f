package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
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
import io.ofi4j.RemoteRegion;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Two processes, one of which has nothing left of something, or little, while the other goes on: both live, what fails
 * does so with a named exception, and with enough again everything works.
 */
final class HostileShortages {
    private static final int ROUNDS = 6;
    private static final int MAX_LEFT = 4;
    private static final int WRITES = 8;
    private static final int LENGTH = 4096;
    private static final Duration CONNECT_DEADLINE = Patience.seconds(5);
    private static final long JVM_SECONDS = Patience.seconds(100).toSeconds();
    private static final long MOMENT_NANOS = Patience.seconds(1).toNanos() / 2;

    private HostileShortages() {}

    /** What is short. Each has a command that limits it, which executes the one behind it. */
    private enum Resource {
        DESCRIPTORS("bash", "-c", "ulimit -n 256; exec \"$0\" \"$@\""),
        /** Of the address space: every large allocation or mapping fails. */
        MEMORY("bash", "-c", "ulimit -v 5000000; exec \"$0\" \"$@\""),
        /** Of a file system of its own: never the machine's. The target keeps 16 MB of each of the writers. */
        SHARED_MEMORY("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=400m tmpfs /dev/shm && exec \"$0\" \"$@\""),
        /** Root has no limit of threads, but a user that has no other processes has one. */
        THREADS("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "bash", "-c",
                "ulimit -u 120; exec \"$0\" \"$@\""),
        /** Of a network of its own. */
        PORTS("unshare", "-n", "sh", "-c",
                "ip link set lo up && echo 40000 40023 >/proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" \"$@\"");

        private final List<String> limit;

        Resource(String... limit) { this.limit = List.of(limit); }

        /** {@return why this machine cannot have the limit; empty if it can} */
        String obstacle() {
            List<String> output = new ArrayList<>();
            List<String> command = new ArrayList<>(limit);
            command.add("true");
            return FaultPeer.exit(command, output) == 0 ? "" : output.getFirst();
        }

        boolean isOf(String provider) { return this != SHARED_MEMORY || provider.equals("shm"); }
    }

    static void run(HostileRun run) {
        Random random = run.random();
        while (run.goesOn()) {
            Resource resource = Resource.values()[random.nextInt(Resource.values().length)];
            if (!resource.isOf(run.provider)) { continue; }
            String obstacle = resource.obstacle();
            if (!obstacle.isEmpty()) {
                run.tried(resource + ", left out: " + obstacle);
                continue;
            }
            boolean isPeers = random.nextBoolean();
            List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
            arguments.addAll(List.of("-Xmx64m", "-XX:ReservedCodeCacheSize=32m", "-XX:CompressedClassSpaceSize=32m",
                    run.provider, resource.name(), Boolean.toString(isPeers),
                    Integer.toString(random.nextInt(1 << 30))));
            Forked.Result result = Forked.startBehind(resource.limit, Host.class, arguments.toArray(String[]::new))
                    .await(JVM_SECONDS);
            run.tried(resource + (isPeers ? " of the target" : " of the writer"));
            result.output().lines().filter(line -> line.startsWith("refused ")).forEach(run::tried);
            if (result.exit() != 0) {
                run.fail(new AssertionError(arguments + " ended with " + result.exit() + ":\n" + result.output()));
            }
        }
    }

    /** Takes all of a resource that a process can get, and gives some of it back. */
    private static final class Starvation {
        private final Resource resource;
        private final Deque<AutoCloseable> taken = new ArrayDeque<>();

        Starvation(Resource resource) { this.resource = resource; }

        void begin(int left) throws Exception {
            try {
                while (taken.size() < 10_000) {
                    taken.add(one());
                }
            } catch (IOException | OutOfMemoryError e) {
                // there is no more
            }
            for (int i = 0; i < left && !taken.isEmpty(); i++) {
                taken.removeLast().close();
            }
        }

        void end() throws Exception {
            while (!taken.isEmpty()) {
                taken.removeLast().close();
            }
        }

        private AutoCloseable one() throws IOException {
            return switch (resource) {
                case DESCRIPTORS -> new FileInputStream("/dev/null");
                case MEMORY -> mapping();
                case SHARED_MEMORY -> filler();
                case THREADS -> {
                    Thread thread = Thread.ofPlatform().daemon().start(() -> LockSupport.park());
                    yield () -> {
                        while (thread.isAlive()) {
                            LockSupport.unpark(thread);
                            Thread.sleep(1);
                        }
                    };
                }
                case PORTS -> {
                    ServerSocket socket = new ServerSocket();
                    try {
                        socket.bind(new InetSocketAddress("127.0.0.1", 0));
                    } catch (IOException e) {
                        socket.close();
                        throw e;
                    }
                    yield socket;
                }
            };
        }

        /** Takes addresses, and no memory of the machine. */
        private static AutoCloseable mapping() throws IOException {
            Path file = Files.createTempFile("ofi4j", "sparse");
            Arena arena = Arena.ofShared();
            try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
                sparse.setLength(4 << 20);
                sparse.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, 4 << 20, arena);
                return arena;
            } catch (IOException | OutOfMemoryError e) {
                arena.close();
                throw e;
            } finally {
                Files.delete(file);
            }
        }

        private AutoCloseable filler() throws IOException {
            Path file = Files.createTempFile(Path.of("/dev/shm"), "filler", "");
            ByteBuffer bytes = ByteBuffer.allocate(4 << 20);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            } catch (IOException e) {
                Files.delete(file);
                throw e;
            }
            return () -> Files.delete(file);
        }
    }

    /** Loads what a process without descriptors could not load. */
    private static void warmUp(String provider) {
        try (Pair pair = new Pair(provider); MemoryRegion region = pair.domain.allocate(LENGTH, Access.values())) {
            pair.rma().write(region.slice(0, 8), pair.far, region.remote().slice(8, 8), 1);
            pair.awaitToken(1);
            Descriptors.close(Descriptors.event());
        }
        try {
            Files.createTempFile("ofi4j", "warm").toFile().delete();
            Status.exception(-Errno.ENOMEM, "fi_enable", provider).toString();
            throw new FabricTimeoutException("a step", Duration.ZERO, "Nothing is wrong.");
        } catch (IOException | FabricException e) {
            e.toString();
        }
    }

    /** Only what the library's documentation names, or the JVM's own word that there is no memory or no thread. */
    private static void requireNamed(String who, Throwable thrown) {
        boolean isNamed = thrown instanceof OutOfMemoryError || thrown instanceof Exception e && isNamed(e);
        if (!isNamed) { throw new AssertionError(who + " ended in " + thrown, thrown); }
        System.out.println("refused " + who + ": " + thrown.getClass().getSimpleName());
    }

    private static boolean isNamed(Exception thrown) {
        return thrown.getMessage() != null && (thrown instanceof FabricException
                || thrown instanceof IllegalStateException || thrown instanceof UnsupportedOperationException);
    }

    /** The process that writes, and has the other one started. */
    static final class Host {
        private final String provider;
        private final Resource resource;
        private final boolean isPeers;
        private final Random random;

        private Host(String[] arguments) {
            provider = arguments[0];
            resource = Resource.valueOf(arguments[1]);
            isPeers = Boolean.parseBoolean(arguments[2]);
            random = new Random(Integer.parseInt(arguments[3]));
        }

        public static void main(String[] arguments) throws Exception {
            new Host(arguments).run();
            System.exit(0);
        }

        private void run() throws Exception {
            warmUp(provider);
            List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
            arguments.addAll(List.of("-Xmx64m", "-XX:ReservedCodeCacheSize=32m", "-XX:CompressedClassSpaceSize=32m",
                    provider, resource.name()));
            Forked.Running target = Forked.start(Target.class, arguments.toArray(String[]::new));
            String[] ready = target.awaitLine("ready ").split(" ");
            EndpointAddress address = EndpointAddress.of(HexFormat.of().parseHex(ready[0]));
            RemoteRegion remote = RemoteRegion.decode(HexFormat.of().parseHex(ready[1]));
            PrintStream orders = new PrintStream(target.process().getOutputStream(), true);
            FabricInfo info = TestProviders.info(provider);
            try (Fabric fabric = Libfabric.load().openFabric(info);
                    Domain domain = fabric.openDomain();
                    MemoryRegion region = domain.allocate(LENGTH, Access.values())) {
                for (int round = 0; round < ROUNDS; round++) {
                    round(round, target, orders, new Writer(fabric, domain, region, address, remote));
                }
            }
            if (!target.process().isAlive()) { throw new AssertionError("the target has ended: " + target.output()); }
            target.output().lines().filter(line -> line.startsWith("refused ")).forEach(System.out::println);
            target.process().destroy();
        }

        private void round(int round, Forked.Running target, PrintStream orders, Writer writer) throws Exception {
            int left = random.nextInt(MAX_LEFT);
            boolean isOpenBefore = isConnectedBefore() || random.nextBoolean();
            Starvation own = new Starvation(resource);
            Link before = isOpenBefore ? writer.link() : null;
            if (before != null) { writer.write(before, true); }
            if (isPeers) {
                orders.println("starve " + left);
                target.awaitLine("starved " + (2 * round + 1));
            } else {
                own.begin(left);
            }
            try {
                if (before != null) { writer.write(before, false); }
                if (!isConnectedBefore()) { writer.writeByAnother(); }
            } finally {
                own.end();
                if (isPeers) {
                    orders.println("feed");
                    target.awaitLine("fed " + (2 * round + 2));
                }
            }
            if (before != null) { before.close(); }
            try (Link after = writer.link()) { // with enough of everything
                writer.write(after, true);
            }
        }

        /**
         * A target of shm that cannot map the file of a new writer ends, and on 1.x one that cannot open it, see
         * core/guide/providers/shm.md: nobody is new to it while it cannot.
         */
        private boolean isConnectedBefore() {
            return provider.equals("shm") && isPeers && (resource == Resource.MEMORY
                    || resource == Resource.DESCRIPTORS && Libfabric.load().version().major() < 2);
        }
    }

    /** An endpoint that reaches the other process, of which nothing is left if that throws. */
    private static final class Link implements AutoCloseable {
        private final Deque<AutoCloseable> open = new ArrayDeque<>();
        private CompletionQueue queue;
        private Endpoint endpoint;
        private Peer peer;

        Link(Fabric fabric, Domain domain, EndpointAddress address) {
            boolean isWhole = false;
            try {
                reach(fabric, domain, address);
                isWhole = true;
            } finally {
                if (!isWhole) { close(); }
            }
        }

        private void reach(Fabric fabric, Domain domain, EndpointAddress address) {
            queue = opened(domain.openCompletionQueue());
            if (domain.info().endpoint().type() == EndpointType.MSG) {
                EventQueue events = opened(fabric.openEventQueue());
                endpoint = opened(domain.openEndpoint(domain.info().withDestination(address)));
                endpoint.bind(events).bind(queue).enable().connection().connect(address, CONNECT_DEADLINE);
                peer = endpoint.connection().peer();
            } else {
                AddressVector vector = opened(domain.openAddressVector());
                endpoint = opened(domain.openEndpoint());
                endpoint.bind(vector).bind(queue).enable();
                peer = vector.insert(address);
            }
            endpoint.postTimeout(CONNECT_DEADLINE);
        }

        private <T extends AutoCloseable> T opened(T one) {
            open.push(one);
            return one;
        }

        @Override
        public void close() {
            for (AutoCloseable one : open) {
                try {
                    one.close();
                } catch (Exception e) {
                    throw new AssertionError("close of " + one, e);
                }
            }
        }
    }

    /** Writes to the other process by one link or by another. */
    private record Writer(Fabric fabric, Domain domain, MemoryRegion region, EndpointAddress address,
            RemoteRegion remote) {
        Link link() { return new Link(fabric, domain, address); }

        void writeByAnother() {
            try (Link link = link()) {
                write(link, false);
            } catch (Exception | OutOfMemoryError e) {
                requireNamed("a link", e);
            }
        }

        /** Writes a few times, and waits for that; for long where it must be. */
        void write(Link link, boolean isSure) {
            int[] back = new int[1];
            int posted = 0;
            long end = System.nanoTime() + (isSure ? Pair.DEADLINE.toNanos() : MOMENT_NANOS);
            boolean[] hasFailed = new boolean[1];
            while (System.nanoTime() < end && back[0] < WRITES) {
                try {
                    if (posted < WRITES && link.endpoint.rma().tryWrite(region, 0, 8, link.peer, remote, 0, posted)) {
                        posted++;
                    }
                    link.queue.poll(new CompletionHandler() {
                        @Override
                        public void onCompletion(long token, long flags, long length, long data) { back[0]++; }

                        @Override
                        public void onError(CompletionError error) {
                            hasFailed[0] = true;
                            back[0]++;
                        }
                    }, 16);
                } catch (Exception | OutOfMemoryError e) {
                    if (isSure) { throw e; }
                    requireNamed("a write", e);
                    return;
                }
            }
            if (isSure && (back[0] < WRITES || hasFailed[0])) {
                throw new AssertionError("of " + posted + " writes with enough of everything " + back[0] + " came back"
                        + (hasFailed[0] ? ", and one failed" : ""));
            }
        }
    }

    /** The process that is written to: it polls, and takes orders. */
    static final class Target {
        private Target() {}

        public static void main(String[] arguments) throws Exception {
            warmUp(arguments[0]);
            FabricInfo info = TestProviders.info(arguments[0]);
            Fabric fabric = Libfabric.load().openFabric(info);
            Domain domain = fabric.openDomain();
            MemoryRegion region = domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ);
            CompletionQueue queue = domain.openCompletionQueue();
            EventQueue events = null;
            EndpointAddress address;
            if (info.endpoint().type() == EndpointType.MSG) {
                events = fabric.openEventQueue();
                PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen();
                address = passive.address();
            } else {
                AddressVector vector = domain.openAddressVector();
                address = domain.openEndpoint().bind(vector).bind(queue).enable().address();
            }
            Starvation starvation = new Starvation(Resource.valueOf(arguments[1]));
            Thread.ofPlatform().daemon().start(() -> obey(starvation));
            System.out.println("ready " + HexFormat.of().formatHex(address.toBytes()) + " "
                    + HexFormat.of().formatHex(region.remote().encode()));
            EventQueue its = events;
            while (true) {
                try {
                    queue.poll(HostileTraffic.IGNORE, 64);
                    if (its != null) { its.read().ifPresent(event -> answer(domain, queue, its, event)); }
                } catch (Exception | OutOfMemoryError e) {
                    requireNamed("the target", e);
                }
            }
        }

        private static void answer(Domain domain, CompletionQueue queue, EventQueue events, Event event) {
            if (event instanceof Event.ConnectionRequested(ConnectionRequest request)) {
                try {
                    domain.openEndpoint(request).bind(events).bind(queue).enable().connection().accept();
                } finally {
                    request.close();
                }
            }
            if (event instanceof Event.ShutDown(Endpoint endpoint)) { endpoint.close(); }
        }

        /** Each answer has a number: what was printed before is not meant. */
        private static void obey(Starvation starvation) {
            try (BufferedReader orders = new BufferedReader(new InputStreamReader(System.in))) {
                int number = 0;
                for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                    number++;
                    if (order.startsWith("starve ")) {
                        starvation.begin(Integer.parseInt(order.substring("starve ".length())));
                        System.out.println("starved " + number);
                    } else {
                        starvation.end();
                        System.out.println("fed " + number);
                    }
                }
            } catch (Exception e) {
                e.printStackTrace();
            }
            Runtime.getRuntime().halt(0); // when who started it is gone, too
        }
    }
}
