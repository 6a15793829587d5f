package io.ofi4j.faults;

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
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Scanner;

/** Over shm, in a process of its own each: one sends a tagged message, the other receives it from that peer only. */
public final class DirectedPeer {
    private static final long TAG = 5;

    private DirectedPeer() {}

    /** The arguments are "send" or "receive", and a name, or "none"; the peer's address comes in. */
    public static void main(String[] arguments) {
        FabricHints hints = FabricHints.messages().provider("shm").capabilities(Capability.MSG, Capability.TAGGED,
                Capability.DIRECTED_RECV, Capability.SOURCE);
        try (Fabric fabric = Libfabric.load().openFabric(Libfabric.load().info(hints).getFirst());
                Domain domain = fabric.openDomain();
                MemoryRegion region = domain.allocate(64, Access.SEND, Access.RECEIVE);
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(queue).bind(vector)) {
            if (!arguments[1].equals("none")) { endpoint.address(domain.info().addressNamed(arguments[1])); }
            endpoint.enable();
            System.out.println("address " + HexFormat.of().formatHex(endpoint.address().toBytes()));
            Scanner in = new Scanner(System.in);
            Peer peer = vector.insert(EndpointAddress.of(HexFormat.of().parseHex(in.nextLine())));
            List<Long> done = new ArrayList<>();
            if (arguments[0].equals("send")) {
                endpoint.tagged().send(region.slice(0, 8), peer, TAG, 1);
            } else {
                endpoint.tagged().receive(region.slice(0, 8), peer, TAG, 0, 1);
                System.out.println("posted");
            }
            Waiting.YIELD.until(() -> queue.poll((token, flags, length, data) -> done.add(token), 8) > 0,
                    Pair.DEADLINE);
            System.out.println("done " + done);
            in.nextLine(); // the other has finished, too
        } catch (UnsupportedOperationException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }
}
