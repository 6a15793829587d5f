package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import java.util.List;

/**
 * What quirks and facts are chosen by.
 *
 * @param name the provider, with what is layered on it, such as {@code tcp;ofi_rxm}
 * @param libfabric the version that is loaded
 * @param type the kind of endpoint
 * @param threading the threading model
 * @param dataProgress the progress model of data
 * @param device the name of the domain
 * @param vendor who has made the device, as the provider writes it; empty where it does not say
 */
public record Provider(String name, Version libfabric, EndpointType type, ThreadingModel threading,
        ProgressModel dataProgress, String device, String vendor) {

    /** {@return the provider at the bottom, such as {@code tcp}} */
    public String core() {
        return name.split(";", 2)[0];
    }

    /** Whether it is one of these providers, with nothing layered on it. */
    public boolean is(String... names) {
        return List.of(names).contains(name);
    }

    /** Whether one of these providers is at the bottom. */
    public boolean hasCore(String... cores) {
        return List.of(cores).contains(core());
    }

    /** Whether this utility provider is layered on it. */
    public boolean hasLayer(String layer) {
        return name.endsWith(";" + layer);
    }

    /** Whether its endpoints have connections. */
    public boolean isConnected() { return type == EndpointType.MSG; }
}
