package io.ofi4j.info;

/** Whether the network adapter and device memory transfer data directly; the FI_HMEM_P2P_* values of fi_endpoint(3). */
public enum DevicePeerToPeer {
    /** The provider decides. */
    ENABLED,
    /** Always directly. Transfers fail where that is not possible. */
    REQUIRED,
    /** Directly where that is possible. */
    PREFERRED,
    /** Never directly. */
    DISABLED
}
