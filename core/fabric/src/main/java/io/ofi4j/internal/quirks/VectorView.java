package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;

/** What a quirk sees of an address vector. */
public interface VectorView {
    /** {@return whether an address was inserted and is still known to the provider} */
    boolean knows(EndpointAddress address);

    /** {@return whether the calling thread may use it} */
    boolean admitsCaller();

    /** Has the provider forget an address, which may be known to it though nobody has inserted it. */
    void forget(EndpointAddress address);

    /** {@return whether the application has closed it} */
    boolean isClosed();
}
