package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.MulticastGroup;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Member;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A multicast group with members in two network namespaces, as on two hosts. Needs root and {@code ip}. {@code
 * scripts/test} asks for it where the machine can, with {@code -Dofi4j.test.network=true}.
 */
@Tag("gate")
class MulticastNetworkTest {
    private static final InetSocketAddress GROUP = new InetSocketAddress("239.255.7.7", 21_007);
    private static final int NUMBERS = 20;

    @Test
    void aMessageReachesTheMembersOfBothHosts() {
        assumeTrue(Boolean.getBoolean("ofi4j.test.network"),
                "it takes root and iproute2: -Dofi4j.test.network=true asks for it");
        String obstacle = TwoNetworks.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle);
        try (TwoNetworks networks = new TwoNetworks()) {
            addRoute(networks.inNear());
            addRoute(networks.inFar());
            Forked.Running far = Forked.startBehind(networks.inFar(), Receives.class);
            far.awaitLine("joined");
            Forked.Result near = Forked.startBehind(networks.inNear(), Sends.class, TwoNetworks.NEAR).await();
            Forked.Result received = far.await();

            assertThat(near.exit()).as(near.output()).isZero();
            assertThat(received.exit()).as(received.output()).isZero();
        }
    }

    private static void addRoute(List<String> network) {
        FaultPeer.run(Stream.concat(network.stream(), Stream.of("ip", "route", "add", "239.255.0.0/16", "dev", "cable"))
                .toList());
    }

    private static void requireAll(Member member) {
        List<Long> all = new ArrayList<>();
        for (long number = 0; number < NUMBERS; number++) {
            all.add(number);
        }
        if (!member.received.equals(all)) { throw new AssertionError("received " + member.received); }
    }

    /** A member of the far network. */
    static final class Receives {
        public static void main(String[] arguments) {
            try (Member member = new Member(GROUP); MulticastGroup group = member.join(EndpointAddress.of(GROUP))) {
                System.out.println("joined " + group);
                member.await(NUMBERS, 0);
                requireAll(member);
            }
        }
    }

    /** A member of the near network, and another endpoint that sends to the group from the address there. */
    static final class Sends {
        public static void main(String[] arguments) {
            try (Member member = new Member(GROUP);
                    Member sender = new Member(new InetSocketAddress(arguments[0], 0));
                    MulticastGroup joined = member.join(EndpointAddress.of(GROUP));
                    MulticastGroup group = sender.join(joined.address())) {
                for (long number = 0; number < NUMBERS; number++) {
                    sender.send(group, number);
                    sender.await(0, (int) number + 1); // its bytes are used again
                }
                member.await(NUMBERS, 0);
                requireAll(member);
            }
        }
    }
}
