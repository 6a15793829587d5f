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
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.OperationFlag;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Writes from memory of the program into a mapped file of a peer, and reads the file's bytes back. */
public final class RegisteredMemory {
    private static final Duration SOON = Duration.ofSeconds(10);

    private RegisteredMemory() {}

    public static void main(String[] arguments) throws IOException {
        Path file = Files.write(Files.createTempFile("ofi4j", ".data"), new byte[4096]);
        MemorySegment memory = Arena.ofAuto().allocate(64); // yours, off-heap; keep it until the region is closed
        memory.setString(0, "Hello, file");

        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().provider("shm").operationFlags(OperationFlag.DELIVERY_COMPLETE);
        try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector peers = domain.openAddressVector();
                MemoryRegion source = domain.register(memory, Access.WRITE);
                MemoryRegion copy = domain.allocate(64, Access.READ);
                MemoryRegion log = domain.map(file, MapMode.READ_WRITE, 0, 4096, Access.REMOTE_WRITE,
                        Access.REMOTE_READ);
                Endpoint here = domain.openEndpoint().bind(queue).bind(peers).enable();
                Endpoint there = domain.openEndpoint().bind(queue).bind(peers).enable()) {
            Peer peer = peers.insert(there.address());
            RemoteRegion remote = RemoteRegion.decode(log.remote().encode()); // the bytes that a peer is sent

            here.rma().write(source.slice(0, 64), peer, remote.slice(128, 64), 1);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            here.rma().read(copy.slice(0, 64), peer, remote.slice(128, 64), 2);
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> {}, 1) > 0, SOON);
            System.out.println("read from the peer: " + copy.segment().getString(0));
        }
        System.out.println("the file at 128: " + new String(Files.readAllBytes(file), 128, 11));
        Files.delete(file);
    }
}
