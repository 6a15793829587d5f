package io.ofi4j.info;

import java.util.Optional;

/**
 * A variable of the environment that libfabric or a provider reads; fi_getparams, fi_provider(7).
 *
 * @param name its name, such as {@code FI_SHM_TX_SIZE}
 * @param help what it does
 * @param value what it is set to, or empty
 */
public record Parameter(String name, String help, Optional<String> value) {
}
