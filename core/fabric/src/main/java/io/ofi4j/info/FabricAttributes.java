package io.ofi4j.info;

/**
 * What a fabric is; {@code struct fi_fabric_attr}, fi_fabric(3).
 *
 * @param name the network
 * @param provider the name of its provider
 * @param providerVersion the provider's version
 * @param apiVersion the version of the interface that was requested
 */
public record FabricAttributes(String name, String provider, Version providerVersion, Version apiVersion) {}
