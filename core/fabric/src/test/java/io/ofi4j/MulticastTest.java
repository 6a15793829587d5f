package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Member;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Multicast groups of {@code udp}. On one machine one endpoint can have a port of an address; {@code
 * MulticastNetworkTest} has members on two.
 */
@Timeout(300)
class MulticastTest {
    private static final int SENT = 7;

    @BeforeAll
    static void groupsCanBeReached() {
        String obstacle = Member.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle);
    }

    private static EndpointAddress address(String host, int port) {
        return EndpointAddress.of(new InetSocketAddress(host, port));
    }

    @Test
    void aMessageReachesTheMemberAndNobodyElse() {
        try (Member member = Member.at(1);
                Member sender = Member.atSource();
                Member other = new Member(new InetSocketAddress(Member.group(2), member.port()));
                MulticastGroup its = member.join(member.groupAtPort(1));
                MulticastGroup others = other.join(other.groupAtPort(2));
                MulticastGroup group = sender.join(member.groupAtPort(1))) {
            sender.send(group, 11);
            sender.send(group, 12);
            sender.await(0, 2);
            member.await(2, 0);
            other.poll();

            assertThat(member.received).containsExactly(11L, 12L);
            assertThat(other.received).isEmpty();
            assertThat(sender.received).isEmpty();
            assertThat(List.of(its, others)).extracting(MulticastGroup::address).containsExactly(member.groupAtPort(1),
                    other.groupAtPort(2));
            assertThat(group).hasToString("MulticastGroup " + member.groupAtPort(1));
        }
    }

    @Test
    void aMemberReceivesItsOwnMessages() {
        try (Member member = Member.at(1); MulticastGroup group = member.join(member.groupAtPort(1))) {
            member.send(group, 21);
            member.await(1, 1);

            assertThat(member.received).containsExactly(21L);
        }
    }

    @Test
    void aMemberOfTwoGroupsReceivesFromBoth() {
        try (Member member = new Member(new InetSocketAddress("0.0.0.0", 0));
                MulticastGroup first = member.join(member.groupAtPort(1));
                MulticastGroup second = member.join(member.groupAtPort(2))) {
            member.send(first, 31);
            member.send(second, 32);
            member.await(2, 2);

            assertThat(member.received).containsExactly(31L, 32L);
        }
    }

    @Test
    void nothingArrivesAfterTheMemberHasLeftAndItMayJoinAgain() {
        try (Member member = Member.at(1); Member sender = Member.atSource()) {
            Peer everybody = sender.vector.insert(member.groupAtPort(1));
            member.join(member.groupAtPort(1)).close();
            sender.send(everybody, 41);
            sender.await(0, 1);
            try (MulticastGroup _ = member.join(member.groupAtPort(1))) {
                sender.send(everybody, 42);
                member.await(1, 0);
            }

            assertThat(member.received).containsExactly(42L);
        }
    }

    @Test
    void messagesToPeersAndToGroupsGoFromOneEndpoint() {
        try (Member member = Member.at(1);
                Member sender = Member.atSource();
                Member peer = Member.atSource();
                MulticastGroup _ = member.join(member.groupAtPort(1));
                MulticastGroup group = sender.join(member.groupAtPort(1))) {
            Peer single = sender.vector.insert(peer.endpoint.address());
            for (int i = 0; i < 10; i++) {
                sender.send(group, i);
                sender.send(single, i);
                sender.endpoint.messages().prepare().peer(single).local(sender.region, 0, Member.NUMBER).send(-1);
            }
            sender.await(0, 30);
            member.await(10, 0);
            peer.await(20, 0);

            assertThat(member.received).containsExactlyElementsOf(LongStream.range(0, 10).boxed().toList());
            assertThat(peer.received)
                    .containsExactlyElementsOf(LongStream.range(0, 20).map(i -> i / 2).boxed().toList());
        }
    }

    /** A group is reached without a join, too, as an address of a vector. */
    @Test
    void whoOnlySendsNeedsNoGroup() {
        try (Member member = Member.at(1);
                Member sender = Member.atSource();
                MulticastGroup _ = member.join(member.groupAtPort(1))) {
            sender.send(sender.vector.insert(member.groupAtPort(1)), 51);
            member.await(1, 0);

            assertThat(member.received).containsExactly(51L);
        }
    }

    @Test
    void sendsThatWereAcceptedCompleteAfterTheGroupIsClosed() {
        try (Member sender = Member.atSource()) {
            MulticastGroup group = sender.join(sender.groupAtPort(1));
            int accepted = 0;
            while (accepted < 100 && group.trySend(sender.region, 0, 8, -1)) {
                accepted++;
            }
            group.close();
            sender.await(0, accepted);

            assertThat(sender.sent).isEqualTo(100);
        }
    }

    @Test
    void aClosedGroupIsRefused() {
        try (Member member = Member.at(1)) {
            MulticastGroup group = member.join(member.groupAtPort(1));
            group.close();
            group.close();

            assertThatIllegalStateException().isThrownBy(() -> group.send(member.region.slice(0, 8), SENT))
                    .withMessage(group + " is closed");
            assertThatIllegalStateException().isThrownBy(() -> group.trySend(member.region, 0, 8, SENT))
                    .withMessage(group + " is closed");
        }
    }

    @Test
    void theGroupOfAClosedEndpointIsClosed() {
        MulticastGroup group;
        try (Member member = Member.at(1)) {
            group = member.join(member.groupAtPort(1));
            assertThatIllegalStateException().isThrownBy(member.endpoint::close)
                    .withMessageContaining("close these before").withMessageContaining(group.toString());
            member.send(group, 61); // the endpoint is still open
            member.await(1, 1);
            group.close();
        }
        group.close();
    }

    @Test
    void aScopeClosesGroupsBeforeTheirEndpoint() {
        MulticastGroup group;
        EndpointAddress address;
        try (Scope scope = Libfabric.load().openScope()) {
            Domain domain = scope
                    .openFabric(TestProviders.info(Member.hints(new InetSocketAddress(Member.group(1), 0))))
                    .openDomain();
            Endpoint endpoint = domain.openEndpoint().bind(domain.openAddressVector())
                    .bind(domain.openCompletionQueue()).enable();
            address = endpoint.address();
            group = endpoint.joinMulticast(address, Pair.DEADLINE);
        }
        group.close();

        assertThat(group.address()).isEqualTo(address);
    }

    @Test
    void anAddressThatIsNoGroupsIsRefused() {
        try (Member member = Member.at(1)) {
            for (String host : List.of("0.0.0.0", "10.0.0.1", "127.0.0.1", "223.255.255.255", "240.0.0.0",
                    "255.255.255.255")) {
                assertThatIllegalArgumentException().isThrownBy(() -> member.join(address(host, 5000))).withMessage(host
                        + ":5000 is not the address of a multicast group: those are 224.0.0.0 to" + " 239.255.255.255");
            }
            assertThatIllegalArgumentException().isThrownBy(() -> member.join(address("ff02::1", 5000)))
                    .withMessageContaining("SOCKADDR_IN");
            assertThatIllegalArgumentException().isThrownBy(() -> member.join(EndpointAddress.of(new byte[]{2, 0, 1})))
                    .withMessageContaining("16 bytes, not 3");
            EndpointAddress group = member.groupAtPort(1);
            EndpointAddress longer = EndpointAddress.of(Arrays.copyOf(group.toBytes(), 60_000), group.format());
            assertThatIllegalArgumentException().isThrownBy(() -> member.join(longer))
                    .withMessageContaining("16 bytes, not 60000");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> member.join(TestProviders.info("shm").addressNamed("group")));
        }
    }

    @Test
    void groupsOfIpv6AreRefusedByTheProvider() {
        try (Member member = new Member(new InetSocketAddress("::1", 0))) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> member.join(address("ff02::99", 5000)))
                    .withMessageContaining("fi_join of [ff02:0:0:0:0:0:0:99]:5000 is not offered");
            assertThatIllegalArgumentException().isThrownBy(() -> member.join(address("::1", 5000)))
                    .withMessageContaining("ff00::");
        }
    }

    @Test
    void whatIsNoMemberOfTheFamilyIsRefused() {
        try (Pair pair = new Pair("DGRAM udp")) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> pair.endpoint.joinMulticast(address("239.255.0.1", 1), Pair.DEADLINE))
                    .withMessageContaining("was opened without Capability.MULTICAST");
        }
        for (FabricHints hints : List.of(FabricHints.datagrams().provider("sockets"),
                FabricHints.messages().provider("shm"))) {
            assertThatExceptionOfType(NoProviderException.class)
                    .isThrownBy(() -> Libfabric.load().info(hints.addCapabilities(Capability.MULTICAST)))
                    .withMessageContaining("[MULTICAST]");
        }
    }

    @Test
    void aSecondJoinOfAnAddressIsRefusedAndTheFirstStays() {
        try (Member member = Member.at(1); MulticastGroup group = member.join(member.groupAtPort(1))) {
            for (EndpointAddress again : List.of(group.address(),
                    EndpointAddress.of(new InetSocketAddress(Member.group(1), 1)))) {
                assertThatIllegalStateException().isThrownBy(() -> member.join(again))
                        .withMessageContaining("a member of " + group.address() + " already");
            }
            member.send(group, 71);
            member.await(1, 1);

            assertThat(member.received).containsExactly(71L);
        }
    }

    @Test
    void moreGroupsThanTheSystemAllowsAreRefusedAndTheEndpointCanBeClosed() {
        int limit = Integer.parseInt(FaultPeer.run(List.of("cat", "/proc/sys/net/ipv4/igmp_max_memberships")));
        assumeTrue(limit <= 32, "the limit is raised to " + limit);
        try (Member member = Member.atSource()) {
            List<MulticastGroup> groups = IntStream.range(0, limit)
                    .mapToObj(number -> member.join(member.groupAtPort(number))).toList();
            assertThatExceptionOfType(FabricException.class).isThrownBy(() -> member.join(member.groupAtPort(limit)))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOBUFS))
                    .withMessageContaining("igmp_max_memberships");
            groups.getFirst().close();
            member.join(member.groupAtPort(limit)).close();
            groups.forEach(MulticastGroup::close);
        }
    }

    @Test
    void anEndpointThatOnlySendsIsRefused() {
        FabricHints hints = Member.hints(new InetSocketAddress(Member.source(), 0)).capabilities(Capability.MSG,
                Capability.MULTICAST, Capability.SEND);
        try (Member sender = new Member(hints)) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> sender.join(sender.groupAtPort(1)))
                    .withMessageContaining("joins of multicast groups by endpoints that only send");
        }
    }

    /** Runs a main class in a network of its own, where only the loopback interface is up. */
    private static void succeedsAlone(Class<?> main, String... arguments) {
        List<String> output = new ArrayList<>();
        boolean able = FaultPeer.exit(List.of("unshare", "-rn", "ip", "link", "set", "lo", "up"), output) == 0;
        assumeTrue(able, () -> "a network of its own needs root or namespaces of users, and ip: " + output);
        Forked.Result result = Forked
                .startBehind(List.of("unshare", "-rn", "sh", "-c", "ip link set lo up; exec \"$0\" \"$@\""), main,
                        arguments)
                .await();

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @Test
    void whereThereIsNoRouteNothingIsJoinedAndTheEndpointCanBeClosed() { succeedsAlone(WithoutRoute.class); }

    /** As {@code udp} has it. The endpoint stays open, so that no other one writes to memory that was freed. */
    @Test
    void withoutTheQuirkAFailedJoinKeepsItsEndpointOpen() { succeedsAlone(FailedJoin.class, "-Dio.ofi4j.quirks=none"); }

    @Test
    void aGroupThatCannotBeLeftStaysUntilItsRouteIsBack() { succeedsAlone(LostRoute.class); }

    /** After a join that failed, nobody else could. */
    @Test
    void anEndpointClosesAGroupThatCouldNotBeClosedBefore() { succeedsAlone(LeftToTheEndpoint.class); }

    static final class LeftToTheEndpoint {
        public static void main(String[] arguments) {
            FaultPeer.run(List.of("ip", "route", "add", "239.255.0.0/16", "dev", "lo"));
            try (Member member = new Member(new InetSocketAddress("0.0.0.0", 0))) {
                MulticastGroup group = member.join(member.groupAtPort(1));
                FaultPeer.run(List.of("ip", "route", "del", "239.255.0.0/16", "dev", "lo"));
                failureOf(group::close);
                try {
                    member.endpoint.close();
                    throw new AssertionError("the endpoint was closed");
                } catch (IllegalStateException stays) {
                    require(stays.getMessage().contains(group.toString()), stays);
                }
                FaultPeer.run(List.of("ip", "route", "add", "239.255.0.0/16", "dev", "lo"));
                member.endpoint.close();
            }
        }
    }

    static final class WithoutRoute {
        public static void main(String[] arguments) {
            try (Member member = new Member(new InetSocketAddress("0.0.0.0", 0))) {
                FabricException e = failureOf(() -> member.join(member.groupAtPort(1)));
                require(e.errno() == Errno.ENODEV && e.getMessage().contains("ip route add")
                        && e.getSuppressed().length == 0, e);
            }
        }
    }

    static final class FailedJoin {
        public static void main(String[] arguments) {
            Member member = new Member(new InetSocketAddress("0.0.0.0", 0));
            FabricException e = failureOf(() -> member.join(member.groupAtPort(1)));
            require(e.errno() == Errno.ENODEV && e.getSuppressed().length == 1
                    && e.getSuppressed()[0].getMessage().contains("fi_close(multicast group)"), e);
            try {
                member.endpoint.close();
                throw new AssertionError("the endpoint was closed");
            } catch (IllegalStateException stays) {
                require(stays.getMessage().contains(member.groupAtPort(1).toString()), stays);
            }
            member.poll();
        }
    }

    static final class LostRoute {
        public static void main(String[] arguments) {
            FaultPeer.run(List.of("ip", "route", "add", "239.255.0.0/16", "dev", "lo"));
            try (Member member = new Member(new InetSocketAddress("0.0.0.0", 0))) {
                MulticastGroup group = member.join(member.groupAtPort(1));
                FaultPeer.run(List.of("ip", "route", "del", "239.255.0.0/16", "dev", "lo"));
                FabricException unsent = failureOf(() -> group.trySend(member.region, 0, 8, SENT));
                require(unsent.errno() == Errno.ENETUNREACH && member.queue.operationsInFlight() == Member.RECEIVES,
                        unsent);
                for (int i = 0; i < 2; i++) {
                    FabricException e = failureOf(group::close);
                    require(e.getMessage().contains("fi_close(multicast group)")
                            && e.getMessage().contains("ip route add"), e);
                }
                try {
                    group.trySend(member.region, 0, 8, SENT);
                    throw new AssertionError("it was sent");
                } catch (IllegalStateException closed) {
                    require(closed.getMessage().equals(group + " is closed"), closed);
                }
                FaultPeer.run(List.of("ip", "route", "add", "239.255.0.0/16", "dev", "lo"));
                group.close();
            }
        }
    }

    private static FabricException failureOf(Runnable call) {
        try {
            call.run();
        } catch (FabricException e) {
            return e;
        }
        throw new AssertionError("it did not fail");
    }

    /** A forked JVM has no AssertJ. */
    private static void require(boolean holds, RuntimeException otherwise) {
        if (!holds) { throw otherwise; }
    }

    @Test
    void whatSeveralThreadsDoWithGroupsEndsInExceptionsAlone() {
        Forked.Result result = Forked.run(Hostile.class);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Some threads join, send and leave, while another one sends to groups that are closed and closes what it can. */
    static final class Hostile {
        private static final int ROUNDS = 300;

        public static void main(String[] arguments) throws InterruptedException {
            try (Member member = new Member(new InetSocketAddress("0.0.0.0", 0))) {
                AtomicInteger refused = new AtomicInteger();
                List<MulticastGroup> shared = IntStream.range(0, 4)
                        .mapToObj(number -> member.join(member.groupAtPort(number))).toList();
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    int own = 10 + i;
                    threads.add(Thread.ofPlatform().start(() -> joinAndSend(member, own, shared, refused)));
                }
                for (int round = 0; round < ROUNDS; round++) {
                    refuses(member.endpoint::close, refused);
                    refuses(member.queue::close, refused);
                    refuses(member.vector::close, refused);
                    refuses(member.domain::close, refused);
                    member.poll();
                }
                shared.forEach(MulticastGroup::close);
                for (Thread thread : threads) {
                    while (thread.isAlive()) {
                        member.poll();
                        thread.join(1);
                    }
                }
                shared.forEach(group -> refuses(() -> group.trySend(member.region, 0, 8, -1), refused));
                System.out.println(refused + " calls were refused");
            }
        }

        private static void joinAndSend(Member member, int own, List<MulticastGroup> shared, AtomicInteger refused) {
            for (int round = 0; round < ROUNDS; round++) {
                MulticastGroup some = shared.get(round % shared.size());
                MulticastGroup group = member.join(member.groupAtPort(own));
                group.trySend(member.region, 0, 8, -1);
                isRefused(() -> some.trySend(member.region, 0, 8, -1), refused);
                group.close();
                refuses(() -> group.trySend(member.region, 0, 8, -1), refused);
            }
        }

        private static boolean isRefused(Runnable call, AtomicInteger refused) {
            try {
                call.run();
                return false;
            } catch (IllegalStateException e) {
                refused.incrementAndGet();
                return true;
            }
        }

        private static void refuses(Runnable call, AtomicInteger refused) {
            if (!isRefused(call, refused)) { throw new AssertionError("it was not refused"); }
        }
    }
}
