package io.ofi4j.verbs.internal;

import static io.ofi4j.bindings.verbs.verbs_h.*;
import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.bindings.verbs.ibv_qp_cap;
import io.ofi4j.bindings.verbs.ibv_qp_init_attr;
import io.ofi4j.bindings.verbs.rdma_cm_event;
import io.ofi4j.bindings.verbs.rdma_cm_id;
import io.ofi4j.bindings.verbs.rdma_conn_param;
import io.ofi4j.bindings.verbs.rdma_event_channel;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The connection manager of librdmacm, rdma_cm(7): identifiers, each with an event channel of its own. */
public final class CmCalls {
    private static final MethodHandle CREATE_CHANNEL = ErrnoCalls.exported(rdma_create_event_channel$address(),
            rdma_create_event_channel$descriptor());
    private static final MethodHandle CREATE_ID = ErrnoCalls.exported(rdma_create_id$address(),
            rdma_create_id$descriptor());
    private static final MethodHandle DESTROY_ID = ErrnoCalls.exported(rdma_destroy_id$address(),
            rdma_destroy_id$descriptor());
    private static final MethodHandle BIND = ErrnoCalls.exported(rdma_bind_addr$address(), rdma_bind_addr$descriptor());
    private static final MethodHandle LISTEN = ErrnoCalls.exported(rdma_listen$address(), rdma_listen$descriptor());
    private static final MethodHandle RESOLVE_ADDRESS = ErrnoCalls.exported(rdma_resolve_addr$address(),
            rdma_resolve_addr$descriptor());
    private static final MethodHandle RESOLVE_ROUTE = ErrnoCalls.exported(rdma_resolve_route$address(),
            rdma_resolve_route$descriptor());
    private static final MethodHandle CREATE_QP = ErrnoCalls.exported(rdma_create_qp$address(),
            rdma_create_qp$descriptor());
    private static final MethodHandle CONNECT = ErrnoCalls.exported(rdma_connect$address(), rdma_connect$descriptor());
    private static final MethodHandle ACCEPT = ErrnoCalls.exported(rdma_accept$address(), rdma_accept$descriptor());
    private static final MethodHandle REJECT = ErrnoCalls.exported(rdma_reject$address(), rdma_reject$descriptor());
    private static final MethodHandle DISCONNECT = ErrnoCalls.exported(rdma_disconnect$address(),
            rdma_disconnect$descriptor());
    private static final MethodHandle MIGRATE = ErrnoCalls.exported(rdma_migrate_id$address(),
            rdma_migrate_id$descriptor());
    private static final MethodHandle GET_EVENT = ErrnoCalls.exported(rdma_get_cm_event$address(),
            rdma_get_cm_event$descriptor());
    private static final MethodHandle ACK_EVENT = ErrnoCalls.exported(rdma_ack_cm_event$address(),
            rdma_ack_cm_event$descriptor());
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int SOCKADDR = 28;

    private CmCalls() {}

    /** An identifier, {@code struct rdma_cm_id}, and its channel. */
    public record Id(MemorySegment pointer, MemorySegment channel, int descriptor) {}

    /**
     * An event, copied and acknowledged.
     *
     * @param type a RDMA_CM_EVENT constant
     * @param status an error number below 0, or the reason of a rejection
     * @param id of a connection request, the new identifier
     */
    public record Event(int type, int status, byte[] data, MemorySegment id) {}

    public static Id rdma_create_id() {
        MemorySegment channel = createChannel();
        MemorySegment pointer = Rollback.ifFails(() -> rdma_destroy_event_channel(channel), () -> createId(channel));
        return Rollback.ifFails(() -> destroy(pointer, channel), () -> id(pointer, channel));
    }

    private static MemorySegment createId(MemorySegment channel) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            ErrnoCalls.check("rdma_create_id",
                    state -> (int) CREATE_ID.invokeExact(state, channel, out, MemorySegment.NULL, RDMA_PS_TCP()));
            return out.get(ADDRESS, 0);
        }
    }

    private static MemorySegment createChannel() {
        return rdma_event_channel.reinterpret(ErrnoCalls.pointer("rdma_create_event_channel",
                state -> (MemorySegment) CREATE_CHANNEL.invokeExact(state)), Arena.global(), null);
    }

    private static Id id(MemorySegment pointer, MemorySegment channel) {
        int descriptor = rdma_event_channel.fd(channel);
        Descriptors.nonBlocking(descriptor);
        return new Id(rdma_cm_id.reinterpret(pointer, Arena.global(), null), channel, descriptor);
    }

    /** Gives the identifier of a connection request a channel of its own, or destroys it; rdma_migrate_id(3). */
    public static Id adopt(MemorySegment pointer) {
        MemorySegment channel = Rollback.ifFails(() -> destroy(pointer), CmCalls::createChannel);
        return Rollback.ifFails(() -> destroy(pointer, channel), () -> {
            ErrnoCalls.check("rdma_migrate_id", state -> (int) MIGRATE.invokeExact(state, pointer, channel));
            return id(pointer, channel);
        });
    }

    public static void destroy(Id id) { destroy(id.pointer, id.channel); }

    /** Destroys the channel last, because the identifier may use it. */
    private static void destroy(MemorySegment pointer, MemorySegment channel) {
        try {
            destroy(pointer);
        } finally {
            rdma_destroy_event_channel(channel);
        }
    }

    private static void destroy(MemorySegment pointer) {
        ErrnoCalls.check("rdma_destroy_id", state -> (int) DESTROY_ID.invokeExact(state, pointer));
    }

    public static void listen(Id id, InetSocketAddress address, int backlog) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment native_ = socketAddress(arena, address);
            ErrnoCalls.check("rdma_bind_addr", state -> (int) BIND.invokeExact(state, id.pointer, native_));
            ErrnoCalls.check("rdma_listen", state -> (int) LISTEN.invokeExact(state, id.pointer, backlog));
        }
    }

    /** The port that an identifier is bound to. */
    public static int port(Id id) {
        return Short.toUnsignedInt(Short.reverseBytes(rdma_get_src_port(id.pointer)));
    }

    /** Resolves the address of a target. The source may be null. */
    public static void rdma_resolve_addr(Id id, InetSocketAddress source, InetSocketAddress target, int milliseconds) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = source == null ? MemorySegment.NULL : socketAddress(arena, source);
            MemorySegment to = socketAddress(arena, target);
            ErrnoCalls.check("rdma_resolve_addr",
                    state -> (int) RESOLVE_ADDRESS.invokeExact(state, id.pointer, from, to, milliseconds));
        }
    }

    public static void rdma_resolve_route(Id id, int milliseconds) {
        ErrnoCalls.check("rdma_resolve_route",
                state -> (int) RESOLVE_ROUTE.invokeExact(state, id.pointer, milliseconds));
    }

    private static MemorySegment socketAddress(Arena arena, InetSocketAddress address) {
        boolean isIpv4 = address.getAddress() instanceof Inet4Address;
        ByteBuffer bytes = ByteBuffer.allocate(SOCKADDR).order(ByteOrder.LITTLE_ENDIAN)
                .putShort(isIpv4 ? AF_INET : AF_INET6).order(ByteOrder.BIG_ENDIAN).putShort((short) address.getPort());
        if (!isIpv4) { bytes.putInt(0); } // flow
        bytes.put(address.getAddress().getAddress());
        if (address.getAddress() instanceof Inet6Address scoped) { // of a link-local address, its interface
            bytes.order(ByteOrder.LITTLE_ENDIAN).putInt(scoped.getScopeId());
        }
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes.array());
    }

    /** The context of the device that an identifier is on, or NULL; it is librdmacm's. */
    public static MemorySegment context(Id id) {
        return rdma_cm_id.verbs(id.pointer);
    }

    public static int devicePort(Id id) { return rdma_cm_id.port_num(id.pointer); }

    public static MemorySegment rdma_create_qp(Id id, MemorySegment domain, QueuePairCalls.Sizes sizes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = QueuePairCalls.attributes(arena, sizes);
            assert ibv_qp_cap.max_send_sge(ibv_qp_init_attr.cap(attributes)) == 1;
            ErrnoCalls.check("rdma_create_qp",
                    state -> (int) CREATE_QP.invokeExact(state, id.pointer, domain, attributes));
            return rdma_cm_id.qp(id.pointer);
        }
    }

    public static void destroyQueuePair(Id id) { rdma_destroy_qp(id.pointer); }

    /** The attributes of a connection, and its private data. */
    public record Parameters(byte[] data, int readsAsTarget, int readsAsInitiator, int retries, int receiverRetries) {}

    public static void rdma_connect(Id id, Parameters parameters) {
        establish("rdma_connect", CONNECT, id, parameters);
    }

    public static void rdma_accept(Id id, Parameters parameters) { establish("rdma_accept", ACCEPT, id, parameters); }

    private static void establish(String call, MethodHandle handle, Id id, Parameters parameters) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = rdma_conn_param.allocate(arena);
            rdma_conn_param.private_data(struct, data(arena, parameters.data));
            rdma_conn_param.private_data_len(struct, (byte) parameters.data.length);
            rdma_conn_param.responder_resources(struct, (byte) parameters.readsAsTarget);
            rdma_conn_param.initiator_depth(struct, (byte) parameters.readsAsInitiator);
            rdma_conn_param.retry_count(struct, (byte) parameters.retries);
            rdma_conn_param.rnr_retry_count(struct, (byte) parameters.receiverRetries);
            ErrnoCalls.check(call, state -> (int) handle.invokeExact(state, id.pointer, struct));
        }
    }

    private static MemorySegment data(Arena arena, byte[] data) {
        return data.length == 0 ? MemorySegment.NULL : arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
    }

    public static void rdma_reject(Id id, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = data(arena, data);
            ErrnoCalls.check("rdma_reject",
                    state -> (int) REJECT.invokeExact(state, id.pointer, bytes, (byte) data.length));
        }
    }

    /** The error number, or 0. */
    public static int rdma_disconnect(Id id) {
        return ErrnoCalls.status(state -> (int) DISCONNECT.invokeExact(state, id.pointer));
    }

    /** The next event, or null if there is none; rdma_get_cm_event(3), rdma_ack_cm_event(3). */
    public static Event next(Id id) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            int errno = ErrnoCalls.status(state -> (int) GET_EVENT.invokeExact(state, id.channel, out));
            if (errno == Errno.EAGAIN || errno == Errno.EINTR) { return null; }
            if (errno != 0) { throw ErrnoCalls.failure("rdma_get_cm_event", errno); }
            MemorySegment event = rdma_cm_event.reinterpret(out.get(ADDRESS, 0), Arena.global(), null);
            try {
                return new Event(rdma_cm_event.event(event), rdma_cm_event.status(event), privateData(event),
                        rdma_cm_event.id(event));
            } finally { // one that is not acknowledged would keep rdma_destroy_id for ever
                ErrnoCalls.check("rdma_ack_cm_event", state -> (int) ACK_EVENT.invokeExact(state, event));
            }
        }
    }

    private static byte[] privateData(MemorySegment event) {
        MemorySegment parameters = rdma_cm_event.param.conn(rdma_cm_event.param(event));
        MemorySegment data = rdma_conn_param.private_data(parameters);
        int length = Byte.toUnsignedInt(rdma_conn_param.private_data_len(parameters));
        return data.address() == 0 || length == 0
                ? new byte[0]
                : LibC.bytes(data, length).toArray(ValueLayout.JAVA_BYTE);
    }
}
