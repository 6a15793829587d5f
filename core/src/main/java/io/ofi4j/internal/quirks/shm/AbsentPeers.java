package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.FabricException;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.Tested;
import io.ofi4j.internal.quirks.VectorView;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Refuses to insert an address that no endpoint has yet. */
final class AbsentPeers extends Quirk {
    AbsentPeers() {
        super("shm-absent-peers", provider -> provider.is("shm"), Tested.ONE,
                "An absent peer's place in a vector is given to the next peer too.", "AddressVectorTest");
    }

    @Override
    protected <P> P insert(EndpointAddress address, VectorView vector, Supplier<P> insertion, Consumer<P> refusal) {
        if (ShmFiles.find(address).isEmpty()) { throw Status.exception(-Errno.ENOENT, "fi_av_insert", "shm"); }
        return insertion.get();
    }
}
