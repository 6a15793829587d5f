package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;
import java.util.Set;

/** Bounds how many addresses an address vector takes. Used under the vector's monitor. */
public interface PeerPlaces {
    /** The first endpoint is about to be bound, while so many addresses are known. */
    void restart(int known);

    /** An address is about to be told to the provider. */
    void give();

    /** The provider has forgotten an address. */
    void free();

    /**
     * Refuses one more address where the provider would mistake it.
     *
     * @throws IllegalStateException if there is no place for it
     */
    void requireNext(Set<EndpointAddress> known, Object vector);
}
