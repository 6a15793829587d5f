package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.Saver;
import io.ofi4j.support.Pair;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * Writes pieces to the file of an owner, and saves each. Every token comes back once; with that of a save the whole
 * piece is in the file. Used by one thread.
 */
final class HostileSaver implements CompletionHandler, AutoCloseable {
    private static final int SOURCES = 24;
    private static final int ECANCELED = 125;

    /** The pieces whose saves have come back. */
    final SortedSet<Integer> saved = new TreeSet<>();

    private final HostileOwner.Name owner;
    private final MemorySegment file;
    private final Random random;
    private final Runnable progress;
    /** Null if the domain is somebody else's. */
    private final Fabric ownFabric;
    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;
    private final MemoryRegion source;
    private final Peer peer;
    private final Saver saver;
    private final BitSet usedSources = new BitSet(SOURCES);
    private final Map<Long, Piece> inFlight = new HashMap<>();
    private long lastToken;
    private boolean isLeft;

    /** A piece under way: the tokens of its writes and of its save, which have not come back. */
    private static final class Piece {
        final int number;
        final int slot;
        final Durability level;
        long saveToken;
        int tokens;

        Piece(int number, int slot, Durability level) {
            this.number = number;
            this.slot = slot;
            this.level = level;
        }
    }

    /**
     * @param shared the domain to use, which is the caller's; null for one of its own
     * @param file the owner's file, as the system has it
     * @param progress what has the owner make progress; nothing if it is in another process
     */
    HostileSaver(String provider, Domain shared, HostileOwner.Name owner, MemorySegment file, Random random,
            Runnable progress) {
        this.owner = owner;
        this.file = file;
        this.random = random;
        this.progress = progress;
        this.ownFabric = shared == null ? HostileOwner.openFabric(provider) : null;
        this.domain = shared == null ? ownFabric.openDomain() : shared;
        this.queue = domain.openCompletionQueue();
        this.vector = domain.openAddressVector();
        this.endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        this.source = domain.allocate((long) SOURCES * HostilePieces.SLOT, Access.WRITE);
        this.peer = vector.insert(owner.address());
        this.saver = new Saver(domain, endpoint, queue);
        saver.saveThrough(peer, owner.ticket());
    }

    /** Says again where it saves. */
    void nameAgain() { saver.saveThrough(peer, owner.ticket()); }

    /** Writes a piece, in up to three writes, and begins to save it. */
    void save(int number, Durability level) {
        await("room for a piece", () -> usedSources.cardinality() < SOURCES);
        int slot = usedSources.nextClearBit(0);
        usedSources.set(slot);
        Piece piece = new Piece(number, slot, level);
        int length = HostilePieces.length(number);
        long from = (long) slot * HostilePieces.SLOT;
        long to = HostilePieces.offset(number);
        MemorySegment.copy(HostilePieces.bytes(number), 0, source.segment(), ValueLayout.JAVA_BYTE, from, length);
        for (int done = 0; done < length;) {
            int begin = done;
            int count = done == 0 || random.nextBoolean() ? length - done : 1 + random.nextInt(length - done);
            if (begin == 0 && random.nextInt(3) == 0) { count = 1 + random.nextInt(length); }
            int many = count;
            post(piece, "a write", token -> endpoint.rma().tryWrite(source, from + begin, many, peer, owner.region(),
                    to + begin, token));
            done += count;
        }
        piece.saveToken = post(piece, "a save",
                token -> saver.trySave(peer, owner.region().slice(to, length), level, token));
    }

    private interface Post {
        boolean isAccepted(long token);
    }

    private long post(Piece piece, String what, Post post) {
        long token = ++lastToken;
        piece.tokens++;
        inFlight.put(token, piece);
        await(what, () -> post.isAccepted(token));
        return token;
    }

    private void await(String what, BooleanSupplier condition) {
        if (condition.getAsBoolean()) { return; }
        boolean isIn = Waiting.YIELD.tryUntil(() -> {
            poll();
            return condition.getAsBoolean();
        }, Pair.DEADLINE);
        if (!isIn) { throw new AssertionError(what + " had no room in time, with " + inFlight.size() + " in flight"); }
    }

    void poll() {
        progress.run();
        saver.poll(this, 64);
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        Piece piece = back(token);
        if (token != piece.saveToken) { return; }
        if (data < piece.level.ordinal()) { throw new AssertionError(data + " in place of " + piece.level); }
        HostilePieces.require(file, piece.number, "and was said to be " + piece.level);
        saved.add(piece.number);
    }

    @Override
    public void onError(CompletionError error) {
        back(error.token());
        if (!isLeft || error.errno() != ECANCELED) { throw new AssertionError("an honest saver got " + error); }
    }

    private Piece back(long token) {
        Piece piece = inFlight.remove(token);
        if (piece == null) { throw new AssertionError("token " + token + " came back twice, or from nowhere"); }
        if (--piece.tokens == 0) { usedSources.clear(piece.slot); }
        return piece;
    }

    /** Waits until all that is in flight has come back. */
    void awaitAll() {
        if (!Waiting.YIELD.tryUntil(() -> {
            poll();
            return inFlight.isEmpty();
        }, Pair.DEADLINE)) {
            throw new AssertionError("tokens " + new TreeSet<>(inFlight.keySet()) + " did not come back");
        }
    }

    /** Closes the saver and its endpoint, in any order; what is in flight comes back canceled, or in time. */
    @Override
    public void close() {
        isLeft = true;
        List<Runnable> closes = new ArrayList<>(List.of(saver::close, endpoint::close));
        Collections.shuffle(closes, random);
        closes.getFirst().run();
        if (random.nextBoolean()) { poll(); }
        closes.getLast().run();
        awaitAll();
        vector.close();
        source.close();
        queue.close();
        if (ownFabric != null) {
            domain.close();
            ownFabric.close();
        }
    }
}
