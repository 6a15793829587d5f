package io.ofi4j;

import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricCalls;

/**
 * A failed operation; {@code struct fi_cq_err_entry}, fi_cq(3). A value of its own, which may be kept.
 *
 * @param token what was given when it was posted, or {@link CompletionHandler#NO_TOKEN}
 * @param flags what failed, as FI_* flags of fi_cq(3)
 * @param length how many bytes were transferred
 * @param errno the error number of fi_errno(3), positive; {@code ECANCELED} (125) where the endpoint was closed
 * @param providerErrno the provider's own number
 * @param providerText the provider's text for its number, perhaps empty
 * @param provider who reports it
 */
public record CompletionError(long token, long flags, long length, int errno, int providerErrno, String providerText,
        String provider) {

    static CompletionError canceled(long token, String provider) {
        return new CompletionError(token, 0, 0, Errno.ECANCELED, 0, "the endpoint was closed", provider);
    }

    /** {@return libfabric's text for the error number; fi_strerror, fi_errno(3)} */
    public String text() {
        return FabricCalls.fi_strerror(errno);
    }

    /** {@return the error as an exception} */
    public FabricException toException() {
        String detail = providerText.isEmpty() || providerText.equals(text()) ? "" : " (" + providerText + ")";
        return new FabricException("operation with token " + token + " failed on provider " + provider + ": " + text()
                + " (errno " + errno + ")" + detail + ".", "completion", errno);
    }
}
