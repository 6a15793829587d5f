package io.ofi4j;

import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;

/** Opens address vectors, and rejects attributes that a provider would misinterpret. */
final class AddressVectors {
    private AddressVectors() {}

    static AddressVector open(Domain domain, AddressVectorAttributes attributes) {
        FabricInfo info = domain.info();
        AddressVectorType type = type(info, attributes.type());
        requireShareable(info, attributes);
        DomainOps.OpenedVector opened = DomainOps.fi_av_open(domain.handle(),
                new DomainOps.VectorAttributes(type.value(), domain.quirks.vectorCount(attributes.count()),
                        attributes.endpointsPerNode(), attributes.receiveContextBits(), attributes.name().orElse(null),
                        attributes.isReadOnly(), attributes.isSymmetric()));
        OpenResult out = opened.result();
        if (out.status() == -Errno.ENOSYS) {
            throw new UnsupportedOperationException("fi_av_open is not offered by the provider " + info.provider()
                    + ": bind an event queue to its endpoints and connect them");
        }
        Status.check(out.status(), "fi_av_open", info.provider());
        AddressVectorType known = type == AddressVectorType.UNSPECIFIED ? known(opened.type()) : type;
        return out.adopt(handle -> new AddressVector(domain, handle, attributes.type(known)), FidOps::fi_close);
    }

    private static AddressVectorType known(int type) {
        AddressVectorType known = AddressVectorType.of(type);
        return known == AddressVectorType.OTHER ? AddressVectorType.UNSPECIFIED : known;
    }

    private static AddressVectorType type(FabricInfo info, AddressVectorType wanted) {
        AddressVectorType theirs = known(info.domain().addressVectorType().value());
        if (wanted == AddressVectorType.UNSPECIFIED) { return theirs; }
        if (theirs != AddressVectorType.UNSPECIFIED && wanted != theirs) {
            throw new UnsupportedOperationException(
                    "this domain of provider " + info.provider() + " has address vectors of type " + theirs + ", not "
                            + wanted + ": request the type with FabricHints.attributes");
        }
        return wanted;
    }

    private static void requireShareable(FabricInfo info, AddressVectorAttributes attributes) {
        if (attributes.name().isEmpty()) {
            if (attributes.isReadOnly()) {
                throw new IllegalArgumentException("a read-only address vector needs the name of a shared one");
            }
            return;
        }
        if (!info.capabilities().contains(Capability.SHARED_AV)
                && !info.domain().capabilities().contains(Capability.SHARED_AV)) {
            throw new UnsupportedOperationException(
                    "address vectors shared between processes are not offered by the provider " + info.provider());
        }
        if (attributes.count() == 0) {
            throw new IllegalArgumentException("a shared address vector needs a count of addresses");
        }
    }
}
