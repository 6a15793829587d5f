package io.ofi4j.job;

import io.ofi4j.job.internal.Deadline;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The server of a rendezvous: holds the values that members publish or gather, and sends them. It has a thread for each
 * member.
 */
final class RendezvousServer implements AutoCloseable {
    /** The largest number of bytes of all names and values. More is refused. */
    static final int MAX_BYTES = 64 << 20;
    /** The largest number of members at a time: a rank of a job is two. */
    private static final int MAX_MEMBERS = 2 * Rendezvous.MAX_PLACES;
    /**
     * The largest number of unauthenticated connections, which have not shown yet that they know the
     * secret. All ranks of a job may come at once.
     */
    private static final int MAX_STRANGERS = Rendezvous.MAX_PLACES;
    private static final long STACK_SIZE = 256 << 10;
    /** The time in which a new connection must show that it knows the secret. */
    private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(10);
    /** The same if descriptors or threads are short. */
    private static final Duration HURRIED_JOIN_TIMEOUT = Duration.ofSeconds(2);
    /** The largest number of pauses in which a close waits for answers, one second in all. */
    private static final int MAX_PAUSES = 100;

    private final ServerSocket listener;
    private final String secret;
    private final Map<String, byte[]> published = new HashMap<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    /** The unauthenticated connections, the oldest first, and when each came; guarded by itself. */
    private final Map<Socket, Long> strangers = new LinkedHashMap<>();
    private final Semaphore places = new Semaphore(MAX_MEMBERS);
    private final RendezvousMembers members = new RendezvousMembers();
    private final Map<String, Gathering> gatherings = new HashMap<>();
    private long bytes;
    private volatile boolean closed;
    /** The number of requests that are being answered. */
    private final AtomicInteger answering = new AtomicInteger();

    RendezvousServer(InetSocketAddress at, String secret) throws IOException {
        this.secret = secret;
        this.listener = new ServerSocket();
        listener.setReuseAddress(true);
        try {
            listener.bind(at, MAX_STRANGERS);
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        start("ofi4j-rendezvous", this::accept);
    }

    InetSocketAddress address() { return (InetSocketAddress) listener.getLocalSocketAddress(); }

    private void accept() {
        while (!closed) {
            try {
                startMember(listener.accept());
            } catch (IOException | OutOfMemoryError e) {
                // the server is closed, or there is no free descriptor or thread now
                if (!closeOldest(0, HURRIED_JOIN_TIMEOUT)) { pause(); }
            }
        }
    }

    private void startMember(Socket socket) throws IOException {
        sockets.add(socket);
        makeRoom(socket);
        try {
            if (closed) { socket.close(); }
            start("ofi4j-rendezvous-member", () -> serve(socket));
        } catch (IOException | OutOfMemoryError e) {
            forget(socket);
            socket.close();
            throw e;
        }
    }

    private void makeRoom(Socket newest) {
        synchronized (strangers) {
            strangers.put(newest, System.nanoTime());
        }
        closeOldest(MAX_STRANGERS, Duration.ZERO);
    }

    /**
     * Closes the oldest unauthenticated connection if there are more than this number, and it is older than this. A
     * member authenticates within milliseconds.
     */
    private boolean closeOldest(int number, Duration age) {
        Socket oldest;
        synchronized (strangers) {
            if (strangers.size() <= number) { return false; }
            Map.Entry<Socket, Long> first = strangers.entrySet().iterator().next();
            if (System.nanoTime() - first.getValue() < age.toNanos()) { return false; }
            oldest = first.getKey();
            strangers.remove(oldest);
        }
        try {
            oldest.close();
        } catch (IOException e) {
            return false;
        }
        return true;
    }

    private void isKnown(Socket socket) {
        synchronized (strangers) {
            strangers.remove(socket);
        }
    }

    private void forget(Socket socket) {
        isKnown(socket);
        sockets.remove(socket);
    }

    private static void start(String name, Runnable work) {
        Thread.ofPlatform().daemon().name(name).stackSize(STACK_SIZE).start(work);
    }

    private static void pause() {
        try {
            Thread.sleep(Duration.ofMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            Deadline deadline = Deadline.in(JOIN_TIMEOUT);
            SealedChannel channel = new SealedChannel(socket, secret, true, RendezvousRequest.MAX_LENGTH, deadline);
            RendezvousRequest request = RendezvousRequest.decode(firstMessage(channel, deadline));
            isKnown(socket);
            if (!places.tryAcquire()) {
                channel.send(brokenAnswer("this rendezvous has " + MAX_MEMBERS + " members, and takes no more"));
                return;
            }
            try {
                answerAll(socket, channel, request);
            } finally {
                places.release();
            }
        } catch (IOException | BufferUnderflowException e) {
            return; // the member has left, or was never one
        } finally {
            disconnected(socket);
            forget(socket);
        }
    }

    private static byte[] firstMessage(SealedChannel channel, Deadline deadline) throws IOException {
        try {
            return channel.receive(deadline);
        } catch (SealedChannel.ForgedException e) {
            channel.refuse();
            throw e;
        }
    }

    private void answerAll(Socket socket, SealedChannel channel, RendezvousRequest first) throws IOException {
        RendezvousRequest request = first;
        while (true) {
            answer(socket, channel, request);
            request = RendezvousRequest.decode(channel.receive(Deadline.unlimited()));
        }
    }

    /**
     * {@link #close} waits for the answers, so that the last request of a member gets its own, and whoever waits learns
     * of a member that was lost.
     */
    private void answer(Socket socket, SealedChannel channel, RendezvousRequest request) throws IOException {
        answering.incrementAndGet();
        try {
            byte[] answer = answer(socket, request);
            if (answer[0] == RendezvousRequest.ABSENT && closed) { return; } // a member's time is not over
            channel.send(answer);
        } finally {
            answering.decrementAndGet();
        }
    }

    private synchronized void disconnected(Socket socket) {
        members.disconnected(socket);
        notifyAll();
    }

    /** {@return the answer: a byte for the outcome, and the value or a sentence} */
    private byte[] answer(Socket socket, RendezvousRequest request) {
        return switch (request.kind()) {
            case JOIN -> done();
            case PUBLISH -> publish(request.name(), request.value())
                    ? done()
                    : RendezvousRequest.answer(RendezvousRequest.FULL, new byte[0]);
            case AWAIT -> await(request.name(), request.millis());
            case ENTER -> enter(socket, request);
            case LEAVE -> leave(socket, request.name());
            case GATHER -> gather(request, ByteBuffer.wrap(request.value()));
        };
    }

    private static byte[] done() { return RendezvousRequest.answer(RendezvousRequest.DONE, new byte[0]); }

    private static byte[] brokenAnswer(String why) {
        return RendezvousRequest.answer(RendezvousRequest.BROKEN, why.getBytes(StandardCharsets.UTF_8));
    }

    private synchronized byte[] enter(Socket socket, RendezvousRequest request) {
        int place = ByteBuffer.wrap(request.value()).getInt();
        if (place < 0) { return brokenAnswer("there is no place " + place); }
        String other = members.another(socket, place);
        if (other != null) { return brokenAnswer(other + " is at place " + place + " already"); }
        members.enter(socket, place, request.name());
        return done();
    }

    private synchronized byte[] leave(Socket socket, String why) {
        members.leave(socket, why.strip());
        notifyAll();
        return done();
    }

    /**
     * The answer with the values of all places. If the time ends first, the answer names the missing places; if the
     * gathering can never be complete, it says why.
     */
    private synchronized byte[] gather(RendezvousRequest request, ByteBuffer value) {
        int place = value.getInt();
        int count = value.getInt();
        boolean isLast = value.get() != 0;
        if (count < 1 || count > Rendezvous.MAX_PLACES) {
            return brokenAnswer("'" + request.name() + "' was given " + count + " places: a gathering has 1 to "
                    + Rendezvous.MAX_PLACES);
        }
        Gathering known = gatherings.get(request.name());
        Gathering gathering = known != null ? known : new Gathering(count);
        if (gathering.count() != count || place < 0 || place >= count) {
            return brokenAnswer("place " + place + " of " + count + " came to '" + request.name() + "', which has "
                    + gathering.count() + " places");
        }
        if (!gathering.has(place)) {
            byte[] its = new byte[value.remaining()];
            value.get(its);
            if (bytes + Gathering.bytes(its.length) > MAX_BYTES) {
                return RendezvousRequest.answer(RendezvousRequest.FULL, new byte[0]);
            }
            bytes += Gathering.bytes(its.length);
            gathering.put(place, its);
            gatherings.put(request.name(), gathering);
            if (gathering.isComplete()) { notifyAll(); }
        }
        waitUntil(() -> gathering.isComplete() || members.failure(gathering) != null, request.millis());
        if (!gathering.isComplete()) {
            String never = members.failure(gathering);
            if (never != null) { return brokenAnswer(never); }
            byte[] absent = RendezvousRequest.answer(RendezvousRequest.ABSENT, gathering.missing());
            if (isLast) { withdraw(request.name(), gathering, place); }
            return absent;
        }
        byte[] all = gathering.answer();
        if (gathering.take(place)) {
            gatherings.remove(request.name());
            bytes -= gathering.bytes();
        }
        return all;
    }

    private void withdraw(String name, Gathering gathering, int place) {
        bytes -= gathering.bytes();
        gathering.withdraw(place);
        bytes += gathering.bytes();
        if (gathering.isEmpty()) { gatherings.remove(name, gathering); }
    }

    private synchronized boolean publish(String name, byte[] value) {
        byte[] before = published.get(name);
        long more = value.length - (before == null ? -name.length() : before.length);
        if (bytes + more > MAX_BYTES) { return false; }
        bytes += more;
        published.put(name, value);
        notifyAll();
        return true;
    }

    /** The value, if it is published within the milliseconds. */
    private synchronized byte[] await(String name, long millis) {
        waitUntil(() -> published.containsKey(name) || members.lost() != null, millis);
        byte[] value = published.get(name);
        if (value == null && members.lost() != null) { return brokenAnswer(members.lost()); }
        return value == null
                ? RendezvousRequest.answer(RendezvousRequest.ABSENT, new byte[0])
                : RendezvousRequest.answer(RendezvousRequest.DONE, value);
    }

    /** The waits of all members end, and say this. */
    synchronized void end(String why) {
        members.lose(why);
        notifyAll();
    }

    /** Waits until all members have left, or the deadline. */
    synchronized boolean awaitEmpty(Deadline deadline) {
        waitUntil(members::isEmpty, deadline.millisLeft());
        return members.isEmpty();
    }

    /** Waits inside the monitor until the condition holds, the server closes, or the milliseconds have passed. */
    private void waitUntil(BooleanSupplier condition, long millis) {
        long start = System.nanoTime();
        while (!closed && !condition.getAsBoolean()) {
            long left = millis - (System.nanoTime() - start) / 1_000_000;
            if (left <= 0) { return; }
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listener.close();
        synchronized (this) {
            notifyAll();
        }
        for (int turn = 0; answering.get() > 0 && turn < MAX_PAUSES; turn++) {
            pause();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
