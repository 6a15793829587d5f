package io.ofi4j.support;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * A process whose memory others write and read, until it is killed or its standard input ends. Its memory is a file, so
 * that what had arrived is known after a kill.
 */
public final class FaultTarget {
    /** How many bytes others may write and read. */
    public static final int LENGTH = 1 << 20;

    /** In the place of a port or an address. */
    public static final String ANY = "any";

    private static final CompletionHandler NOTHING = new CompletionHandler() {
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            // Others' operations.
        }

        @Override
        public void onError(CompletionError error) {
            // Others' operations.
        }
    };

    private FaultTarget() {}

    /**
     * Arguments: the provider, the file, and the port or name to be found at, and the address, or {@link #ANY} for
     * each.
     */
    public static void main(String[] arguments) throws IOException {
        FabricHints hints = hints(arguments[0], arguments[3], arguments[2]);
        FabricInfo info = TestProviders.info(hints);
        Fabric fabric = Libfabric.load().openFabric(info);
        Domain domain = fabric.openDomain();
        MemoryRegion region = domain.map(Path.of(arguments[1]), MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE,
                Access.REMOTE_READ);
        serve(fabric, domain, HexFormat.of().formatHex(region.remote().encode()));
    }

    /** Says where it is, with what to say of its regions, and lets others work for ever. */
    public static void serve(Fabric fabric, Domain domain, String regions) {
        Thread.ofPlatform().daemon().start(FaultTarget::endWithInput);
        CompletionQueue queue = domain.openCompletionQueue();
        FabricInfo info = domain.info();
        if (info.endpoint().type() == EndpointType.MSG) {
            EventQueue events = fabric.openEventQueue();
            PassiveEndpoint passive = fabric.openPassiveEndpoint(info).bind(events).listen();
            say(passive.address(), regions);
            accept(domain, events, queue);
        }
        AddressVector vector = domain.openAddressVector();
        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        say(endpoint.address(), regions);
        while (true) {
            queue.poll(NOTHING, 64);
        }
    }

    public static FabricHints hints(String provider, String node, String service) {
        FabricHints hints = TestProviders.hints(provider);
        if (provider.equals("shm")) { return service.equals(ANY) ? hints : hints.source(service, null); }
        return hints.source(node.equals(ANY) ? "127.0.0.1" : node, service.equals(ANY) ? null : service);
    }

    private static void accept(Domain domain, EventQueue events, CompletionQueue queue) {
        while (true) {
            queue.poll(NOTHING, 64);
            switch (events.read().orElse(null)) {
                case Event.ConnectionRequested(ConnectionRequest request) ->
                    domain.openEndpoint(request).bind(events).bind(queue).enable().connection().accept();
                case Event.ShutDown(Endpoint endpoint) -> endpoint.close(); // its receives have taken room in the queue
                case null, default -> {
                    // Nothing, or what needs no answer.
                }
            }
        }
    }

    private static void say(EndpointAddress address, String regions) {
        System.out.println("ready " + HexFormat.of().formatHex(address.toBytes()) + " " + regions);
    }

    /** When whoever started this is gone, too. */
    private static void endWithInput() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            // as good as its end
        }
        Runtime.getRuntime().halt(0);
    }
}
