package io.ofi4j.command.powerfail;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.durable.SaveService;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HexFormat;
import jdk.nio.mapmode.ExtendedMapMode;

/** Owns the files, and makes durable what a peer writes into them. Runs until it is killed. */
final class Owner {
    private static final Duration POLL = Duration.ofMillis(100);

    private Owner() {}

    /**
     * Arguments: the provider, and the files, each with {@code mapped:} or {@code sync:} before it. Prints a line
     * {@code region KIND REGION} for each, and {@code ready ADDRESS TICKET}.
     */
    static void run(String[] arguments) throws IOException {
        Domain domain = PowerFail.openDomain(arguments[0]);
        CompletionQueue queue = domain.openCompletionQueue();
        AddressVector vector = domain.openAddressVector();
        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        SaveService service = new SaveService(domain);
        HexFormat hex = HexFormat.of();
        for (int file = 1; file < arguments.length; file++) {
            MemoryRegion region = map(domain, arguments[file]);
            System.out.println("region " + region.kind() + " " + hex.formatHex(region.remote().encode()));
        }
        System.out.println(
                "ready " + hex.formatHex(endpoint.address().encode()) + " " + hex.formatHex(service.ticket().encode()));
        service.start();
        while (service.failure().isEmpty()) {
            queue.await((token, flags, length, data) -> {}, 64, POLL);
        }
        throw new IllegalStateException("the service has ended", service.failure().get());
    }

    /** Makes a file of zeros and maps it; nothing but saves makes even its name durable. */
    private static MemoryRegion map(Domain domain, String named) throws IOException {
        int colon = named.indexOf(':');
        MapMode mode = named.startsWith("sync:") ? ExtendedMapMode.READ_WRITE_SYNC : MapMode.READ_WRITE;
        try (FileChannel channel = FileChannel.open(Path.of(named.substring(colon + 1)), StandardOpenOption.READ,
                StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
            channel.write(ByteBuffer.allocate(SlotFile.LENGTH));
            return domain.map(channel, mode, 0, SlotFile.LENGTH, Access.REMOTE_WRITE);
        }
    }
}
