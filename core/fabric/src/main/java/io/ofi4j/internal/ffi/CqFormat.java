package io.ofi4j.internal.ffi;

/**
 * The contents of entries: an {@code enum fi_cq_format}, the flags of the completions that have a valid source address
 * (0: none), and the address that stands for an unknown source.
 */
public record CqFormat(int format, long sourceFlags, long unknownSource) {
    private static final long RECEIVED = FabricConstants.FI_RECV;
    private static final long CAUSED_BY_PEER = RECEIVED | FabricConstants.FI_REMOTE_READ
            | FabricConstants.FI_REMOTE_WRITE | FabricConstants.FI_REMOTE_CQ_DATA;
    private static final long CAUSED_HERE = FabricConstants.FI_SEND | FabricConstants.FI_READ
            | FabricConstants.FI_WRITE;

    /**
     * With or without source addresses. If the provider gives random addresses for other completions, only those of
     * messages are used. If it gives 0 for peers that it does not know, no peer has that number.
     */
    public static CqFormat of(int format, boolean withSources, boolean ofMessagesOnly, boolean isZeroUnknown) {
        return new CqFormat(format, !withSources ? 0 : ofMessagesOnly ? RECEIVED : CAUSED_BY_PEER,
                isZeroUnknown ? 0 : FabricConstants.FI_ADDR_NOTAVAIL);
    }

    public boolean hasSource(long flags) { return (flags & sourceFlags) != 0 && (flags & CAUSED_HERE) == 0; }

    public boolean isPlain() { return format == FabricConstants.FI_CQ_FORMAT_DATA && sourceFlags == 0; }
}
