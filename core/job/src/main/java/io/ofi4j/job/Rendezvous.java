package io.ofi4j.job;

import io.ofi4j.RemoteRegion;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.job.internal.Deadline;
import io.ofi4j.job.internal.HelperThread;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Exchanges addresses of endpoints, remote regions and other small values between processes, by name, before they can
 * communicate over libfabric. One process serves the rendezvous, over TCP; the other processes join it with its address
 * and a secret.
 *
 * <pre>{@code
 * // the server
 * Rendezvous here = Rendezvous.serve(new InetSocketAddress(7471), secret);
 * here.publish("address", endpoint.address());
 * here.publish("inbox", inbox.remote());
 * // a client
 * Rendezvous there = Rendezvous.join(new InetSocketAddress(host, 7471), secret, Duration.ofSeconds(10));
 * Peer peer = peers.insert(there.awaitAddress("address", Duration.ofSeconds(10)));
 * RemoteRegion remote = there.awaitRegion("inbox", Duration.ofSeconds(10));
 * }</pre>
 *
 * <p>Values are encrypted and authenticated on the network, with keys derived from the secret. Only the secret keeps
 * strangers out. Make it of random letters ({@link #newSecret}): whoever records a connection can try every word of a
 * dictionary against it. Data over libfabric is not encrypted.
 *
 * <p>Members that have called {@link #enter} can {@link #gather}, and learn when one of them is lost.
 * {@link io.ofi4j.job.Job} does that for processes that no launcher's PMIx or PMI-1 connects.
 *
 * <p>Any thread may call the methods. Calls of several threads of one member take turns: a call that waits lets others
 * go ahead, at least once a second. A deadline is that of the whole call, turns included. The server has up to two
 * seconds more to say that there is nothing. Published values stay until the server closes; publishing a name again
 * replaces its value.
 */
public final class Rendezvous implements AutoCloseable {
    /** The largest number of bytes of a value. */
    public static final int MAX_VALUE_LENGTH = RendezvousRequest.MAX_VALUE_LENGTH;
    /** The largest number of places that can {@link #gather}: the server has a thread for each connection. */
    public static final int MAX_PLACES = 512;

    private static final Path NOTHING = Path.of("/dev/null");
    private static final int MIN_SECRET_LENGTH = 16;
    private static final int SECRET_BYTES = 16;
    /** The longest wait of calls that are given no deadline. */
    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration RETRY_PAUSE = Duration.ofMillis(50);
    /** The longest wait in one request, so that the loss of the server is noticed. */
    private static final Duration SLICE = Duration.ofSeconds(1);
    /** The longest wait in one request if other threads wait for their turn. */
    private static final Duration SHORT_SLICE = Duration.ofMillis(20);
    /** The time that the server has, beyond the deadline of a call, to answer that there is no value. */
    private static final Duration ANSWER_TIME = Duration.ofSeconds(2);
    private static final byte[] NO_DATA = {};
    private static final int MAX_REASON_LENGTH = 200;

    /** The server, or null if another process serves. */
    private final RendezvousServer server;
    private final InetSocketAddress address;
    private final Socket socket;
    private final SealedChannel channel;
    /** Held from the sending of a request until its answer has come or is abandoned. */
    private final ReentrantLock turn = new ReentrantLock(true);
    /** The number of requests whose answers have not come yet; guarded by {@link #turn}. */
    private int unanswered;
    private volatile boolean entered;
    private volatile boolean closed;

    private Rendezvous(RendezvousServer server, InetSocketAddress address, Socket socket, SealedChannel channel) {
        this.server = server;
        this.address = address;
        this.socket = socket;
        this.channel = channel;
    }

    /** {@return 32 random letters and digits, for the secret of a rendezvous} */
    public static String newSecret() {
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /**
     * Opens a rendezvous in this process, and joins it.
     *
     * @param at where to listen; for port 0 the system chooses a port, which {@link #address} has
     * @param secret at least 16 characters
     * @return the rendezvous; closing it ends it for all members
     * @throws IllegalArgumentException if the secret is shorter
     * @throws RendezvousException if the address is in use, or is not one of this machine
     */
    public static Rendezvous serve(InetSocketAddress at, String secret) {
        return serve(at, secret, Deadline.in(RESPONSE_TIMEOUT));
    }

    static Rendezvous serve(InetSocketAddress at, String secret, Deadline deadline) {
        requireSecret(secret);
        RendezvousServer server;
        try {
            server = new RendezvousServer(at, secret);
        } catch (IOException e) {
            throw new RendezvousException("no rendezvous can be opened at " + at + ": " + e.getMessage() + ". "
                    + adviceOr("Choose another port, or an address of this machine."), e);
        }
        InetSocketAddress bound = server.address();
        try {
            Rendezvous own = join(bound, secret, deadline);
            return new Rendezvous(server, bound, own.socket, own.channel);
        } catch (RuntimeException e) {
            closeQuietly(server);
            throw e;
        }
    }

    /**
     * Joins a rendezvous that another process serves. It tries again until the server is there or the deadline has
     * passed.
     *
     * @param server where the server listens; the wildcard address is this host
     * @param secret the server's secret
     * @param deadline the longest wait for the server
     * @throws IllegalArgumentException if the secret has fewer than 16 characters
     * @throws RendezvousException if no server is there in time, or it has another secret; the message has the last
     *         reason
     */
    public static Rendezvous join(InetSocketAddress server, String secret, Duration deadline) {
        return join(server, secret, Deadline.in(deadline));
    }

    static Rendezvous join(InetSocketAddress server, String secret, Deadline end) {
        requireSecret(secret);
        InetSocketAddress reachable = reachable(server);
        IOException reason = null;
        while (true) {
            Socket socket = new Socket();
            try {
                socket.connect(reachable, end.millisLeft());
                PeerChannel.requireOther(socket);
                return joined(server, socket, secret, end);
            } catch (IOException e) {
                closeQuietly(socket);
                // a last attempt has no time, and says nothing of the server
                if (reason == null || !(e instanceof SocketTimeoutException)) { reason = e; }
                if (Thread.currentThread().isInterrupted()) {
                    throw new RendezvousException("the rendezvous at " + server + " was not joined: the wait was"
                            + " interrupted. Until then: " + sentence(reason), reason);
                }
                if (end.isOver() || e instanceof SealedChannel.ForgedException) {
                    throw new RendezvousException(
                            "the rendezvous at " + server + " was not joined within " + end + ": " + sentence(reason),
                            reason);
                }
            }
            sleep();
        }
    }

    /** To connect to the wildcard address, the JDK looks up the host's own name, which not every host can resolve. */
    static InetSocketAddress reachable(InetSocketAddress server) {
        requireResolved(server);
        return server.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort())
                : server;
    }

    static void requireResolved(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new RendezvousException("the host " + address.getHostString() + " is not known: is its name right?",
                    null);
        }
    }

    /** {@return why an attempt has failed, and what to look at} A server that is short of time closes connections. */
    static String sentence(IOException e) {
        return switch (e) {
            case SealedChannel.ForgedException _ -> "the server has another secret. Use the same secret on both sides.";
            case EOFException _ -> "the server has closed the connection. Is its machine, or this one, overloaded?";
            case SocketTimeoutException _ -> "the server has not answered. Is it running, and does it listen there?";
            default -> e.getMessage() + ". " + adviceOr("Is the server running, and does it listen there?");
        };
    }

    private static Rendezvous joined(InetSocketAddress server, Socket socket, String secret, Deadline deadline)
            throws IOException {
        SealedChannel channel = new SealedChannel(socket, secret, false, RendezvousRequest.MAX_ANSWER_LENGTH, deadline);
        channel.send(new RendezvousRequest(RendezvousRequest.Kind.JOIN, "", 0, NO_DATA).encode());
        byte[] answer = channel.receive(deadline);
        if (answer[0] != RendezvousRequest.DONE) { throw new IOException(sentence(answer)); }
        return new Rendezvous(null, server, socket, channel);
    }

    static void requireSecret(String secret) {
        if (secret.length() < MIN_SECRET_LENGTH) {
            throw new IllegalArgumentException("a secret has at least " + MIN_SECRET_LENGTH + " characters, not "
                    + secret.length() + ": Rendezvous.newSecret() makes one");
        }
    }

    /**
     * {@return what to try after something could not be opened: what is passed, unless this process has no descriptor}
     * It is no class of its own, which could not be loaded then.
     */
    static String adviceOr(String other) {
        try (FileChannel _ = FileChannel.open(NOTHING)) {
            return other;
        } catch (IOException e) {
            return "Close files of this process, or raise the limit of open files ('ulimit -n').";
        }
    }

    static void sleep() {
        try {
            Thread.sleep(RETRY_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return where the server listens, with the actual port; it may be the wildcard address} */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Publishes a value, in place of an earlier one of the name.
     *
     * @param name up to 255 bytes of UTF-8
     * @param value up to {@link #MAX_VALUE_LENGTH} bytes
     * @throws IllegalArgumentException if one is longer
     * @throws RendezvousException if the server has gone, does not answer within 20 seconds, or keeps 64 MiB already
     */
    public void publish(String name, byte[] value) {
        requireAnswer(() -> publish(name, value, Deadline.in(RESPONSE_TIMEOUT)));
    }

    /** Runs a call that has no deadline of its caller, for whom a server that does not answer has gone. */
    private static void requireAnswer(Runnable call) {
        try {
            call.run();
        } catch (FabricTimeoutException e) {
            throw new RendezvousException(e.getMessage(), e);
        }
    }

    void publish(String name, byte[] value, Deadline deadline) {
        requireName(name);
        requireShort(value);
        ask(new RendezvousRequest(RendezvousRequest.Kind.PUBLISH, name, 0, value), deadline);
    }

    /** As {@link #publish(String, byte[])}, for the address of an endpoint. */
    public void publish(String name, EndpointAddress itsAddress) {
        publish(name, itsAddress.encode());
    }

    /**
     * As {@link #publish(String, byte[])}, for a region. Every process that knows the secret can use the region from
     * now on.
     */
    public void publish(String name, RemoteRegion region) { publish(name, region.encode()); }

    /**
     * {@return the value that was published under this name} It waits until there is one.
     *
     * @param name the name
     * @param deadline the longest wait
     * @throws FabricTimeoutException if there is no value in time
     * @throws RendezvousException if the server has gone, or a member that had entered is lost
     */
    public byte[] await(String name, Duration deadline) { return await(name, Deadline.in(deadline)); }

    byte[] await(String name, Deadline deadline) {
        byte[] value = tryAwait(name, deadline);
        if (value != null) { return value; }
        throw new FabricTimeoutException(waiting(name), deadline.duration(),
                "No process has published it: is the other side running, and does it use this name?");
    }

    private static String waiting(String name) { return "waiting for the value '" + name + "'"; }

    /** As {@link #await}, but returns null if there is no value in time. */
    byte[] tryAwait(String name, Deadline deadline) {
        requireName(name);
        byte[] answer = requestUntil(waiting(name),
                wait -> new RendezvousRequest(RendezvousRequest.Kind.AWAIT, name, wait.millis(), NO_DATA), deadline);
        return answer[0] == RendezvousRequest.ABSENT ? null : Arrays.copyOfRange(answer, 1, answer.length);
    }

    /**
     * As {@link #await}, for the address of an endpoint.
     *
     * @throws IllegalArgumentException if the value is not an encoded address
     */
    public EndpointAddress awaitAddress(String name, Duration deadline) {
        return EndpointAddress.decode(await(name, deadline));
    }

    /**
     * As {@link #await}, for a region.
     *
     * @throws IllegalArgumentException if the value is not an encoded region
     */
    public RemoteRegion awaitRegion(String name, Duration deadline) {
        return RemoteRegion.decode(await(name, deadline));
    }

    /**
     * Says who this member is. If its connection ends before {@link #close}, as when its process dies, the waits of all
     * members end with a RendezvousException that has its name.
     *
     * @param place its number among those who {@link #gather}, from 0, and below {@link #MAX_PLACES}
     * @param name for people, up to 255 bytes of UTF-8
     * @throws IllegalArgumentException if there is no such place
     * @throws RendezvousException if another member is at this place, which the message names; or the server has gone,
     *         or does not answer within 20 seconds
     */
    public void enter(int place, String name) {
        requireAnswer(() -> enter(place, name, Deadline.in(RESPONSE_TIMEOUT)));
    }

    void enter(int place, String name, Deadline deadline) {
        requireName(name);
        if (place < 0 || place >= MAX_PLACES) {
            throw new IllegalArgumentException("there is no place " + place + ": places are 0 to " + (MAX_PLACES - 1));
        }
        ask(new RendezvousRequest(RendezvousRequest.Kind.ENTER, name, 0,
                ByteBuffer.allocate(Integer.BYTES).putInt(place).array()), deadline);
        entered = true;
    }

    /**
     * Brings a value, waits until every place has brought one, and returns all of them, in the order of the places.
     * Each place comes once to a name.
     *
     * @param name what they gather for, up to 255 bytes of UTF-8
     * @param place the number of this one, from 0
     * @param count how many places there are, {@link #MAX_PLACES} at most
     * @param value up to {@link #MAX_VALUE_LENGTH} bytes
     * @return the value of each place
     * @throws IllegalArgumentException if the name or the value is too long, there is no such place, or there are too
     *         many
     * @throws FabricTimeoutException if not all places come in time; it names those that have not
     * @throws RendezvousException if a member that has entered is lost or has left, members give different counts, or
     *         the server has gone or is full
     */
    public List<byte[]> gather(String name, int place, int count, byte[] value, Duration deadline) {
        return gather(name, place, count, value, Deadline.in(deadline));
    }

    private List<byte[]> gather(String name, int place, int count, byte[] value, Deadline deadline) {
        Gathered all = tryGather(name, place, count, value, deadline);
        if (all.values != null) { return all.values; }
        throw new FabricTimeoutException(operation(name), deadline.duration(),
                all.missing.isEmpty()
                        ? "All places have come, but some no longer wait: use a longer deadline."
                        : "These of " + count + " places have not come: " + all.missingNames() + ".");
    }

    private static String operation(String name) { return "gathering for '" + name + "'"; }

    /**
     * What a gathering has brought until its deadline.
     *
     * @param values the value of each place; null if not all of them wait at the same time
     * @param missing the places that have never come
     */
    record Gathered(List<byte[]> values, List<Integer> missing) {
        private static final int MAX_NAMED = 16;

        static Gathered of(byte[] answer) {
            ByteBuffer rest = ByteBuffer.wrap(answer, 1, answer.length - 1);
            if (answer[0] != RendezvousRequest.ABSENT) { return new Gathered(Gathering.decode(rest), List.of()); }
            int[] places = new int[rest.remaining() / Integer.BYTES];
            rest.asIntBuffer().get(places);
            return new Gathered(null, Arrays.stream(places).boxed().toList());
        }

        private String missingNames() {
            String first = missing.stream().limit(MAX_NAMED).map(Object::toString).collect(Collectors.joining(", "));
            return first + (missing.size() > MAX_NAMED ? " and " + (missing.size() - MAX_NAMED) + " more" : "");
        }
    }

    /** As {@link #gather}, but says who is missing if not all come in time. */
    Gathered tryGather(String name, int place, int count, byte[] value, Deadline deadline) {
        requireName(name);
        if (place < 0 || place >= count) {
            throw new IllegalArgumentException("there is no place " + place + " among " + count);
        }
        if (count > MAX_PLACES) {
            throw new IllegalArgumentException("a gathering has at most " + MAX_PLACES + " places, not " + count);
        }
        requireShort(value);
        return Gathered.of(requestUntil(operation(name),
                wait -> RendezvousRequest.gather(name, wait, place, count, value), deadline));
    }

    /**
     * Leaves because of a failure, and closes this object. The waits of all members end with a RendezvousException that
     * has the reason.
     *
     * @param why the reason, not empty; its first 200 characters are sent
     * @throws IllegalArgumentException if it is empty
     * @throws IllegalStateException if this member has not entered
     */
    public void fail(String why) {
        if (why.isBlank()) { throw new IllegalArgumentException("the reason of a failure is blank: pass a reason"); }
        if (!entered) {
            throw new IllegalStateException("this member has not entered " + this + ": call enter before fail");
        }
        requireAnswer(() -> giveUp(why, Deadline.in(RESPONSE_TIMEOUT)));
        close();
    }

    /** As {@link #fail}, but stays open. */
    void giveUp(String why, Deadline deadline) {
        entered = false;
        String text = why.strip();
        String reason = text.length() > MAX_REASON_LENGTH ? text.substring(0, MAX_REASON_LENGTH) : text;
        ask(new RendezvousRequest(RendezvousRequest.Kind.LEAVE, asName(reason), 0, NO_DATA), deadline);
    }

    /** {@return the reason, shortened to the 255 bytes of a request's name} */
    private static String asName(String reason) {
        return reason.getBytes(StandardCharsets.UTF_8).length <= RendezvousRequest.MAX_NAME_LENGTH
                ? reason
                : reason.replaceAll("[^ -~]", "?");
    }

    /**
     * Leaves, and waits until every member that has entered has left or was lost. If another process serves, it only
     * leaves.
     *
     * @param deadline the longest wait
     * @return whether all have left or were lost in time; false if this thread is interrupted, which stays so
     */
    public boolean awaitDepartures(Duration deadline) { return awaitDepartures(Deadline.in(deadline)); }

    boolean awaitDepartures(Deadline deadline) {
        leave(deadline.later(ANSWER_TIME));
        return server == null || server.awaitEmpty(deadline);
    }

    /** At the server, before a close: the waits of all members end with this sentence. */
    void endFor(String why) {
        if (server != null) { server.end(why); }
    }

    private static void requireShort(byte[] value) {
        if (value.length > MAX_VALUE_LENGTH) {
            throw new IllegalArgumentException("a value has at most " + MAX_VALUE_LENGTH + " bytes, not " + value.length
                    + ": publish a memory region instead, and let the peers read it");
        }
    }

    private static void requireName(String name) {
        Objects.requireNonNull(name, "name");
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > RendezvousRequest.MAX_NAME_LENGTH) {
            throw new IllegalArgumentException(
                    "a name has 1 to " + RendezvousRequest.MAX_NAME_LENGTH + " bytes of UTF-8, not " + bytes);
        }
    }

    /** Asks until the value is there or the deadline has passed. One request waits at most a second at the server. */
    private byte[] requestUntil(String operation, Function<RendezvousRequest.Wait, RendezvousRequest> request,
            Deadline deadline) {
        Deadline end = deadline.later(ANSWER_TIME);
        while (true) {
            if (!takeTurn(end)) {
                throw new FabricTimeoutException(operation, deadline.duration(),
                        "Other threads of this process used the connection all the time: let each thread join the"
                                + " rendezvous itself.");
            }
            try {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline.nanosLeft());
                long slice = (turn.hasQueuedThreads() ? SHORT_SLICE : SLICE).toMillis();
                boolean isLast = left <= slice;
                byte[] answer = answer(request.apply(new RendezvousRequest.Wait(Math.min(left, slice), isLast)), end);
                if (answer == null) { throw noAnswer(operation, deadline); }
                if (answer[0] != RendezvousRequest.ABSENT || isLast) { return answer; }
            } finally {
                turn.unlock();
            }
        }
    }

    /** Asks once. The server answers at once, unless it is stopped or overloaded. */
    private byte[] ask(RendezvousRequest request, Deadline end) {
        if (!takeTurn(end)) {
            throw new RendezvousException("other threads of this process used the connection to " + this + " for " + end
                    + ": let each thread join the rendezvous itself", null);
        }
        try {
            byte[] answer = answer(request, end);
            if (answer == null) { throw noAnswer("a request to " + this, end); }
            return answer;
        } finally {
            turn.unlock();
        }
    }

    private boolean takeTurn(Deadline deadline) {
        requireOpen(null);
        try {
            return turn.tryLock(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RendezvousException("waiting for another thread's request to " + this + " was interrupted", e);
        }
    }

    /** A server that is silent may be stopped, and go on. */
    private static FabricTimeoutException noAnswer(String operation, Deadline deadline) {
        return new FabricTimeoutException(operation, deadline.duration(),
                "The server has not answered: is it running, or stopped?");
    }

    private RendezvousException gone(String why, IOException cause) {
        return new RendezvousException("the server of " + this + " has gone" + (why == null ? "" : ": " + why), cause,
                true);
    }

    /**
     * {@return the answer, or null if it has not come in time; the next call then skips it} The caller holds
     * {@link #turn}.
     */
    private byte[] answer(RendezvousRequest request, Deadline deadline) {
        if (!Thread.currentThread().isVirtual()) { return exchange(request, deadline); }
        byte[][] answer = new byte[1][];
        // an interrupt of a virtual thread would close the socket
        HelperThread.uninterrupted(() -> answer[0] = exchange(request, deadline));
        return answer[0];
    }

    private byte[] exchange(RendezvousRequest request, Deadline deadline) {
        requireOpen(null);
        byte[] answer;
        try {
            // Sends wait without a deadline if the server takes nothing. A single request always finds room.
            if (request.kind() != RendezvousRequest.Kind.LEAVE) { skipAnswers(0, deadline); }
            channel.send(request.encode());
            unanswered++;
            skipAnswers(1, deadline);
            answer = channel.receive(deadline);
            unanswered--;
        } catch (SocketTimeoutException e) {
            return null;
        } catch (IOException e) {
            requireOpen(e);
            closeQuietly(socket); // bytes after a broken message cannot be read
            throw gone(e.getMessage(), e);
        }
        if (answer[0] == RendezvousRequest.FULL) {
            throw new RendezvousException("the rendezvous is full (" + RendezvousServer.MAX_BYTES
                    + " bytes): publish less, or use another rendezvous", null);
        }
        if (answer[0] == RendezvousRequest.BROKEN) { throw new RendezvousException(sentence(answer), null); }
        return answer;
    }

    /** Receives the answers to abandoned requests, which come first. */
    private void skipAnswers(int remaining, Deadline deadline) throws IOException {
        while (unanswered > remaining) {
            channel.receive(deadline);
            unanswered--;
        }
    }

    private static String sentence(byte[] answer) {
        return new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8);
    }

    private void requireOpen(IOException cause) {
        if (closed) { throw new IllegalStateException(this + " is closed", cause); }
    }

    private static void closeQuietly(AutoCloseable one) {
        try {
            one.close();
        } catch (Exception e) {
            return; // the call that used it has failed already
        }
    }

    private void leave(Deadline deadline) {
        if (!entered) { return; }
        entered = false;
        boolean interrupted = Thread.interrupted(); // to the others, who does not leave has died
        try {
            ask(new RendezvousRequest(RendezvousRequest.Kind.LEAVE, "", 0, NO_DATA), deadline);
        } catch (RendezvousException | FabricTimeoutException | IllegalStateException e) {
            return; // there is no caller to tell
        } finally {
            if (interrupted) { Thread.currentThread().interrupt(); }
        }
    }

    /** Leaves the rendezvous. If this process serves it, it ends for all members. */
    @Override
    public void close() {
        leave(Deadline.in(RESPONSE_TIMEOUT));
        closed = true;
        closeQuietly(socket);
        if (server != null) { closeQuietly(server); }
    }

    @Override
    public String toString() { return "Rendezvous at " + address; }
}
