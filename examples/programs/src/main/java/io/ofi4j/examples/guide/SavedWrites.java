package io.ofi4j.examples.guide;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Writes two records into a file of a peer, and waits until both are on the peer's disk. */
public final class SavedWrites {
    private static final Duration SOON = Duration.ofSeconds(10);

    private SavedWrites() {}

    public static void main(String[] arguments) throws IOException {
        Path file = Files.write(Files.createTempFile("ofi4j", ".log"), new byte[4096]);
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().capabilities(Capability.RMA, Capability.MSG).provider("shm");
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                SaveService service = new SaveService(domain); // at the owner of the file
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion source = domain.allocate(128, Access.WRITE);
                MemoryRegion log = domain.map(file, MapMode.READ_WRITE, 0, 4096, Access.REMOTE_WRITE);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable();
                Saver saver = new Saver(domain, here, queue)) { // at the writer
            service.start(); // a thread, which writes the file when it is asked to
            Peer peer = peers.insert(there.address());
            saver.saveThrough(peer, SaveService.Ticket.decode(service.ticket().encode())); // once for each peer
            source.segment().setString(0, "first record");
            source.segment().setString(64, "second record");
            here.rma().write(source.slice(0, 64), peer, log.remote(), 1);
            here.rma().write(source.slice(64, 64), peer, log.remote().slice(64, 64), 2);
            saver.save(peer, log.remote(), Durability.POWER_SAFE, 3);
            boolean[] saved = new boolean[1];
            Waiting.YIELD.until(() -> {
                saver.poll((token, flags, length, data) -> saved[0] |= token == 3, 16);
                return saved[0];
            }, SOON);
            System.out.println("both records are on the disk");
        }
        Files.delete(file);
    }
}
