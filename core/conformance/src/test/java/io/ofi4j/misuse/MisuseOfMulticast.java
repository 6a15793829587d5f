package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MulticastGroup;
import io.ofi4j.Scope;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Member;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Multicast groups that cannot be joined, and messages that cannot be sent to one. */
final class MisuseOfMulticast {
    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> UNSUPPORTED = UnsupportedOperationException.class;
    private static final int LENGTH = MisuseStage.LENGTH;
    private static final int PORT = 5000;

    private MisuseOfMulticast() {}

    /** Whether this machine reaches groups. */
    static boolean isPossible() { return Member.obstacle().isEmpty(); }

    /** An endpoint that may join groups, and a region. */
    private static final class One {
        final MisuseStage s;
        final Scope scope;
        final Domain domain;
        final Endpoint endpoint;
        final MemoryRegion region;

        One(MisuseStage s, FabricHints hints) {
            this.s = s;
            scope = s.opened(Libfabric.load().openScope());
            domain = scope.openFabric(TestProviders.info(hints)).openDomain();
            endpoint = domain.openEndpoint().bind(domain.openAddressVector()).bind(domain.openCompletionQueue());
            region = domain.allocate(LENGTH, Access.SEND);
        }

        MulticastGroup join(EndpointAddress group) { return endpoint.joinMulticast(group, Pair.DEADLINE); }

        MulticastGroup group() { return join(address(0)); }
    }

    private static FabricHints hints() { return Member.hints(new InetSocketAddress("0.0.0.0", 0)); }

    private static EndpointAddress address(int number) {
        return EndpointAddress.of(new InetSocketAddress(Member.group(number), PORT));
    }

    private static Misuse on(String name, Class<? extends Throwable> expected, String words, Consumer<One> call) {
        return on(name, hints(), expected, words, call);
    }

    private static Misuse on(String name, FabricHints hints, Class<? extends Throwable> expected, String words,
            Consumer<One> call) {
        return refused("multicast: " + name, expected, words, s -> {
            One one = new One(s, hints);
            one.endpoint.enable();
            call.accept(one);
        });
    }

    static Stream<Misuse> cases() {
        return isPossible() ? Stream.of(joins(), sends(), closes()).flatMap(cases -> cases) : Stream.empty();
    }

    private static Stream<Misuse> joins() {
        FabricHints sending = hints().capabilities(Capability.MSG, Capability.MULTICAST, Capability.SEND);
        FabricHints owned = hints().threading(ThreadingModel.DOMAIN);
        return Stream.of(
                on("an endpoint without them", FabricHints.datagrams().provider("udp").source("127.0.0.1", null),
                        UNSUPPORTED, "Capability.MULTICAST", one -> one.group()),
                on("an endpoint without messages", hints().capabilities(Capability.MULTICAST), UNSUPPORTED,
                        "Capability.MSG", one -> one.group()),
                on("an endpoint that only sends", sending, UNSUPPORTED, "only send", one -> one.group()),
                refused("multicast: before enable", STATE, "enable", s -> new One(s, hints()).group()),
                on("an address that is no group's", ARGUMENT, "not the address of a multicast group",
                        one -> one.join(EndpointAddress.of(new InetSocketAddress("10.0.0.1", PORT)))),
                on("an address of IPv6", ARGUMENT, "SOCKADDR_IN",
                        one -> one.join(EndpointAddress.of(new InetSocketAddress("ff02::1", PORT)))),
                on("a name", ARGUMENT, "SOCKADDR_IN", one -> one.join(TestProviders.info("shm").addressNamed("group"))),
                on("a group twice", STATE, "already", one -> {
                    one.group();
                    one.group();
                }), on("more groups than the system allows", FabricException.class, "igmp_max_memberships", one -> {
                    for (int number = 0;; number++) {
                        one.join(address(number));
                    }
                }), on("a join on a closed endpoint", STATE, "closed", one -> {
                    one.endpoint.close();
                    one.group();
                }), on("a join by another thread", owned, WrongThreadException.class, "DOMAIN",
                        one -> MisuseStage.elsewhere(one::group)));
    }

    private static Stream<Misuse> sends() {
        FabricHints owned = hints().threading(ThreadingModel.DOMAIN);
        return Stream.of(
                on("bytes past the end", RANGE, "not inside", one -> one.group().trySend(one.region, LENGTH - 7, 8, 1)),
                on("bytes before the beginning", RANGE, "not inside", one -> one.group().trySend(one.region, -1, 8, 1)),
                on("less than no byte", RANGE, "not inside", one -> one.group().trySend(one.region, 0, -1, 1)),
                on("more bytes than a packet has", ARGUMENT, "at most 1472 bytes",
                        one -> one.group().trySend(one.region, 0, 1473, 1)),
                on("a region for what is received", ARGUMENT, "lacks [SEND]",
                        one -> one.group().trySend(one.domain.allocate(LENGTH, Access.RECEIVE), 0, 8, 1)),
                on("another domain's region", ARGUMENT, "another domain",
                        one -> one.group().trySend(one.s.region(one.s.pair, Access.SEND), 0, 8, 1)),
                on("a closed region", STATE, "closed", one -> {
                    one.region.close();
                    one.group().trySend(one.region, 0, 8, 1);
                }), on("a send to a closed group", STATE, "is closed", one -> {
                    MulticastGroup group = one.group();
                    group.close();
                    group.trySend(one.region, 0, 8, 1);
                }), on("a send to the group of a closed endpoint", STATE, "is closed", one -> {
                    MulticastGroup group = one.group();
                    one.scope.close();
                    group.send(one.region.slice(0, 8), 1);
                }), on("a send by another thread", owned, WrongThreadException.class, "DOMAIN", one -> {
                    MulticastGroup group = one.group();
                    MisuseStage.elsewhere(() -> group.trySend(one.region, 0, 8, 1));
                }));
    }

    private static Stream<Misuse> closes() {
        FabricHints owned = hints().threading(ThreadingModel.DOMAIN);
        return Stream.of(on("a close of the endpoint before the group", STATE, "close these before", one -> {
            one.group();
            one.endpoint.close();
        }), on("a close by another thread", owned, WrongThreadException.class, "DOMAIN", one -> {
            MulticastGroup group = one.group();
            MisuseStage.elsewhere(group::close);
        }));
    }
}
