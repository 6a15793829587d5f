package io.ofi4j.job;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A job whose ranks are threads of this process, each with a domain of its own. */
final class JobOfThreads {
    /** What a rank does. */
    interface Work {
        void run(Job job, Domain domain);
    }

    private JobOfThreads() {}

    /** Runs all ranks, and throws what the first of them to fail has thrown. */
    static void run(FabricHints hints, int size, Work work) {
        String secret = Rendezvous.newSecret();
        String at = "127.0.0.1:" + FreePort.find();
        List<CompletableFuture<Void>> ranks = new ArrayList<>();
        AtomicReference<Throwable> first = new AtomicReference<>();
        for (int rank = 0; rank < size; rank++) {
            Map<String, String> environment = Map.of("OFI4J_RANK", "" + rank, "OFI4J_SIZE", "" + size,
                    "OFI4J_RENDEZVOUS", at, "OFI4J_SECRET", secret);
            CompletableFuture<Void> result = new CompletableFuture<>();
            Thread.ofPlatform().daemon().name("rank " + rank).start(() -> {
                try {
                    rank(environment, hints, work);
                    result.complete(null);
                } catch (Throwable t) {
                    first.compareAndSet(null, t);
                    result.completeExceptionally(first.get());
                }
            });
            ranks.add(result);
        }
        ranks.forEach(rank -> rank.orTimeout(Patience.seconds(90).toSeconds(), TimeUnit.SECONDS).join());
    }

    private static void rank(Map<String, String> environment, FabricHints hints, Work work) {
        Libfabric libfabric = Libfabric.load();
        try (Job job = Job.join(environment, Patience.seconds(60));
                Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain()) {
            work.run(job, domain);
        }
    }
}
