package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.CollectiveGroup;
import io.ofi4j.Collectives;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Groups that cannot be joined, and operations that a group cannot have. */
final class MisuseOfCollectives {
    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> NOT_OFFERED = UnsupportedOperationException.class;
    private static final AtomicOperation SUM = AtomicOperation.SUM;
    private static final Datatype INT64 = Datatype.INT64;
    private static final int LENGTH = MisuseStage.LENGTH;

    private MisuseOfCollectives() {}

    /** Two endpoints that may be a group, and a region for what is sent and received. */
    private static final class Two {
        final MisuseStage s;
        final Pair pair;
        final Collectives family;
        final List<Peer> members;
        final MemoryRegion region;
        private CollectiveGroup group;

        Two(MisuseStage s) {
            this.s = s;
            pair = s.opened(new Pair(hints()));
            family = pair.endpoint.collectives();
            members = List.of(pair.vector.insert(pair.endpoint.address()), pair.far);
            region = s.region(pair, Access.SEND, Access.RECEIVE);
        }

        /** The near end's group; both ends have joined. */
        CollectiveGroup group() {
            if (group == null) {
                CollectiveGroup joining = family.join(members);
                pair.farEndpoint.collectives().join(members).awaitJoined(Pair.DEADLINE);
                group = joining.awaitJoined(Pair.DEADLINE);
            }
            return group;
        }

        void reduce(MemoryRegion local, long offset, long count, MemoryRegion result, long resultOffset) {
            group().tryAllReduce(SUM, INT64, local, offset, count, result, resultOffset, 1);
        }

        void broadcast(long count, int root) { group().tryBroadcast(INT64, region, 0, count, root, 1); }

        MemoryRegion only(Access... access) { return s.region(pair, access); }
    }

    private static FabricHints hints() {
        return TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.MSG, Capability.COLLECTIVE);
    }

    private static Misuse on(String name, Class<? extends Throwable> expected, String words, Consumer<Two> call) {
        return refused("collective: " + name, expected, words, s -> call.accept(new Two(s)));
    }

    static Stream<Misuse> cases() {
        return Stream.of(endpoints(), joins(), counts(), slices(), regions(), closed()).flatMap(cases -> cases);
    }

    private static Stream<Misuse> endpoints() {
        return Stream.of(
                refused("collective: an endpoint without them", NOT_OFFERED, "Capability.COLLECTIVE",
                        s -> s.pair.endpoint.collectives()),
                refused("collective: an endpoint with them of a domain without", IllegalArgumentException.class,
                        "Capability.COLLECTIVE",
                        s -> s.opened(s.other("tcp;ofi_rxm").domain.openEndpoint(TestProviders.info(hints())))),
                wired("a queue for each direction", new Pair.Wiring() {
                    @Override
                    public Endpoint bindNear(Pair pair, Endpoint endpoint) {
                        return endpoint.bind(pair.queue, Direction.TRANSMIT).bind(pair.farQueue, Direction.RECEIVE);
                    }
                }), wired("a counter", new Pair.Wiring() {
                    @Override
                    public Endpoint bindNear(Pair pair, Endpoint endpoint) {
                        return endpoint.bind(pair.queue).bind(pair.openCounter(WaitObject.UNSPECIFIED),
                                CounterEvent.SEND);
                    }
                }),
                refused("collective: before enable", STATE, "enable",
                        s -> s.opened(s.domain(hints()).openEndpoint()).collectives()),
                on("tags beside them", NOT_OFFERED, "Capability.TAGGED", t -> t.pair.endpoint.tagged()));
    }

    private static Misuse wired(String what, Pair.Wiring wiring) {
        return refused("collective: " + what, NOT_OFFERED, "one completion queue for both directions, and no counters",
                s -> s.opened(new Pair(hints(), CompletionQueueAttributes.defaults(), wiring)).endpoint.collectives());
    }

    private static Stream<Misuse> joins() {
        return Stream.of(
                on("a member that does not join", FabricTimeoutException.class, "Do all 2 members join",
                        t -> t.family.join(t.members).awaitJoined(Duration.ofMillis(10))),
                on("an operation before the join has completed", STATE, "awaitJoined first",
                        t -> t.family.join(t.members).tryBarrier(1)),
                on("a reduction before the join has completed", STATE, "awaitJoined first",
                        t -> t.family.join(t.members).tryAllReduce(SUM, INT64, t.region, 0, 1, t.region, 8, 1)),
                on("a second join beside the first", STATE, "is still joining", t -> {
                    t.family.join(t.members);
                    t.family.join(t.members);
                }),
                on("a list without the endpoint", ARGUMENT, "not among the members",
                        t -> t.family.join(List.of(t.pair.far))),
                on("a list of nobody", ARGUMENT, "not among the members", t -> t.family.join(List.of())),
                on("a peer twice", ARGUMENT, "in the group already",
                        t -> t.family.join(List.of(t.members.getFirst(), t.pair.far, t.pair.far))),
                on("a peer of another vector", ARGUMENT, "address vector",
                        t -> t.family.join(List.of(t.members.getFirst(), t.s.pair.far))),
                on("a removed peer", STATE, "removed", t -> {
                    t.pair.vector.remove(t.pair.far);
                    t.family.join(t.members);
                }), on("a join on a closed endpoint", STATE, "closed", t -> {
                    t.pair.endpoint.close();
                    t.family.join(t.members);
                }));
    }

    private static Stream<Misuse> counts() {
        return Stream.of(on("no element", ARGUMENT, "1 to 2048", t -> t.reduce(t.region, 0, 0, t.region, 8)),
                on("less than no element", ARGUMENT, "not -1", t -> t.reduce(t.region, 0, -1, t.region, 8)),
                on("too many elements", ARGUMENT, "not 2049", t -> t.reduce(t.region, 0, 2049, t.region, 8)),
                on("as many elements as a number can say", ARGUMENT, "1 to 2048",
                        t -> t.reduce(t.region, 0, Long.MAX_VALUE, t.region, 8)),
                on("no element to gather", ARGUMENT, "1 to 2048",
                        t -> t.group().tryAllGather(INT64, t.region, 0, 0, t.region, 8, 1)),
                on("too many elements to gather", ARGUMENT, "not 2049",
                        t -> t.group().tryAllGather(INT64, t.region, 0, 2049, t.region, 8, 1)),
                on("no element to scatter", ARGUMENT, "1 to 2048",
                        t -> t.group().tryScatter(INT64, t.region, 0, 0, t.region, 8, 0, 1)),
                on("no element to broadcast", ARGUMENT, "1 to 4096", t -> t.broadcast(0, 0)),
                on("too many elements to broadcast", ARGUMENT, "not 4098", t -> t.broadcast(4098, 0)),
                on("elements that cannot be shared", ARGUMENT, "multiple of 2", t -> t.broadcast(3, 0)),
                on("a root below 0", ARGUMENT, "a rank from 0 to 1, not -1", t -> t.broadcast(2, -1)),
                on("a root above the last", ARGUMENT, "a rank from 0 to 1, not 2", t -> t.broadcast(2, 2)),
                on("a scatter from nobody", ARGUMENT, "a rank from 0 to 1, not 2",
                        t -> t.group().tryScatter(INT64, t.region, 0, 1, t.region, 8, 2, 1)),
                on("a reduction that does not reduce", NOT_OFFERED, "ATOMIC_WRITE",
                        t -> t.group().tryAllReduce(AtomicOperation.ATOMIC_WRITE, INT64, t.region, 0, 1, t.region, 8,
                                1)),
                on("bits of floating-point numbers", NOT_OFFERED, "DOUBLE", t -> t.group()
                        .tryAllReduce(AtomicOperation.BXOR, Datatype.DOUBLE, t.region, 0, 1, t.region, 8, 1)));
    }

    private static Stream<Misuse> slices() {
        return Stream.of(
                on("a slice that ends inside an element", ARGUMENT, "a slice of 20 bytes ends inside an element",
                        t -> t.group().broadcast(INT64, t.region.slice(0, 20), 0, 1)),
                on("a sum shorter than the numbers", ARGUMENT, "the result has 8 bytes; among 2 members it needs 16",
                        t -> t.group().allReduce(SUM, INT64, t.region.slice(0, 16), t.region.slice(16, 8), 1)),
                on("a slice without room for all members", ARGUMENT,
                        "the result has 8 bytes; among 2 members it needs 16",
                        t -> t.group().allGather(INT64, t.region.slice(0, 8), t.region.slice(16, 8), 1)),
                on("a root's slice without elements for all members", ARGUMENT,
                        "the source has 8 bytes; among 2 members it needs 16",
                        t -> t.group().scatter(INT64, t.region.slice(0, 8), t.region.slice(16, 8), 0, 1)));
    }

    private static Stream<Misuse> regions() {
        return Stream.of(
                on("elements past the end", RANGE, "not inside", t -> t.reduce(t.region, LENGTH - 8, 2, t.region, 0)),
                on("elements before the beginning", RANGE, "not inside", t -> t.reduce(t.region, -8, 1, t.region, 0)),
                on("a result past the end", RANGE, "not inside", t -> t.reduce(t.region, 0, 2, t.region, LENGTH - 8)),
                on("a result without room for all members", RANGE, "not inside",
                        t -> t.group().tryAllGather(INT64, t.region, 0, 2, t.region, LENGTH - 16, 1)),
                on("a root without elements for all members", RANGE, "not inside",
                        t -> t.group().tryScatter(INT64, t.region, LENGTH - 16, 2, t.region, 0, 0, 1)),
                on("elements of a region for results", ARGUMENT, "lacks [SEND]",
                        t -> t.reduce(t.only(Access.RECEIVE), 0, 1, t.region, 0)),
                on("a result in a region for elements", ARGUMENT, "lacks [RECEIVE]",
                        t -> t.reduce(t.region, 0, 1, t.only(Access.SEND), 0)),
                on("a broadcast from a region for elements", ARGUMENT, "lacks [RECEIVE]",
                        t -> t.group().tryBroadcast(INT64, t.only(Access.SEND), 0, 2, 0, 1)),
                on("another domain's region", ARGUMENT, "another domain",
                        t -> t.reduce(t.s.region(t.s.pair, Access.SEND), 0, 1, t.region, 0)),
                on("another domain's result", ARGUMENT, "another domain",
                        t -> t.reduce(t.region, 0, 1, t.s.region(t.s.pair, Access.RECEIVE), 0)));
    }

    private static Stream<Misuse> closed() {
        return Stream.of(on("a closed region", STATE, "closed", t -> {
            t.region.close();
            t.reduce(t.region, 0, 1, t.only(Access.RECEIVE), 0);
        }), on("a closed result", STATE, "closed", t -> {
            t.region.close();
            t.reduce(t.only(Access.SEND), 0, 1, t.region, 0);
        }), on("a closed region that is broadcast", STATE, "closed", t -> {
            t.region.close();
            t.broadcast(2, 0);
        }), on("a barrier on a closed endpoint", STATE, "closed", t -> {
            t.group();
            t.pair.endpoint.close();
            t.group().tryBarrier(1);
        }), on("a reduction on a closed endpoint", STATE, "closed", t -> {
            t.group();
            t.pair.endpoint.close();
            t.reduce(t.region, 0, 1, t.region, 8);
        }), on("a question to a closed endpoint", STATE, "closed", t -> {
            CollectiveGroup joining = t.family.join(t.members);
            t.pair.endpoint.close();
            joining.isJoined();
        }));
    }
}
