package io.ofi4j;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.quirks.Status;
import java.util.Optional;

/**
 * A failed asynchronous operation; {@code struct fi_eq_err_entry}, fi_eq(3). It holds copies and may be kept.
 *
 * @param endpoint the endpoint whose connection failed, if any
 * @param context the operation's context
 * @param data the operation's data
 * @param errno the error number of fi_errno(3), positive
 * @param providerErrno the provider's own error number
 * @param providerText the provider's text for its number, possibly empty
 * @param errorData the error's data: for a rejected connection, the peer's reason
 * @param provider the name of the provider
 */
public record EventError(Optional<Endpoint> endpoint, long context, long data, int errno, int providerErrno,
        String providerText, byte[] errorData, String provider) {
    /** Copies the error's data. */
    public EventError {
        errorData = errorData.clone();
    }

    /** {@return a copy of the error's data} */
    @Override
    public byte[] errorData() { return errorData.clone(); }

    /** {@return libfabric's text for the error number; fi_strerror, fi_errno(3)} */
    public String text() {
        return FabricCalls.fi_strerror(errno);
    }

    @Override
    public String toString() {
        return "EventError" + endpoint.map(of -> " of " + of).orElse("") + " on provider " + provider + ": " + text()
                + " (errno " + errno + ")" + (providerText.isEmpty() ? "" : " (" + providerText + ")") + ", "
                + errorData.length + " bytes of data";
    }

    /** {@return this error as an exception; a {@link ConnectionException} for a connection} */
    public FabricException toException() {
        return endpoint.isPresent()
                ? Connection.failure(errno, "connecting", provider, errorData)
                : Status.exception(-errno, "event", provider);
    }
}
