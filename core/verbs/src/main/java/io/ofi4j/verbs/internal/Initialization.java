package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;

import io.ofi4j.bindings.verbs.ibv_ah_attr;
import io.ofi4j.bindings.verbs.ibv_comp_channel;
import io.ofi4j.bindings.verbs.ibv_context;
import io.ofi4j.bindings.verbs.ibv_device;
import io.ofi4j.bindings.verbs.ibv_device_attr;
import io.ofi4j.bindings.verbs.ibv_device_attr_ex;
import io.ofi4j.bindings.verbs.ibv_global_route;
import io.ofi4j.bindings.verbs.ibv_mr;
import io.ofi4j.bindings.verbs.ibv_mw;
import io.ofi4j.bindings.verbs.ibv_mw_bind;
import io.ofi4j.bindings.verbs.ibv_mw_bind_info;
import io.ofi4j.bindings.verbs.ibv_odp_caps;
import io.ofi4j.bindings.verbs.ibv_port_attr;
import io.ofi4j.bindings.verbs.ibv_qp;
import io.ofi4j.bindings.verbs.ibv_qp_attr;
import io.ofi4j.bindings.verbs.ibv_qp_cap;
import io.ofi4j.bindings.verbs.ibv_qp_init_attr;
import io.ofi4j.bindings.verbs.ibv_qp_init_attr_ex;
import io.ofi4j.bindings.verbs.ibv_xrcd_init_attr;
import io.ofi4j.bindings.verbs.rdma_cm_event;
import io.ofi4j.bindings.verbs.rdma_cm_id;
import io.ofi4j.bindings.verbs.rdma_conn_param;
import io.ofi4j.bindings.verbs.rdma_event_channel;
import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Functions;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;

/**
 * Initializes the classes that hold method handles, layouts or other constants, when the libraries are loaded. A class
 * whose initialization ends the stack of some thread can never be used again: the first poll or close of a process may
 * come deep in a recursion.
 */
final class Initialization {
    private static final List<Class<?>> CLASSES = List.of(Functions.class, NativeWords.class, LibC.class,
            Descriptors.class, StackRoom.class, ThreadGuard.class, FabricException.class, ErrnoCalls.class,
            DeviceCalls.class, ObjectCalls.class, QueuePairCalls.class, CmCalls.class, ContextOps.class,
            VerbsContextOps.class, AttributeCodec.class, WorkCompletions.class, WorkRequest.class, Opcodes.class,
            CmEvents.class);

    private static final List<Class<?>> STRUCTS = List.of(ibv_ah_attr.class, ibv_comp_channel.class, ibv_context.class,
            ibv_device.class, ibv_device_attr.class, ibv_device_attr_ex.class, ibv_global_route.class, ibv_mr.class,
            ibv_mw.class, ibv_mw_bind.class, ibv_mw_bind_info.class, ibv_odp_caps.class,
            ibv_odp_caps.per_transport_caps.class, ibv_port_attr.class, ibv_qp.class, ibv_qp_attr.class,
            ibv_qp_cap.class, ibv_qp_init_attr.class, ibv_qp_init_attr_ex.class, ibv_xrcd_init_attr.class,
            rdma_cm_event.class, rdma_cm_event.param.class, rdma_cm_id.class, rdma_conn_param.class,
            rdma_event_channel.class);

    /** Asking for the address of a function that the bindings call makes its handle. */
    private static final List<Supplier<MemorySegment>> BOUND = List.of(() -> ibv_ack_cq_events$address(),
            () -> ibv_free_device_list$address(), () -> ibv_get_device_guid$address(), () -> ibv_query_device$address(),
            () -> ibv_query_port$address(), () -> ibv_wc_status_str$address(),
            () -> rdma_destroy_event_channel$address(), () -> rdma_destroy_qp$address(),
            () -> rdma_get_src_port$address());

    private Initialization() {}

    static void run(List<Class<?>> more) {
        CLASSES.forEach(Initialization::initialize);
        STRUCTS.forEach(Initialization::initialize);
        BOUND.forEach(Supplier::get);
        more.forEach(Initialization::initialize);
        openAndClose(new Object());
        ContextOps.prepare();
    }

    private static void initialize(Class<?> one) {
        try {
            Class.forName(one.getName(), true, one.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    /** Of what keeps count of open objects. */
    private static void openAndClose(Object nothing) {
        OpenChildren children = OpenChildren.owned();
        children.add(nothing);
        children.remove(nothing);
    }
}
