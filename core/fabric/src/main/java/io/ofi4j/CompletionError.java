package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Remedies;
import java.util.Optional;

/**
 * A failed operation; {@code struct fi_cq_err_entry}, fi_cq(3). It holds copies and may be kept.
 *
 * @param token the token given when the operation was posted, or {@link CompletionHandler#NO_TOKEN}
 * @param posted whether this process posted the operation and has it in flight; false for an error of no operation of
 *         its own, such as that of a peer's write, of a connection to a peer that has left,
 *         or of an inject, which has no token
 * @param flags the kind of operation, as FI_* flags of fi_cq(3)
 * @param length the number of bytes transferred
 * @param buffer the address of the memory, if the provider reports it
 * @param data the peer's completion data, if the flags have FI_REMOTE_CQ_DATA
 * @param tag the message's tag
 * @param overflow the number of bytes of a message that did not fit
 * @param errno the error number of fi_errno(3), positive; {@code ECANCELED} (125) if the endpoint was closed
 * @param providerErrno the provider's own error number
 * @param providerText the provider's text for its number, possibly empty
 * @param providerData the provider's error data, 0 to 255 bytes; see {@link #source}
 * @param provider the name of the provider
 */
public record CompletionError(long token, boolean posted, long flags, long length, long buffer, long data, long tag,
        long overflow, int errno, int providerErrno, String providerText, byte[] providerData, String provider) {

    /** {@return a copy of the provider's error data} */
    @Override
    public byte[] providerData() { return providerData.clone(); }

    /**
     * {@return the address of the peer that caused the error, if that peer is not in the address vector} With
     * {@link Capability#SOURCE_ERR}, such a completion is the error {@code EADDRNOTAVAIL} (99) with the address as its
     * data.
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

    /** {@return this error as an exception} */
    public FabricException toException() {
        return new FabricException(toString() + "." + Remedies.ofCompletion(errno, provider), "fi_cq_readerr", errno);
    }

    @Override
    public String toString() {
        String which = !posted ? "an operation of a peer, or an inject," : "operation with token " + token;
        String detail = providerText.isEmpty() || providerText.equals(text()) ? "" : " (" + providerText + ")";
        return which + " failed on provider " + provider + ": " + text() + " (errno " + errno + ")" + detail;
    }
}
