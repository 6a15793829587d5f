package io.ofi4j;

import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.MrOps;
import io.ofi4j.internal.quirks.Status;

/**
 * A raw key that the provider mapped to a key for operations; fi_mr_map_raw, fi_mr(3). Made by
 * {@link Domain#mapRawKey}.
 */
public final class MappedKey implements AutoCloseable {
    private final Domain domain;
    private final RemoteRegion remote;
    private boolean closed;

    private MappedKey(Domain domain, RemoteRegion remote) {
        this.domain = domain;
        this.remote = remote;
    }

    static MappedKey of(Domain domain, RawKey key) {
        MrOps.Mapped mapped = MrOps.fi_mr_map_raw(domain.handle(), key.base(), key.key());
        Status.checkOffered(mapped.status(), "fi_mr_map_raw", domain.info().provider());
        return new MappedKey(domain, key.withKey(mapped.key()));
    }

    /** {@return the target of reads and writes, until this is closed; valid in this domain only} */
    public RemoteRegion remote() {
        return remote;
    }

    /**
     * Unmaps the key; fi_mr_unmap_key, fi_mr(3). Operations that use it must have completed. It is closed even if
     * libfabric reports an error.
     *
     * @throws WrongThreadException if the domain's threading model is DOMAIN and this is not its thread
     */
    @Override
    public void close() {
        StackRoom.require();
        domain.checkThread();
        synchronized (domain) {
            if (closed) { return; }
            closed = true;
            domain.forget(this);
            Status.check(MrOps.fi_mr_unmap_key(domain.handle(), remote.key()), "fi_mr_unmap_key",
                    domain.info().provider());
        }
    }

    @Override
    public String toString() { return "MappedKey of " + remote.length() + " bytes"; }
}
