package io.ofi4j.examples.guide;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.ofi4j.Access;
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
import io.ofi4j.Scope;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.util.FabricFuture;
import io.ofi4j.util.FutureThread;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A server squares numbers for clients in other processes. One client is killed, and the server is told. */
public final class RequestsWithCredits {
    private static final Duration SOON = Duration.ofSeconds(30);
    /** The requests that a client may have on the way: the server has a receive for each. */
    private static final int CREDITS = 4;
    private static final int SIZE = 8;
    private static final long GOODBYE = 0;

    /** One side of a connection, with a place for each credit. */
    private static final class Side {
        final EventQueue events;
        final MemoryRegion inbox;
        final MemoryRegion outbox;
        final Endpoint endpoint;
        final FutureThread futures;
        final BlockingQueue<Integer> credits = new ArrayBlockingQueue<>(CREDITS, true, List.of(0, 1, 2, 3));
        volatile long answers;
        volatile boolean saidGoodbye;

        /** @param request what the endpoint accepts, or null */
        Side(Scope scope, Fabric fabric, Domain domain, ConnectionRequest request) {
            events = scope.add(fabric.openEventQueue());
            CompletionQueue queue = scope.add(domain.openCompletionQueue());
            inbox = scope.add(domain.allocate(CREDITS * SIZE, Access.RECEIVE));
            outbox = scope.add(domain.allocate(CREDITS * SIZE, Access.SEND));
            endpoint = scope.add(request == null ? domain.openEndpoint() : domain.openEndpoint(request)).bind(events)
                    .bind(queue).enable();
            futures = scope.add(new FutureThread(endpoint, queue));
        }

        FabricFuture receive(int slot) { return futures.receive(inbox.slice(slot * SIZE, SIZE)); }

        FabricFuture send(int slot, long number) {
            outbox.segment().setAtIndex(JAVA_LONG, slot, number);
            return futures.send(outbox.slice(slot * SIZE, SIZE), endpoint.connection().peer());
        }

        /** The server's side: answers in the order of the requests. */
        Void answer(List<FabricFuture> requests) {
            for (int slot = 0;; slot = (slot + 1) % CREDITS) {
                requests.get(slot).await(); // throws when the endpoint is closed
                long number = inbox.segment().getAtIndex(JAVA_LONG, slot);
                if (number == GOODBYE) {
                    saidGoodbye = true;
                } else {
                    answers = answers + 1;
                }
                requests.set(slot, receive(slot)); // before the answer, which gives the client its credit back
                send(slot, number * number).await();
            }
        }

        /** The client's side: any thread may call it. */
        long ask(long number) throws InterruptedException {
            int slot = credits.take(); // waits while there is none
            FabricFuture answer;
            FabricFuture request;
            synchronized (this) { // answers come in the order of the requests
                answer = receive(slot).within(SOON);
                request = send(slot, number);
            }
            request.await();
            answer.await();
            long result = inbox.segment().getAtIndex(JAVA_LONG, slot);
            credits.add(slot); // a request that fails keeps its place, whose memory may be in use
            return result;
        }
    }

    private RequestsWithCredits() {}

    public static void main(String[] arguments) throws Exception {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.connected().provider("tcp").source("127.0.0.1", null)
                .capabilities(Capability.MSG);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Scope scope = libfabric.openScope()) { // closed first, which ends what the threads wait for
            Fabric fabric = scope.openFabric(libfabric.info(hints).getFirst());
            if (arguments.length == 0) {
                listen(threads, fabric);
            } else {
                Side side = new Side(scope, fabric, fabric.openDomain(), null);
                EndpointAddress server = EndpointAddress.decode(HexFormat.of().parseHex(arguments[1]));
                side.endpoint.connection().connect(server, SOON, arguments[0].getBytes(UTF_8));
                ask(threads, side, arguments[0].equals("Zoe"));
            }
        }
    }

    private static void listen(ExecutorService threads, Fabric fabric) throws Exception {
        Domain domain = fabric.openDomain();
        EventQueue arrivals = fabric.openEventQueue();
        PassiveEndpoint listener = fabric.openPassiveEndpoint(fabric.info()).bind(arrivals).listen();
        List<Process> clients = new ArrayList<>();
        List<Future<?>> conversations = new ArrayList<>();
        for (String name : List.of("Ann", "Ben", "Zoe")) {
            clients.add(start(name, listener.address()));
            Event.ConnectionRequested arrival = (Event.ConnectionRequested) arrivals.read(SOON);
            conversations.add(threads.submit(() -> serve(threads, fabric, domain, arrival.request())));
        }
        Process zoe = clients.getLast();
        zoe.getInputStream().read(); // she has had her first answer
        zoe.destroyForcibly(); // as kill -9 does
        for (Future<?> conversation : conversations) {
            conversation.get();
        }
    }

    private static void serve(ExecutorService threads, Fabric fabric, Domain domain, ConnectionRequest request) {
        String name = new String(request.data(), UTF_8);
        try (Scope scope = Libfabric.load().openScope()) { // of one connection
            Side side = new Side(scope, fabric, domain, request);
            List<FabricFuture> requests = new ArrayList<>();
            for (int slot = 0; slot < CREDITS; slot++) {
                requests.add(side.receive(slot)); // before the client can send
            }
            side.endpoint.connection().accept(SOON);
            threads.submit(() -> side.answer(requests));
            while (!(side.events.read(SOON) instanceof Event.ShutDown)) {
                // only the end of the connection is of interest, which a killed client's kernel tells as well
            }
            System.out.println(name + (side.saidGoodbye ? " has left after " : " was lost after ") + side.answers);
        }
    }

    private static void ask(ExecutorService threads, Side side, boolean isKilled) throws Exception {
        if (isKilled) {
            System.out.println(side.ask(7));
            Thread.sleep(SOON);
        }
        List<Future<Long>> squares = new ArrayList<>();
        for (long number = 1; number <= 100; number++) {
            long asked = number;
            squares.add(threads.submit(() -> side.ask(asked))); // a hundred at once, CREDITS of them on the way
        }
        for (Future<Long> square : squares) {
            square.get();
        }
        side.ask(GOODBYE);
    }

    private static Process start(String name, EndpointAddress server) throws IOException {
        return new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-p",
                System.getProperty("jdk.module.path"), "--enable-native-access=io.ofi4j,io.ofi4j.bindings", "-m",
                "io.ofi4j.examples/" + RequestsWithCredits.class.getName(), name,
                HexFormat.of().formatHex(server.encode())).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
