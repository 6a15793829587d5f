package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The network between two processes is cut and comes back, loses packets, and is starved. Needs root, {@code ip},
 * {@code nft} and {@code tc}, and is asked for with {@code -Dofi4j.test.network=true}. {@code -Dofi4j.test.faults=N}
 * injects N times as many faults.
 */
@Tag("long")
class NetworkFaultTest {
    private static final int TIMES = Integer.getInteger("ofi4j.test.faults", 1);

    static Stream<String> networked() { return TestProviders.transfers().filter(provider -> !provider.equals("shm")); }

    @ForEachProvider
    @MethodSource("networked")
    void aNetworkThatFails(String provider) {
        assumeTrue(Boolean.getBoolean("ofi4j.test.network"),
                "it takes minutes, root and nft: -Dofi4j.test.network=true asks for it");
        String obstacle = TwoNetworks.obstacle();
        assumeTrue(obstacle.isEmpty(), obstacle);
        try (TwoNetworks networks = new TwoNetworks()) {
            Forked.Result result = Forked.startBehind(networks.inNear(), Fails.class, "-Dofi4j.test.faults=" + TIMES,
                    provider, networks.far()).await(FaultWork.SECONDS * TIMES);

            assertThat(result.exit()).as(result.output()).isZero();
            System.out.print(result.output().lines().filter(line -> line.startsWith("faults ")).map(line -> line + "\n")
                    .reduce("", String::concat));
        }
    }

    /** What happens to packets that arrive at, or leave, the far end. */
    private enum Fault {
        CUT("ip link set cable down", "ip link set cable up"), //
        LOSES("nft add table inet f; nft add chain inet f c { type filter hook input priority 0; };"
                + " nft add rule inet f c meta iifname cable numgen random mod 100 < 5 drop",
                "nft delete table inet f"), //
        DROPS_ALL("nft add table inet f; nft add chain inet f c { type filter hook input priority 0; };"
                + " nft add rule inet f c meta iifname cable drop", "nft delete table inet f"), //
        STARVES("tc qdisc add dev cable root tbf rate 4mbit burst 16k latency 50ms", "tc qdisc del dev cable root");

        private final String begin;
        private final String end;

        Fault(String begin, String end) {
            this.begin = begin;
            this.end = end;
        }

        void begin(String namespace) { execute(namespace, begin); }

        void end(String namespace) { execute(namespace, end); }

        private static void execute(String namespace, String commands) {
            for (String command : commands.split("; (?=nft)|;$")) {
                List<String> words = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
                words.addAll(List.of(command.strip().split(" ")));
                FaultPeer.run(words);
            }
        }
    }

    /** In the near namespace. */
    static final class Fails {
        private static final Duration LENGTH = Duration.ofMillis(400);

        private final Random random = TestSeed.random("NetworkFaultTest");
        private final String provider;
        private final String farNetwork;
        private int faults;
        private int reconnections;
        private int stalls;
        private long longest;

        private Fails(String provider, String farNetwork) {
            this.provider = provider;
            this.farNetwork = farNetwork;
        }

        public static void main(String[] arguments) { new Fails(arguments[0], arguments[1]).run(); }

        private void run() {
            FabricInfo info = TestProviders.info(FaultTarget.hints(provider, TwoNetworks.NEAR, FaultTarget.ANY));
            try (Fabric fabric = Libfabric.load().openFabric(info);
                    Domain domain = fabric.openDomain();
                    FaultPeer target = new FaultPeer(List.of("ip", "netns", "exec", farNetwork), provider,
                            FaultTarget.ANY, TwoNetworks.FAR)) {
                for (int times = 0; times < TIMES; times++) {
                    for (Fault fault : Fault.values()) {
                        stalls += FaultWork.again(provider, () -> inject(fabric, domain, target, fault));
                    }
                }
                stalls += FaultWork.again(provider, () -> cutForGood(fabric, domain, target));
            }
            System.out.println("faults " + provider + ": " + faults + " of the network injected and survived, "
                    + reconnections + " by a new endpoint, " + stalls + " stalls, longest recovery "
                    + longest / 1_000_000 + " ms");
        }

        private void inject(Fabric fabric, Domain domain, FaultPeer target, Fault fault) {
            boolean recovered;
            int operations = 50 + random.nextInt(200);
            try (FaultWork work = new FaultWork(fabric, domain, target, random)) {
                work.connect();
                work.runUntil(() -> work.completed >= operations, FaultWork.DEADLINE);
                fault.begin(farNetwork);
                work.tryRunUntil(() -> false, LENGTH);
                fault.end(farNetwork);
                recovered = recovers(work, System.nanoTime());
            }
            faults++;
            if (!recovered) {
                reconnections++;
                try (FaultWork work = new FaultWork(fabric, domain, target, random)) {
                    work.connect();
                    work.runUntil(() -> work.completed >= 50, FaultWork.DEADLINE);
                    work.drainWithoutFailure();
                    work.verify();
                }
            }
        }

        /** Whatever is in flight comes back when the endpoint is closed; {@link FaultWork#close} looks. */
        private void cutForGood(Fabric fabric, Domain domain, FaultPeer target) {
            long since;
            try (FaultWork work = new FaultWork(fabric, domain, target, random).connect()) {
                work.runUntil(() -> work.completed >= 50, FaultWork.DEADLINE);
                Fault.CUT.begin(farNetwork);
                work.tryRunUntil(() -> work.failed > 0, LENGTH);
                since = System.nanoTime();
            }
            faults++;
            longest = Math.max(longest, System.nanoTime() - since);
        }

        /** Operations go on, or one fails: then the connection has ended. */
        private boolean recovers(FaultWork work, long since) {
            int before = work.completed + 200;
            try {
                work.runUntil(() -> work.completed >= before || work.failed > 0, FaultWork.DEADLINE);
            } catch (FabricException e) {
                return false;
            }
            longest = Math.max(longest, System.nanoTime() - since);
            return work.failed == 0;
        }
    }
}
