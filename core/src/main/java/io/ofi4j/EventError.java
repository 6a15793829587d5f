package io.ofi4j;

import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.ffi.FabricCalls;
import java.util.Optional;

/**
 * Something that was begun has failed; {@code struct fi_eq_err_entry}, fi_eq(3). A value of its own, which may be kept.
 *
 * @param endpoint whose connection failed, if it is about one
 * @param context of the operation
 * @param data of the operation
 * @param errno the error number of fi_errno(3), positive
 * @param providerErrno the provider's own number
 * @param providerText the provider's text for its number, perhaps empty
 * @param errorData what came with it: the data of a peer that rejected a connection
 * @param provider who reports it
 */
public record EventError(Optional<Endpoint> endpoint, long context, long data, int errno, int providerErrno,
        String providerText, byte[] errorData, String provider) {
    /** Copies the error's data. */
    public EventError {
        errorData = errorData.clone();
    }

    /** {@return a copy of what came with the error} */
    @Override
    public byte[] errorData() {
        return errorData.clone();
    }

    /** {@return libfabric's text for the error number; fi_strerror, fi_errno(3)} */
    public String text() {
        return FabricCalls.fi_strerror(errno);
    }

    /** {@return the error as an exception; a {@link ConnectionException} where it is about a connection} */
    public FabricException toException() {
        return endpoint.isPresent()
                ? ConnectionException.of(errno, "connecting", provider, errorData)
                : Status.exception(-errno, "event", provider);
    }
}
