package io.ofi4j.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ofi4j.Access;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.model.MessageWorld.Shape;
import io.ofi4j.support.Pair;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * A random program of messages, tags, atomics and one-sided transfers between two ends, both ways, checked against a
 * model: every token comes back once, every message arrives once, whole, and in the order that the provider promises,
 * and what is added up is the sum. An end has one endpoint, or two that share a context, or one with two contexts. No
 * message is longer than a receive: what follows then is another test's.
 */
final class MessageProgram {
    private static final int LENGTH = 4096;
    /** Of one packet of every provider. */
    private static final int ONE_PACKET = 1024;
    private static final int STEPS = 300;
    static final int MAX_RECEIVES = 48;
    private static final int TAGS = 3;
    private static final int MASK = 3;
    private static final long SUM = 0;
    /**
     * A tagged message that came before its receive is matched with the receives of every endpoint of the domain, and
     * both ends are in one here.
     */
    private static final Set<String> SHARED_TAGS = Set.of("net", "tcp");
    /** It promises an order that it does not always keep: a short message may pass one of several packets. */
    private static final String UNORDERED = "udp;ofi_rxd";
    /** The one provider with scalable endpoints. It cannot cancel receives of shared contexts. */
    private static final String SCALABLE = "sockets";

    private final Random random;
    private final MessageWorld world;
    private final boolean hasTags;
    private final boolean hasAtomics;
    private final int longest;
    private final boolean keepsOrder;
    private final boolean masks;
    private final boolean looks;
    private final boolean carriesData;
    /**
     * Whether a receive may wake a message of another endpoint, which has come before its receive, in place of its own.
     */
    private final boolean wakesOthers;
    /** Whether receives may be from one peer; there is one, so that the same messages match. */
    private final boolean directs;
    private final boolean cancels;
    private final List<MessageSide> sides;
    private final MemoryRegion far;
    private final MemoryRegion near;
    private long added;
    private long next = 1;

    private MessageProgram(Setting setting, long seed) {
        this.random = new Random(seed);
        String provider = setting.provider;
        Set<Capability> families = setting.families;
        this.world = new MessageWorld(setting.hints(), setting.shape);
        this.hasTags = families.contains(Capability.TAGGED);
        this.hasAtomics = families.contains(Capability.ATOMIC);
        this.wakesOthers = SHARED_TAGS.contains(provider);
        this.directs = families.contains(Capability.DIRECTED_RECV);
        this.sides = List.of(new MessageSide(world.domain, world.queues.get(0), world.lanes.get(0)),
                new MessageSide(world.domain, world.queues.get(1), world.lanes.get(1)));
        this.longest = ProviderFault.ARRIVALS_MIXED.isOf(provider) ? ONE_PACKET : LENGTH;
        this.keepsOrder = !provider.equals(UNORDERED)
                && world.endpoint().info().transmit().messageOrder().contains(MessageOrder.SAS);
        this.masks = !ProviderFault.MASKS_IGNORED.isOf(provider);
        this.looks = hasTags && setting.shape == Shape.PLAIN && !ProviderFault.PEEK_RECEIVES.isOf(provider)
                && !ProviderFault.anyOf(provider, ProviderFault.CLAIMS_TRUNCATE, ProviderFault.CLAIMS_LOSE_MESSAGES,
                        ProviderFault.CLAIMS_TAKE_ONE_SEGMENT);
        this.carriesData = !ProviderFault.MESSAGE_DATA_UNFLAGGED.isOf(provider); // the model compares flags
        this.cancels = setting.shape != Shape.SHARED_RECEIVE || !provider.contains(SCALABLE);
        this.far = world.domain.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE);
        this.near = world.domain.allocate(64 * 64, Access.READ, Access.WRITE);
    }

    /** Arguments: the provider, the first seed, how many programs. Ends with status 0 if no rule was broken. */
    public static void main(String[] arguments) {
        long first = Long.parseLong(arguments[1]);
        int messages = 0;
        List<Setting> settings = settings(arguments[0]);
        for (long seed = first; seed < first + Long.parseLong(arguments[2]); seed++) {
            for (Setting setting : settings) {
                try {
                    messages += run(setting, seed);
                } catch (Throwable t) {
                    throw new AssertionError("program " + seed + " with " + setting, t);
                }
            }
        }
        settings.forEach(setting -> System.out.println("shape " + setting.shape));
        System.out.println("messages " + messages);
        System.exit(0); // threads of providers stay
    }

    /** Of which endpoints programs are, and which families of calls these have. */
    private record Setting(String provider, Set<Capability> families, Shape shape) {
        FabricHints hints() { return TestProviders.hints(provider).capabilities(families.toArray(Capability[]::new)); }

        boolean isOffered() { return MessageSide.isOffered(shape.of(hints())); }
    }

    /** With as many families as the provider has at once, of each shape that it has; and with two. */
    private static List<Setting> settings(String provider) {
        Set<Capability> all = EnumSet.of(Capability.RMA, Capability.MSG);
        Capability[] further = {Capability.TAGGED, Capability.ATOMIC};
        boolean mixesTags = SHARED_TAGS.contains(provider);
        boolean canAtomics = TestProviders.atomics().toList().contains(provider);
        for (Capability one : further) {
            Set<Capability> more = EnumSet.copyOf(all);
            more.add(one);
            boolean isTried = one == Capability.ATOMIC ? canAtomics : !mixesTags;
            if (isTried && new Setting(provider, more, Shape.PLAIN).isOffered()) { all = more; }
        }
        List<Setting> settings = new ArrayList<>();
        for (Shape shape : Shape.values()) {
            Setting setting = new Setting(provider, shape == Shape.PLAIN ? withDirected(provider, all) : all, shape);
            boolean isTried = shape != Shape.SCALABLE || provider.equals(SCALABLE);
            if (isTried && setting.isOffered()) { settings.add(setting); }
        }
        settings.add(new Setting(provider, EnumSet.of(Capability.RMA, Capability.MSG), Shape.PLAIN));
        return settings;
    }

    private static Set<Capability> withDirected(String provider, Set<Capability> families) {
        Set<Capability> more = EnumSet.copyOf(families);
        more.add(Capability.DIRECTED_RECV);
        return new Setting(provider, more, Shape.PLAIN).isOffered() ? more : families;
    }

    private static int run(Setting setting, long seed) {
        MessageProgram program = new MessageProgram(setting, seed);
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
        if (side.pendingReceives() >= MAX_RECEIVES) { return; }
        long tag = tagged ? random.nextInt(TAGS) : -1;
        long mask = tagged && masks && random.nextInt(4) == 0 ? MASK : 0;
        boolean directed = directs && random.nextInt(4) == 0;
        side.receive(random.nextInt(side.lanes()), next++, tag, mask, directed);
    }

    private void send(MessageSide side, MessageSide other, boolean tagged) {
        int length = random.nextInt(8) == 0 ? random.nextInt(longest) + 1 : random.nextInt(64) + 1;
        boolean withData = carriesData && random.nextInt(4) == 0;
        boolean inject = !withData && random.nextInt(3) == 0;
        int lane = random.nextInt(side.lanes());
        side.send(other, lane, next++, tagged ? random.nextInt(TAGS) : -1, length, inject, withData);
    }

    private void cancel(MessageSide side) { if (cancels) { side.cancelOne(random); } }

    private void claim(MessageSide side) { if (looks) { side.look(next++, random.nextInt(TAGS)); } }

    /** A write, a read, or an addition to the number at {@link #SUM}. */
    private void oneSided() {
        long token = next++;
        Endpoint endpoint = world.endpoint();
        long offset = token % 64 * 64;
        boolean posted;
        if (hasAtomics && random.nextBoolean()) {
            posted = endpoint.atomics().tryFetch(AtomicOperation.SUM, Datatype.INT64, 3, near, offset, world.far(),
                    far.remote(), SUM, token);
            if (posted) { added += 3; }
        } else if (random.nextBoolean()) {
            posted = endpoint.rma().tryWrite(near, offset + 32, 8, world.far(), far.remote(), 8, token);
        } else {
            posted = endpoint.rma().tryRead(near, offset + 40, 8, world.far(), far.remote(), 16, token);
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
            if (wakesOthers) { sides.forEach(side -> side.receiveOneMore(tokens)); }
            return one.hasEverything() && two.hasEverything();
        });
        await("sends to complete", () -> one.areSendsDone() && two.areSendsDone());
        long sum = far.segment().get(JAVA_LONG, SUM);
        require(!hasAtomics || sum == added, "the sum is " + sum + ", not " + added);
        world.closeEndpoints();
        await("canceled receives", () -> one.isQuiet() && two.isQuiet());
        for (MessageSide side : sides) {
            side.requireEveryTokenOnce();
            if (keepsOrder) { side.requireOrder(); }
            side.close();
        }
        near.close();
        far.close();
        world.close();
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
