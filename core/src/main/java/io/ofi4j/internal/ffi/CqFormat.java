package io.ofi4j.internal.ffi;

/**
 * What a queue's entries have.
 *
 * @param format an {@code enum fi_cq_format}
 * @param withSource flags of the completions whose source addresses can be believed; 0 where there are none
 */
public record CqFormat(int format, long withSource) {
    private static final long RECEIVED = FabricConstants.FI_RECV;
    private static final long CAUSED_BY_PEER = RECEIVED | FabricConstants.FI_REMOTE_READ
            | FabricConstants.FI_REMOTE_WRITE | FabricConstants.FI_REMOTE_CQ_DATA;
    private static final long CAUSED_HERE = FabricConstants.FI_SEND | FabricConstants.FI_READ
            | FabricConstants.FI_WRITE;

    /** With source addresses, of messages only where the provider gives others' at random. */
    public static CqFormat withSources(int format, boolean ofMessagesOnly) {
        return new CqFormat(format, ofMessagesOnly ? RECEIVED : CAUSED_BY_PEER);
    }

    public static CqFormat withoutSources(int format) {
        return new CqFormat(format, 0);
    }

    /** Whether a completion's source can be believed. */
    public boolean hasSource(long flags) {
        return (flags & withSource) != 0 && (flags & CAUSED_HERE) == 0;
    }

    /** Whether an entry is a {@code struct fi_cq_data_entry} and nothing else. */
    public boolean isPlain() {
        return format == FabricConstants.FI_CQ_FORMAT_DATA && withSource == 0;
    }
}
