package io.ofi4j.jmh;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.Peer;
import io.ofi4j.info.ThreadingModel;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Inserting an address and removing it again. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class AddressVectorBenchmark {
    /** The provider, as libfabric names it; one with internet addresses. */
    @Param("tcp;ofi_rxm")
    public String provider;

    private Fabric fabric;
    private Domain domain;
    private CompletionQueue queue;
    private AddressVector vector;
    private Endpoint endpoint;
    private EndpointAddress address;

    /** Opens an endpoint, whose address is then inserted. */
    @Setup(Level.Trial)
    public void setUp() {
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric
                .info(FabricHints.rma().provider(provider).threading(ThreadingModel.DOMAIN).source("127.0.0.1", null))
                .get(0);
        fabric = libfabric.openFabric(info);
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        address = endpoint.address();
    }

    /** Closes everything. */
    @TearDown(Level.Trial)
    public void tearDown() {
        endpoint.close();
        vector.close();
        queue.close();
        domain.close();
        fabric.close();
    }

    /** Inserts the address, and removes the peer. */
    @Benchmark
    public long insertAndRemove() {
        Peer peer = vector.insert(address);
        vector.remove(peer);
        return peer.fabricAddress();
    }
}
