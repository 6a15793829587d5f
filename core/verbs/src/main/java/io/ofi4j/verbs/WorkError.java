package io.ofi4j.verbs;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Errno;

/**
 * A failed operation; {@code struct ibv_wc}, ibv_poll_cq(3).
 *
 * @param token the token given when the operation was posted
 * @param kind the kind of operation
 * @param status the cause
 * @param vendorError the device's own number for the error
 * @param queuePair the number of the operation's queue pair
 */
public record WorkError(long token, WorkKind kind, WorkStatus status, int vendorError, int queuePair) {
    /**
     * {@return this error as an exception, with errno {@code EIO} (5), or {@code ECANCELED} (125) if it was flushed}
     */
    public FabricException toException() {
        return new FabricException(toString(), "completion",
                status == WorkStatus.FLUSHED ? Errno.ECANCELED : Errno.EIO);
    }

    @Override
    public String toString() {
        String said = kind + " with token " + token + " failed on queue pair " + queuePair + ": " + status + " (vendor "
                + vendorError + ").";
        return status.remedy().isEmpty() ? said : said + " " + status.remedy();
    }
}
