package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

/** The types of events of rdma_get_cm_event(3) that matter. */
public final class CmEvents {
    public static final int ADDRESS_RESOLVED = RDMA_CM_EVENT_ADDR_RESOLVED();
    public static final int ADDRESS_ERROR = RDMA_CM_EVENT_ADDR_ERROR();
    public static final int ROUTE_RESOLVED = RDMA_CM_EVENT_ROUTE_RESOLVED();
    public static final int ROUTE_ERROR = RDMA_CM_EVENT_ROUTE_ERROR();
    public static final int CONNECT_REQUEST = RDMA_CM_EVENT_CONNECT_REQUEST();
    public static final int ESTABLISHED = RDMA_CM_EVENT_ESTABLISHED();
    public static final int DISCONNECTED = RDMA_CM_EVENT_DISCONNECTED();
    public static final int TIMEWAIT_EXIT = RDMA_CM_EVENT_TIMEWAIT_EXIT();
    public static final int REJECTED = RDMA_CM_EVENT_REJECTED();
    public static final int DEVICE_REMOVAL = RDMA_CM_EVENT_DEVICE_REMOVAL();

    private CmEvents() {}

    /** Whether an event of this type ends a connection; others, such as a change of its address, do not. */
    public static boolean endsConnection(int type) {
        return type == DISCONNECTED || type == TIMEWAIT_EXIT || type == DEVICE_REMOVAL;
    }
}
