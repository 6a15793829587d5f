package io.ofi4j.test;

import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Scope;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Two sides in one process, a client and a server, that know each other, for a test of a program that uses ofi4j. Each
 * side has a domain of its own, as two processes have, an endpoint, a queue and the other side as its peer. The caller
 * closes it, and {@link #close} fails if the test has left something open. {@link FabricTest} does both with JUnit;
 * this class needs none.
 *
 * <pre>{@code
 * try (TestFabric fabric = TestFabric.open()) {
 *     MemoryRegion from = fabric.client().allocate(64);
 *     MemoryRegion to = fabric.server().allocate(64);
 *     from.segment().setString(0, "Hello, server");
 *     fabric.client().endpoint().rma().write(from.slice(0, 64), fabric.client().peer(), to.remote(), 1);
 *     fabric.client().await(1);
 *     assertEquals("Hello, server", to.segment().getString(0));
 * }
 * }</pre>
 *
 * <p><b>Progress.</b> {@link #until} and {@link TestSide#await} make progress on both sides. A call of the program that
 * waits for one side alone needs a thread for the other, such as that of {@code server().domain().startProgress()}.
 *
 * <p><b>Threads.</b> Open and close it on the test's own thread, and call {@link #until} and {@link TestSide#await}
 * there. What it has opened takes the threads that the hints allow: any, unless the test gives other hints. Several
 * tests may each have one at the same time.
 */
public final class TestFabric implements AutoCloseable {
    /** The longest wait of a test in seconds, unless {@code -Dio.ofi4j.test.deadline} sets another. */
    public static final int SECONDS = 60;

    private final ShmFiles files;
    private final Scope scope;
    private final Fabric fabric;
    private final TestSide client;
    private final TestSide server;
    /** Of connected endpoints; closed after them. */
    private final List<AutoCloseable> listening = new ArrayList<>();
    private boolean checked;

    /** Ends to watch the files, also if it throws. */
    TestFabric(FabricInfo info, ShmFiles files) {
        this.files = files;
        scope = Libfabric.load().openScope();
        try {
            fabric = scope.openFabric(info);
            client = new TestSide(this, "client", fabric.openDomain());
            server = new TestSide(this, "server", fabric.openDomain());
            if (info.endpoint().type() == EndpointType.MSG) {
                connect(info);
            } else {
                client.enable();
                server.enable();
                client.meet(server);
                server.meet(client);
            }
        } catch (RuntimeException | Error e) {
            closeAfter(e);
            throw e;
        }
    }

    private void connect(FabricInfo info) {
        EventQueue events = fabric.openEventQueue();
        PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen();
        listening.addAll(List.of(passive, events));
        Endpoint connecting = client.domain().openEndpoint(info.withDestination(passive.address()));
        client.enable(connecting.bind(events));
        connecting.connection().connect(passive.address());
        if (!(events.read(deadline()) instanceof Event.ConnectionRequested requested)) {
            throw new FabricException("the client's request for a connection has not come", "fi_connect", 0);
        }
        Endpoint accepting = server.domain().openEndpoint(requested.request());
        server.enable(accepting.bind(events));
        accepting.connection().accept(deadline());
        connecting.connection().awaitConnected(deadline());
        client.meetConnected();
        server.meetConnected();
    }

    private void closeAfter(Throwable cause) {
        try {
            scope.close();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
        files.end();
    }

    /**
     * Opens two sides over the provider that the system property {@code io.ofi4j.test.provider} names. Without it, over
     * the first of {@code shm}, {@code tcp;ofi_rxm}, {@code tcp}, {@code net} and {@code sockets} that carries bytes on
     * this machine, which is tried once in each JVM.
     *
     * @throws NoProviderException if there is none; the message says why not, of each
     */
    public static TestFabric open() { return open(TestProviders.ofThisRun()); }

    /**
     * Opens two sides over a provider, with messages, tags and writes and reads, and with atomic operations if it has
     * them. The completion of a write says that the peer's memory has the bytes. A provider of the network uses the
     * address 127.0.0.1.
     *
     * @param provider the provider, such as {@code tcp;ofi_rxm}
     * @throws NoProviderException if this machine does not have it, or it does not have all of these
     */
    public static TestFabric open(String provider) {
        return new TestFabric(TestProviders.info(provider), ShmFiles.watch());
    }

    /**
     * Opens two sides over the first provider that matches.
     *
     * @param hints as the program under test gives them. Name {@code source("127.0.0.1", null)} for a provider of the
     *        network: a container may have no other address that can be reached
     * @throws NoProviderException if nothing matches; the message names what is available instead
     */
    public static TestFabric open(FabricHints hints) {
        return new TestFabric(Libfabric.load().info(hints).getFirst(), ShmFiles.watch());
    }

    /**
     * {@return the providers with which {@link #open(String)} carries bytes on this machine, the one that {@link #open}
     * prefers first} Each is tried, with two sides, which takes a moment. A parameterized test runs over each of them
     * with {@code @MethodSource("io.ofi4j.test.TestFabric#providers")}.
     */
    public static List<String> providers() { return TestProviders.all(); }

    /**
     * {@return the longest time that a test waits for anything: long, for a machine that is busy with several builds
     * may stop a thread for seconds. The system property {@code io.ofi4j.test.deadline} has it in seconds; without it,
     * it is {@value #SECONDS} seconds}
     */
    public static Duration deadline() {
        return Duration.ofSeconds(Math.max(1, Integer.getInteger("io.ofi4j.test.deadline", SECONDS)));
    }

    /** {@return the fabric of both sides; a program may open further domains in it, and closes them} */
    public Fabric fabric() {
        return fabric;
    }

    /** {@return the side that connects, where endpoints are connected} */
    public TestSide client() { return client; }

    /** {@return the side that listens, where endpoints are connected} */
    public TestSide server() { return server; }

    /**
     * Makes progress on both sides until a condition is true. Completions stay in the queues, for who polls them.
     *
     * @param condition what the test waits for; it is evaluated again and again, and may poll
     * @throws FabricTimeoutException if it is not true within {@link #deadline}
     */
    public void until(BooleanSupplier condition) {
        if (!tryUntil(condition)) {
            throw new FabricTimeoutException("waiting for a condition", deadline(),
                    "Both sides have made progress. " + full());
        }
    }

    boolean tryUntil(BooleanSupplier condition) {
        return Waiting.BACKOFF.tryUntil(() -> {
            client.domain().progress();
            server.domain().progress();
            return condition.getAsBoolean();
        }, deadline());
    }

    /** Why a side may have stopped. */
    private String full() {
        return client.domain().progress() && server.domain().progress()
                ? "Was everything posted that the condition needs?"
                : "A queue is full of completions that nobody has polled.";
    }

    /**
     * Closes what it has opened, and whatever else was opened in its domains, and checks that the test has closed what
     * it opened itself: regions, queues, endpoints and all other objects. What {@link TestSide#allocate} has given
     * belongs to this fabric. It also looks for files of endpoints of this process in {@code /dev/shm} that were not
     * there before, such as those of a fabric that the program opened elsewhere. Call it on the thread that has opened
     * it.
     *
     * @throws AssertionError if the test has left something; the message says what, and all of it is closed
     * @throws WrongThreadException if an object belongs to another thread, on which it can be closed still
     */
    @Override
    public void close() {
        if (checked) {
            scope.close(); // what the thread of another call might not close
            return;
        }
        checked = true;
        Throwable failure = null;
        try {
            String left = closeOwn();
            if (left != null) {
                failure = new AssertionError("the test has left something open: " + left
                        + (System.getProperty("io.ofi4j.leaks") == null
                                ? "; with -Dio.ofi4j.leaks=report this says where it was opened"
                                : ""));
            }
        } catch (RuntimeException e) {
            failure = e;
        }
        failure = after(failure, scope::close);
        failure = after(failure, files::requireNothingNew);
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {
            }
        }
    }

    private static Throwable after(Throwable failure, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            if (failure == null) { return e; }
            failure.addSuppressed(e);
        }
        return failure;
    }

    /** Closes what is its own; the reason why something of it cannot be closed, or null. */
    private String closeOwn() {
        List<AutoCloseable> own = new ArrayList<>(List.of(client.endpoint(), server.endpoint()));
        own.addAll(listening);
        own.addAll(client.belongings());
        own.addAll(server.belongings());
        own.add(fabric);
        for (AutoCloseable object : own) {
            try {
                object.close();
            } catch (IllegalStateException e) { // it names what is open
                return e.getMessage();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e); // objects of ofi4j throw none
            }
        }
        return null;
    }

    @Override
    public String toString() { return "TestFabric over " + fabric.info().provider(); }
}
