package io.ofi4j.verbs;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.os.Deadlines;
import io.ofi4j.verbs.internal.DeviceCalls;
import io.ofi4j.verbs.internal.Rollback;
import io.ofi4j.verbs.internal.VerbsLibrary;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The libibverbs and librdmacm of this process: loaded once, never unloaded. Any thread may call any method. Methods
 * throw {@link io.ofi4j.errors.FabricException} if the library reports an error, and
 * {@link UnsupportedOperationException} where a device lacks what was asked for.
 *
 * <p>This path is beside libfabric, not below it: its objects cannot be used with those of package {@code io.ofi4j}.
 * Both can register the same memory.
 */
public final class Verbs {
    /** The open devices: the memory of a region is not freed while its device may use it. */
    static final OpenChildren DEVICES = OpenChildren.owned();

    private static final Verbs INSTANCE = new Verbs();

    /** The classes of this package that have constants to initialize. */
    private static final List<Class<?>> CLASSES = List.of(Device.NodeType.class, Device.Transport.class,
            DeviceAttributes.AtomicSupport.class, DeviceAttributes.OnDemandOperation.class, DeviceCapability.class,
            PortAttributes.LinkLayer.class, PortAttributes.State.class, VerbsAccess.class, MemoryWindow.Type.class,
            MemoryWindow.State.class, WorkKind.class, WorkStatus.class, CompletionBatch.class, ConnectionListener.class,
            VerbsConnection.class, VerbsConnection.State.class);

    private Verbs() {}

    /**
     * {@return the libraries, loaded on the first call}
     *
     * @throws VerbsNotFoundException if one is not found; the message names the packages to install
     * @throws IllegalCallerException if the JVM refuses native access; the message names the option to set
     */
    public static Verbs load() {
        try {
            VerbsLibrary.ensureLoaded(CLASSES);
        } catch (VerbsLibrary.NotFound e) {
            throw new VerbsNotFoundException(e.getMessage(), e.getCause());
        }
        return INSTANCE;
    }

    /** {@return the RDMA devices of this machine; none if the kernel lacks ib_uverbs; ibv_get_device_list(3)} */
    public List<Device> devices() {
        return DeviceCalls.ibv_get_device_list().stream().map(found -> new Device(found.name(), found.guid(),
                Device.NodeType.of(found.nodeType()), Device.Transport.of(found.transport()))).toList();
    }

    /**
     * Opens a device; ibv_open_device(3). The caller closes it.
     *
     * @param device its name, such as {@code mlx5_0}
     * @throws IllegalArgumentException if there is no device of that name; the message lists the devices
     */
    public DeviceContext open(String device) {
        Objects.requireNonNull(device, "device");
        StackRoom.require();
        MemorySegment context = DeviceCalls.ibv_open_device(device);
        if (context == null) {
            String names = devices().stream().map(Device::name).collect(Collectors.joining(", "));
            throw new IllegalArgumentException("there is no RDMA device '" + device + "'; this machine has "
                    + (names.isEmpty() ? "none (check with 'rdma link')" : names));
        }
        return DEVICES.adopt(Rollback.ifFails(() -> DeviceCalls.ibv_close_device(context),
                () -> new DeviceContext(context, device, true)));
    }

    /**
     * Listens for connections at an address of an RDMA device; rdma_listen(3). The caller closes the listener.
     *
     * @param address an address of a device's network interface, or the wildcard address; for port 0 a free port is
     *         chosen
     * @param backlog the largest number of requests that wait, at least 1
     * @throws IllegalArgumentException if the backlog is below 1, or the address is not resolved
     */
    public ConnectionListener listen(InetSocketAddress address, int backlog) {
        if (backlog < 1) { throw new IllegalArgumentException("a backlog is at least 1, not " + backlog); }
        return ConnectionListener.open(resolved(address), backlog);
    }

    /**
     * Finds the device and the route to a listener; rdma_resolve_addr(3), rdma_resolve_route(3). The result is not
     * connected yet.
     *
     * @param source an address of this machine, whose device is used; null for the device of the route
     * @param peer the address of a {@link ConnectionListener}
     * @param deadline the longest wait, for both steps together
     * @return the connection; the caller closes it
     * @throws IllegalArgumentException if the deadline is not above zero, or an address is not resolved
     * @throws io.ofi4j.errors.FabricTimeoutException if the deadline passes
     */
    public VerbsConnection resolve(InetSocketAddress source, InetSocketAddress peer, Duration deadline) {
        if (source != null) { resolved(source); }
        return VerbsConnection.resolve(source, resolved(peer), Deadlines.requireSome(deadline));
    }

    private static InetSocketAddress resolved(InetSocketAddress address) {
        if (address.isUnresolved()) { throw new IllegalArgumentException(address + " is not resolved"); }
        return address;
    }

    @Override
    public String toString() { return "libibverbs and librdmacm"; }
}
