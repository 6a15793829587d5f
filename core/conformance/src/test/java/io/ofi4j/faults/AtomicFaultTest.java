package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer is killed with atomic operations in flight. Kills of shm peers are left to the test of their remedy. */
@Tag("gate")
@Timeout(600)
class AtomicFaultTest {
    private static final int OPERATIONS = 400;
    private static final int IN_FLIGHT = 16;
    private static final int CELL = 64;
    /** For how long it is posted to a peer that is gone, if the provider does not refuse it. */
    private static final Duration AFTER_THE_KILL = Duration.ofSeconds(1);

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets"})
    void everyTokenComesBackOnce(String provider) {
        List<Long> completed = new ArrayList<>();
        List<Long> failed = new ArrayList<>();
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { completed.add(token); }

            @Override
            public void onError(CompletionError error) { if (error.token() != NO_TOKEN) { failed.add(error.token()); } }
        };
        int[] posted = new int[1];
        try (FaultPeer target = new FaultPeer(FaultPeer.ELSEWHERE, Target.class, provider);
                Fabric fabric = Libfabric.load().openFabric(TestProviders.info(TestProviders.atomicHints(provider)));
                Domain domain = fabric.openDomain();
                AddressVector vector = domain.openAddressVector();
                CompletionQueue queue = domain.openCompletionQueue();
                MemoryRegion cells = domain.allocate(IN_FLIGHT * CELL, Access.READ, Access.WRITE)) {
            Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            Peer peer = vector.insert(target.address);
            Runnable postAndPoll = () -> {
                boolean isFree = posted[0] - completed.size() - failed.size() < IN_FLIGHT;
                if (isFree && endpoint.atomics().tryFetch(AtomicOperation.SUM, Datatype.INT64, 1, cells,
                        posted[0] % IN_FLIGHT * (long) CELL, peer, target.region, 0, posted[0])) {
                    posted[0]++;
                }
                queue.poll(handler, IN_FLIGHT);
            };
            Waiting.YIELD.until(() -> {
                postAndPoll.run();
                return posted[0] == OPERATIONS / 2;
            }, Pair.DEADLINE);
            target.kill();
            try {
                Waiting.YIELD.tryUntil(() -> {
                    postAndPoll.run();
                    return posted[0] == OPERATIONS;
                }, AFTER_THE_KILL);
            } catch (FabricException e) {
                assertThat(e).hasMessageContaining("fi_fetch_atomic"); // what the provider says of a peer that is gone
            }
            endpoint.close();
            Waiting.YIELD.until(() -> {
                queue.poll(handler, IN_FLIGHT);
                return completed.size() + failed.size() >= posted[0];
            }, Pair.DEADLINE);
            assertThat(target.value(0)).as("what had arrived").isGreaterThanOrEqualTo(completed.size());
            assertThat(cells.operationsInFlight()).isZero();
        }
        assertThat(completed).hasSizeGreaterThan(OPERATIONS / 4);
        completed.addAll(failed);
        assertThat(completed).hasSize(posted[0]).doesNotHaveDuplicates();
    }

    /** Arguments: the provider and the file. */
    static final class Target {
        private Target() {}

        public static void main(String[] arguments) throws IOException {
            Fabric fabric = Libfabric.load().openFabric(TestProviders.info(TestProviders.atomicHints(arguments[0])));
            Domain domain = fabric.openDomain();
            MemoryRegion region = domain.map(Path.of(arguments[1]), MapMode.READ_WRITE, 0, FaultTarget.LENGTH,
                    Access.REMOTE_WRITE, Access.REMOTE_READ);
            FaultTarget.serve(fabric, domain, HexFormat.of().formatHex(region.remote().encode()));
        }
    }
}
