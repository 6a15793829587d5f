package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.durable.SaveService;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/** The owner of a file that peers write and save. */
final class HostileOwner implements AutoCloseable {
    final Domain domain;
    final SaveService service;
    final Path file;
    private final Fabric fabric;
    private final MemoryRegion region;
    private final CompletionQueue queue;
    private final AddressVector vector;
    private final Endpoint endpoint;

    /** What a writer needs of it. */
    record Name(EndpointAddress address, RemoteRegion region, SaveService.Ticket ticket) {
        /** Three words, for another process. */
        String encode() {
            HexFormat hex = HexFormat.of();
            return String.join(" ", hex.formatHex(address.encode()), hex.formatHex(region.encode()),
                    hex.formatHex(ticket.encode()));
        }

        static Name decode(String encoded) {
            HexFormat hex = HexFormat.of();
            String[] words = encoded.split(" ");
            return new Name(EndpointAddress.decode(hex.parseHex(words[0])), RemoteRegion.decode(hex.parseHex(words[1])),
                    SaveService.Ticket.decode(hex.parseHex(words[2])));
        }
    }

    HostileOwner(String provider, Path file) throws IOException {
        this.file = file;
        fabric = openFabric(provider);
        domain = fabric.openDomain();
        region = domain.map(file, MapMode.READ_WRITE, 0, Files.size(file), Access.REMOTE_WRITE);
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        service = new SaveService(domain);
    }

    /** A fabric of the provider whose endpoints write and save. */
    static Fabric openFabric(String provider) {
        FabricInfo info = TestProviders
                .info(TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG));
        return Libfabric.load().openFabric(info);
    }

    Name name() { return new Name(endpoint.address(), region.remote(), service.ticket()); }

    void progress() {
        service.progress();
        queue.poll(HostileTraffic.IGNORE, 64);
    }

    @Override
    public void close() {
        service.close();
        endpoint.close();
        vector.close();
        queue.close();
        region.close();
        domain.close();
        fabric.close();
    }
}
