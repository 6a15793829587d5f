package io.ofi4j.internal.ffi;

/**
 * The contents of entries: an {@code enum fi_cq_format}, and the flags of the completions that have a valid source
 * address (0: none).
 */
public record CqFormat(int format, long sourceFlags) {
    private static final long RECEIVED = FabricConstants.FI_RECV;
    private static final long CAUSED_BY_PEER = RECEIVED | FabricConstants.FI_REMOTE_READ
            | FabricConstants.FI_REMOTE_WRITE | FabricConstants.FI_REMOTE_CQ_DATA;
    private static final long CAUSED_HERE = FabricConstants.FI_SEND | FabricConstants.FI_READ
            | FabricConstants.FI_WRITE;

    /**
     * With or without source addresses. If the provider gives random addresses for other completions, only those of
     * messages are used.
     */
    public static CqFormat of(int format, boolean withSources, boolean ofMessagesOnly) {
        return new CqFormat(format, !withSources ? 0 : ofMessagesOnly ? RECEIVED : CAUSED_BY_PEER);
    }

    public boolean hasSource(long flags) { return (flags & sourceFlags) != 0 && (flags & CAUSED_HERE) == 0; }

    public boolean isPlain() { return format == FabricConstants.FI_CQ_FORMAT_DATA && sourceFlags == 0; }
}
