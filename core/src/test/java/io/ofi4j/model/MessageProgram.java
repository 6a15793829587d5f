package io.ofi4j.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PackagePrivate;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * A random program of messages, tags, atomics and one-sided transfers between two endpoints, both ways, checked against a model:
 * every token comes back once, every message arrives once, whole, and in the order that the provider promises, and what is added up is
 * the sum. No message is longer than a receive: what follows then is another test's.
 */
final class MessageProgram {
    private static final int LENGTH = 4096;
    private static final int STEPS = 300;
    private static final int MOST_RECEIVES = 48;
    private static final int TAGS = 3;
    private static final int MASK = 3;
    private static final long SUM = 0;
    /**
     * A tagged message that came before its receive is matched with the receives of every endpoint of the domain, and both ends are in
     * one here.
     */
    private static final Set<String> SHARED_TAGS = Set.of("net", "tcp");
    /** It promises an order that it does not always keep: a short message may pass one of several packets. */
    private static final String UNORDERED = "udp;ofi_rxd";

    private final Random random;
    private final Pair pair;
    private final boolean hasTags;
    private final boolean hasAtomics;
    private final boolean keepsOrder;
    private final boolean masks;
    private final boolean looks;
    private final boolean carriesData;
    private final List<MessageSide> sides;
    private final MemoryRegion far;
    private final MemoryRegion near;
    private long added;
    private long next = 1;

    private MessageProgram(String provider, Set<Capability> families, long seed) {
        this.random = new Random(seed);
        FabricHints hints = TestProviders.hints(provider).capabilities(families.toArray(Capability[]::new));
        this.pair = new Pair(hints, MessageSide.QUEUE);
        this.hasTags = families.contains(Capability.TAGGED);
        this.hasAtomics = families.contains(Capability.ATOMIC);
        Peer back = pair.vector == null
                ? pair.farEndpoint.connection().peer()
                : pair.vector.insert(pair.endpoint.address());
        this.sides = List.of(new MessageSide(pair.domain, pair.endpoint, pair.queue, pair.far),
                new MessageSide(pair.domain, pair.farEndpoint, pair.farQueue, back));
        this.keepsOrder = !provider.equals(UNORDERED)
                && (pair.endpoint.info().transmit().messageOrder() & MessageOrder.SAS.bit()) != 0;
        this.masks = !has(Fact.MASKS_IGNORED);
        this.looks = hasTags && !has(Fact.PEEK_RECEIVES) && !has(Fact.CLAIMS_TRUNCATE);
        this.carriesData = !has(Fact.MESSAGES_LOSE_DATA);
        this.far = pair.domain.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE);
        this.near = pair.domain.allocate(64 * 64, Access.READ, Access.WRITE);
    }

    private boolean has(Fact fact) { return PackagePrivate.has(pair.endpoint, fact); }

    /** Arguments: the provider, the first seed, how many programs. Ends with status 0 if no rule was broken. */
    public static void main(String[] arguments) {
        long first = Long.parseLong(arguments[1]);
        int messages = 0;
        for (long seed = first; seed < first + Long.parseLong(arguments[2]); seed++) {
            for (Set<Capability> families : families(arguments[0])) {
                try {
                    messages += run(arguments[0], families, seed);
                } catch (Throwable t) {
                    throw new AssertionError("program " + seed + " with " + families + " on " + arguments[0], t);
                }
            }
        }
        System.out.println("messages " + messages);
        System.exit(0); // threads of providers stay
    }

    /** Which families of calls an endpoint has: as many as the provider has at once. */
    private static List<Set<Capability>> families(String provider) {
        Set<Capability> all = EnumSet.of(Capability.RMA, Capability.MSG);
        Capability[] further = {Capability.TAGGED, Capability.ATOMIC};
        boolean mixesTags = SHARED_TAGS.contains(provider);
        boolean canAtomics = TestProviders.atomics().toList().contains(provider);
        for (Capability one : further) {
            Set<Capability> more = EnumSet.copyOf(all);
            more.add(one);
            boolean isTried = one == Capability.ATOMIC ? canAtomics : !mixesTags;
            if (isTried && MessageSide.isOffered(provider, more)) { all = more; }
        }
        return List.of(all, EnumSet.of(Capability.RMA, Capability.MSG));
    }

    private static int run(String provider, Set<Capability> families, long seed) {
        MessageProgram program = new MessageProgram(provider, families, seed);
        for (int step = 0; step < STEPS; step++) {
            program.step();
        }
        program.finish();
        return program.sides.stream().mapToInt(MessageSide::received).sum();
    }

    private void step() {
        MessageSide side = sides.get(random.nextInt(2));
        MessageSide other = sides.get(side == sides.get(0) ? 1 : 0);
        boolean tagged = hasTags && random.nextBoolean();
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> receive(side, tagged);
            case 3, 4, 5 -> send(side, other, tagged);
            case 6 -> cancel(side);
            case 7 -> claim(side);
            case 8 -> oneSided();
            default -> poll();
        }
        if (random.nextInt(3) == 0) { poll(); }
    }

    private void poll() { sides.forEach(MessageSide::poll); }

    private void receive(MessageSide side, boolean tagged) {
        if (side.pendingReceives() >= MOST_RECEIVES) { return; }
        long tag = tagged ? random.nextInt(TAGS) : -1;
        long mask = tagged && masks && random.nextInt(4) == 0 ? MASK : 0;
        side.receive(next++, tag, mask);
    }

    private void send(MessageSide side, MessageSide other, boolean tagged) {
        int length = random.nextInt(8) == 0 ? random.nextInt(LENGTH) + 1 : random.nextInt(64) + 1;
        boolean withData = carriesData && random.nextInt(4) == 0;
        boolean inject = !withData && random.nextInt(3) == 0;
        side.send(other, next++, tagged ? random.nextInt(TAGS) : -1, length, inject, withData);
    }

    private void cancel(MessageSide side) { side.cancelOne(random); }

    private void claim(MessageSide side) { if (looks) { side.look(next++, random.nextInt(TAGS)); } }

    /** A write, a read, or an addition to the number at {@link #SUM}. */
    private void oneSided() {
        long token = next++;
        Endpoint endpoint = pair.endpoint;
        long offset = token % 64 * 64;
        boolean posted;
        if (hasAtomics && random.nextBoolean()) {
            posted = endpoint.atomics().tryFetch(AtomicOperation.SUM, Datatype.INT64, 3, near, offset, pair.far,
                    far.remote(), SUM, token);
            if (posted) { added += 3; }
        } else if (random.nextBoolean()) {
            posted = endpoint.rma().tryWrite(near, offset + 32, 8, pair.far, far.remote(), 8, token);
        } else {
            posted = endpoint.rma().tryRead(near, offset + 40, 8, pair.far, far.remote(), 16, token);
        }
        if (posted) { sides.getFirst().expect(token); }
    }

    /** Has every message received, cancels what waits for none, and closes. */
    private void finish() {
        MessageSide one = sides.get(0);
        MessageSide two = sides.get(1);
        await("looks to complete", () -> one.areLooksDone() && two.areLooksDone());
        for (MessageSide side : sides) {
            side.takeClaimed();
        }
        long[] tokens = {next};
        await("every message to arrive", () -> {
            one.receiveWhatIsMissing(tokens);
            two.receiveWhatIsMissing(tokens);
            return one.hasEverything() && two.hasEverything();
        });
        await("sends to complete", () -> one.areSendsDone() && two.areSendsDone());
        long sum = far.segment().get(JAVA_LONG, SUM);
        require(!hasAtomics || sum == added, "the sum is " + sum + ", not " + added);
        pair.endpoint.close();
        pair.farEndpoint.close();
        await("canceled receives", () -> one.isQuiet() && two.isQuiet());
        for (MessageSide side : sides) {
            side.requireEveryTokenOnce();
            if (keepsOrder) { side.requireOrder(); }
            side.close();
        }
        near.close();
        far.close();
        pair.close();
    }

    private void await(String what, BooleanSupplier done) {
        boolean isDone = Waiting.YIELD.tryUntil(() -> {
            poll();
            return done.getAsBoolean();
        }, Pair.DEADLINE);
        require(isDone, "waiting for " + what + ": " + sides);
    }

    static void require(boolean holds, String otherwise) { if (!holds) { throw new AssertionError(otherwise); } }

    /** The bytes of a message, which its number tells. */
    static byte[] content(long number, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) (number * 31 + 7));
        for (int i = 0; i < Math.min(length, Long.BYTES); i++) {
            bytes[i] = (byte) (number >>> 8 * i);
        }
        return bytes;
    }

    static void put(MemoryRegion region, long offset, byte[] bytes) {
        MemorySegment.copy(bytes, 0, region.segment(), JAVA_BYTE, offset, bytes.length);
    }

    /** Instead of a token of this program. */
    static final long NO_TOKEN = CompletionHandler.NO_TOKEN;
}
