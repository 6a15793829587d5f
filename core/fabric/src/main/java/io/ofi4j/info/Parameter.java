package io.ofi4j.info;

import java.util.Optional;

/**
 * An environment variable that libfabric or a provider reads; fi_getparams, fi_provider(7).
 *
 * @param name its name, such as {@code FI_SHM_TX_SIZE}
 * @param help its description
 * @param value its value, empty if it is not set
 */
public record Parameter(String name, String help, Optional<String> value) {}
