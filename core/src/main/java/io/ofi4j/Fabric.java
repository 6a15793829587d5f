package io.ofi4j;

import io.ofi4j.internal.FabricOps;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.Out;

/**
 * A network, or what stands for one; fi_fabric(3). Opened by {@link Libfabric#openFabric}, opens domains. Any thread may
 * call anything here.
 */
public final class Fabric implements AutoCloseable {
    private final Handle handle;
    private final FabricInfo info;
    private final Children children = new Children();
    private boolean closed;

    Fabric(Handle handle, FabricInfo info) {
        this.handle = handle;
        this.info = info;
    }

    /** {@return what it was opened with} */
    public FabricInfo info() {
        return info;
    }

    /**
     * Opens a domain with the info that this fabric was opened with; see {@link #openDomain(FabricInfo)}.
     *
     * @return the domain, to be closed by the caller before this fabric
     */
    public Domain openDomain() {
        return openDomain(info);
    }

    /**
     * Opens a domain: the resources of one device; fi_domain(3). With the threading model {@link ThreadingModel#DOMAIN}, the
     * calling thread becomes its owner.
     *
     * @param domainInfo what to open, from the same fabric
     * @return the domain, to be closed by the caller before this fabric
     * @throws FabricException if the provider refuses
     * @throws IllegalStateException if this fabric is closed
     */
    public synchronized Domain openDomain(FabricInfo domainInfo) {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
        Out out = FabricOps.fi_domain(handle, domainInfo.handle());
        FabricException.check(out.status(), "fi_domain", domainInfo.provider());
        Domain domain = new Domain(this, out.handle(), domainInfo);
        children.add(domain);
        return domain;
    }

    /**
     * {@return whether a thread may block on the wait descriptors of all of these now; where not, something is there to be read
     * first} fi_trywait, fi_poll(3). To be asked each time before blocking.
     *
     * @param objects queues with wait descriptors
     * @throws IllegalStateException if one has no wait descriptor, or is closed
     */
    public boolean tryWait(Waitable... objects) {
        boolean all = true;
        for (Waitable object : objects) {
            all &= object.tryWait();
        }
        return all;
    }

    Handle handle() {
        return handle;
    }

    void forget(Domain domain) {
        children.remove(domain);
    }

    /**
     * Closes the fabric; fi_close.
     *
     * @throws IllegalStateException if domains are open; they are named
     * @throws FabricException if libfabric reports an error; the fabric counts as closed all the same
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        children.requireNone(this);
        closed = true;
        FabricException.check(FidOps.fi_close(handle), "fi_close(fabric)", info.provider());
    }

    @Override
    public String toString() {
        return "Fabric " + info.fabric().name() + " of " + info.provider();
    }
}
