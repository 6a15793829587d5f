package io.ofi4j;

import io.ofi4j.internal.CmOps;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The ports of this process' ofi_rxd endpoints that are closed. A peer of such a one goes on sending until it is closed, too, with
 * a number that the closed endpoint gave it; ofi_rxd looks that number up at whoever has the port now, does not find it, and ends
 * the process. So no later endpoint gets one of these ports; the system gives them out at random.
 */
final class RetiredPorts {
    static final RetiredPorts OF_THIS_PROCESS = new RetiredPorts();

    /** Of some 28,000 that the system gives out. */
    private static final int MOST = 4096;
    private static final int ATTEMPTS = 256;
    private static final int PORT_OFFSET = 2;

    private final Set<Short> ports = new LinkedHashSet<>();

    private RetiredPorts() {
    }

    static boolean concerns(FabricInfo info) {
        return info.provider().contains("ofi_rxd");
    }

    /** An endpoint is about to be closed. */
    synchronized void add(EndpointAddress address) {
        ports.add(port(address.toBytes()));
        if (ports.size() > MOST) {
            Iterator<Short> oldest = ports.iterator();
            oldest.next();
            oldest.remove();
        }
    }

    private synchronized boolean has(short port) {
        return ports.contains(port);
    }

    /** Both families of addresses have it at the same place. */
    private static short port(byte[] address) {
        return ByteBuffer.wrap(address).getShort(PORT_OFFSET);
    }

    /**
     * Opens endpoints until one has another port.
     *
     * @throws IllegalStateException if they do not get another: it was asked for, or there are few
     */
    Handle openElsewhere(FabricInfo info, Supplier<Handle> opening) {
        short last = 0;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Handle endpoint = opening.get();
            CmOps.Name name = CmOps.fi_getname(endpoint);
            short port = name.status() == 0 ? port(name.address()) : 0;
            if (!has(port)) {
                return endpoint;
            }
            FidOps.fi_close(endpoint);
            last = port;
        }
        throw new IllegalStateException("an endpoint of this process was at port " + Short.toUnsignedInt(last)
                + ", and its peers may still send to it, which would end the process with provider " + info.provider()
                + ": use another port, or let the system choose one");
    }
}
