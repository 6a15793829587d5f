package io.ofi4j;

import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.os.Errno;
import java.util.Objects;

/**
 * The options of an endpoint; fi_getopt and fi_setopt, fi_endpoint(3). Handed out by {@link Endpoint#options}. Threads: as the
 * domain's {@link ThreadingModel} says.
 *
 * <p>Most are to be set before the endpoint is enabled, which providers check. Those of {@code shm} live in what it makes when it
 * is enabled, and are refused before.
 */
public final class EndpointOptions {
    private final Endpoint endpoint;
    private final boolean needsEnabled;

    EndpointOptions(Endpoint endpoint) {
        this.endpoint = endpoint;
        this.needsEnabled = endpoint.quirks.has(Fact.OPTIONS_NEED_ENABLE);
    }

    /**
     * {@return the value of an option; fi_getopt}
     *
     * @param <T> what its value is
     * @param option which
     * @throws UnsupportedOperationException if the provider has no such option, or it cannot be read
     * @throws IllegalStateException if the endpoint is closed, or of {@code shm} and not enabled
     */
    public <T> T get(EndpointOption<T> option) {
        EndpointOps.Number found = endpoint.whileOpen(needsEnabled,
                handle -> EndpointOps.fi_getopt(handle, option.number(), option.size()));
        check(found.status(), "fi_getopt", option);
        return option.ofNumber(found.value());
    }

    /**
     * Sets an option; fi_setopt.
     *
     * @param <T> what its value is
     * @param option which
     * @param value its value
     * @throws IllegalArgumentException if the value is a size below 0
     * @throws UnsupportedOperationException if the provider has no such option, or it cannot be set
     * @throws FabricException if the provider refuses the value, or refuses it now
     * @throws IllegalStateException if the endpoint is closed, or of {@code shm} and not enabled
     */
    public <T> void set(EndpointOption<T> option, T value) {
        long number = option.toNumber(Objects.requireNonNull(value));
        check(endpoint.whileOpen(needsEnabled,
                handle -> EndpointOps.fi_setopt(handle, option.number(), option.size(), number)), "fi_setopt", option);
    }

    private void check(int status, String call, EndpointOption<?> option) {
        if (status == -Errno.ENOPROTOOPT || status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
            throw new UnsupportedOperationException(
                    call + " of the option " + option + " is not offered by the provider " + provider());
        }
        Status.check(status, call + "(" + option + ")", provider());
    }

    private String provider() {
        return endpoint.info().provider();
    }
}
