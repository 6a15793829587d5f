package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Status;
import java.util.Objects;

/**
 * The options of an endpoint; fi_getopt and fi_setopt, fi_endpoint(3). Returned by {@link Endpoint#options}. Providers
 * want most options to be set before the endpoint is enabled; some let an option be read or set only after that.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. Both methods throw {@link IllegalStateException} if the endpoint is closed, or if it is
 * not enabled and the provider needs that, {@link UnsupportedOperationException} if the provider does not offer the
 * option or the endpoint is a transmit context, and {@link FabricException} if libfabric reports an error.
 */
public final class EndpointOptions {
    private final Endpoint endpoint;

    EndpointOptions(Endpoint endpoint) { this.endpoint = endpoint; }

    /**
     * {@return the value of an option; fi_getopt}
     *
     * @param <T> the type of its value
     * @param option the option
     */
    public <T> T get(EndpointOption<T> option) {
        requireOptions(Fact.OPTIONS_NEED_ENABLE);
        EndpointOps.Number found = endpoint.whileOpen(false,
                handle -> EndpointOps.fi_getopt(handle, option.number(), option.size()));
        check(found.status(), "fi_getopt", option);
        return option.ofNumber(found.value());
    }

    /**
     * Sets an option; fi_setopt.
     *
     * @param <T> the type of its value
     * @param option the option
     * @param value its value; a size of 0 or more
     * @throws IllegalArgumentException if a size is negative, or that of {@link EndpointOption#MINIMUM_MULTI_RECEIVE}
     *         is 0 or less than {@link Endpoint#longestMessage}
     */
    public <T> void set(EndpointOption<T> option, T value) {
        boolean isOfReceives = option == EndpointOption.MINIMUM_MULTI_RECEIVE;
        requireOptions(isOfReceives ? Fact.RECEIVE_OPTIONS_NEED_ENABLE : null);
        long number = option.toNumber(Objects.requireNonNull(value));
        if (isOfReceives && number == 0) {
            throw new IllegalArgumentException(option + " is 1 or more, not 0: a receive of many messages that is full"
                    + " would not end, and the next message would be lost");
        }
        if (isOfReceives && number < endpoint.lifeCycle.longestMessage()) {
            throw new IllegalArgumentException(option + " must not be less than the longest message, "
                    + endpoint.lifeCycle.longestMessage() + " bytes: see Endpoint.longestMessage");
        }
        check(endpoint.whileOpen(false,
                handle -> EndpointOps.fi_setopt(handle, option.number(), option.size(), number)), "fi_setopt", option);
    }

    /** Refuses options of transmit contexts: a provider may treat one as a receive context, and write into it. */
    private void requireOptions(Fact needsEnable) {
        if (!endpoint.bindings.role.canReceive()) {
            throw new UnsupportedOperationException(endpoint + " has no options: use those of its receive contexts");
        }
        endpoint.requireOpen();
        String refusal = needsEnable == null ? null : endpoint.quirks.refusal(needsEnable);
        if (refusal != null && endpoint.lifeCycle.isOpen()) { throw new IllegalStateException(refusal); }
    }

    private void check(int status, String call, EndpointOption<?> option) {
        String provider = endpoint.info().provider();
        if (status == -Errno.ENOPROTOOPT || status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP) {
            throw new UnsupportedOperationException(
                    call + " of the option " + option + " is not offered by the provider " + provider);
        }
        Status.check(status, call + "(" + option + ")", provider);
    }
}
