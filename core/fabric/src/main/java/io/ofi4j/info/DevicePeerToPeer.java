package io.ofi4j.info;

/** Whether adapter and device memory transfer data directly; the FI_HMEM_P2P_* values of fi_endpoint(3). */
public enum DevicePeerToPeer {
    /** The provider decides. */
    ENABLED,
    /** Always; transfers fail where it is not possible. */
    REQUIRED,
    /** Where possible. */
    PREFERRED,
    /** Never. */
    DISABLED
}
