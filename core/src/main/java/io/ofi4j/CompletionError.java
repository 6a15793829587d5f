package io.ofi4j;

import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FabricCalls;
import java.util.Optional;

/**
 * A failed operation; {@code struct fi_cq_err_entry}, fi_cq(3). A value of its own, which may be kept.
 *
 * @param token what was given when it was posted, or {@link CompletionHandler#NO_TOKEN}
 * @param flags what failed, as FI_* flags of fi_cq(3)
 * @param length how many bytes were transferred
 * @param buffer the address of the memory, where the provider tells it
 * @param data the peer's completion data, where the flags say that there is some
 * @param tag the message's tag
 * @param overflow how many bytes of a message found no room
 * @param errno the error number of fi_errno(3), positive; {@code ECANCELED} (125) where the endpoint was closed
 * @param providerErrno the provider's own number
 * @param providerText the provider's text for its number, perhaps empty
 * @param providerData what the provider adds, at most 255 bytes, perhaps none; see {@link #source}
 * @param provider who reports it
 */
public record CompletionError(long token, long flags, long length, long buffer, long data, long tag, long overflow,
        int errno, int providerErrno, String providerText, byte[] providerData, String provider) {

    /** {@return a copy of what the provider adds} */
    @Override
    public byte[] providerData() {
        return providerData.clone();
    }

    /**
     * {@return who sent what failed, where it is an endpoint that is not in the address vector: with
     * {@link Capability#SOURCE_ERR}, such a completion is an error {@code EADDRNOTAVAIL} (99) with the address as its data}
     */
    public Optional<EndpointAddress> source() {
        return errno == Errno.EADDRNOTAVAIL && providerData.length > 0
                ? Optional.of(EndpointAddress.of(providerData))
                : Optional.empty();
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
