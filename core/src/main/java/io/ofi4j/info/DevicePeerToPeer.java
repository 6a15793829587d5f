package io.ofi4j.info;

/** Whether adapter and device memory talk to each other directly; the FI_HMEM_P2P_* values of fi_endpoint(3). */
public enum DevicePeerToPeer {
    /** The provider decides. */
    ENABLED,
    /** Always, or transfers fail. */
    REQUIRED,
    /** Where they can. */
    PREFERRED,
    /** Never. */
    DISABLED
}
