package io.ofi4j.verbs;

import io.ofi4j.internal.engine.OpenChildren;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.verbs.internal.AttributeCodec;
import io.ofi4j.verbs.internal.ContextOps;
import io.ofi4j.verbs.internal.DeviceCalls;
import io.ofi4j.verbs.internal.VerbsContextOps;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

/**
 * An open device; {@code struct ibv_context}. Any thread may call any method. Except for accessors, methods throw
 * {@link IllegalStateException} once it is closed, and {@link io.ofi4j.errors.FabricException} if the library reports
 * an error. The context of a {@link VerbsConnection} belongs to librdmacm, which keeps it open while the device is
 * there: closing that context only checks that nothing in it is open. Once such a device was removed or reset, do not
 * use its context and what was opened in it.
 */
public final class DeviceContext implements AutoCloseable {
    final MemorySegment pointer;
    final ContextOps ops;
    final VerbsContextOps extended;
    final OpenChildren children = OpenChildren.owned();
    /** Held while something is opened or read in it, and while it closes. */
    private final Object lock = new Object();

    private final String name;
    private final boolean owned;
    private final boolean iwarp;
    private final DeviceAttributes attributes;
    private volatile boolean closed;

    DeviceContext(MemorySegment pointer, String name, boolean owned) {
        this.pointer = pointer;
        this.name = name;
        this.owned = owned;
        this.iwarp = Device.Transport.of(DeviceCalls.transportOf(pointer)) == Device.Transport.IWARP;
        this.ops = new ContextOps(pointer);
        this.extended = new VerbsContextOps(pointer);
        this.attributes = DeviceAttributes.of(AttributeCodec.device(extended));
    }

    /** {@return the kernel's name of the device} */
    public String name() { return name; }

    /** {@return the properties and limits of the device when it was opened; ibv_query_device_ex(3)} */
    public DeviceAttributes attributes() {
        return attributes;
    }

    /** {@return the present properties of all ports; ibv_query_port(3)} */
    public List<PortAttributes> ports() {
        return IntStream.rangeClosed(1, attributes.ports()).mapToObj(this::port).toList();
    }

    /**
     * {@return the present properties of a port; ibv_query_port(3)}
     *
     * @param number the number of the port, from 1
     * @throws IllegalArgumentException if the device has no such port
     */
    public PortAttributes port(int number) {
        if (number < 1 || number > attributes.ports()) {
            throw new IllegalArgumentException(
                    name + " has ports 1 to " + attributes.ports() + ", and no port " + number);
        }
        synchronized (lock) {
            requireOpen();
            AttributeCodec.PortNumbers numbers = AttributeCodec.port(extended, number);
            return PortAttributes.of(number, numbers, gids(number, numbers.gids()));
        }
    }

    private List<Gid> gids(int port, int count) {
        List<Gid> gids = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            byte[] bytes = AttributeCodec.gid(pointer, port, index);
            if (!Arrays.equals(bytes, new byte[bytes.length])) {
                gids.add(new Gid(index, HexFormat.of().formatHex(bytes), gidType(port, index)));
            }
        }
        return gids;
    }

    /** {@return the type of a GID, from the kernel's files} The function of libibverbs is not exported. */
    private String gidType(int port, int index) {
        Path file = Path.of("/sys/class/infiniband", name, "ports", String.valueOf(port), "gid_attrs", "types",
                String.valueOf(index));
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** Opens a protection domain; ibv_alloc_pd(3). The caller closes it. */
    public ProtectionDomain openProtectionDomain() {
        StackRoom.require();
        synchronized (lock) { // as in close()
            requireOpen();
            return children.adopt(new ProtectionDomain(this));
        }
    }

    /** Opens a completion channel; ibv_create_comp_channel(3). The caller closes it. */
    public CompletionChannel openCompletionChannel() {
        StackRoom.require();
        synchronized (lock) {
            requireOpen();
            return children.adopt(new CompletionChannel(this));
        }
    }

    /**
     * Opens a completion queue; ibv_create_cq(3). The caller closes it.
     *
     * @param entries the number of completions that it holds: as many as operations can be in flight on all its queue
     *         pairs
     * @throws IllegalArgumentException if the number is below 1, or the device takes fewer
     */
    public VerbsCompletionQueue openCompletionQueue(int entries) { return openQueue(entries, null); }

    /**
     * As {@link #openCompletionQueue(int)}, with a channel to wait on.
     *
     * @throws IllegalArgumentException if the number is below 1 or the device takes fewer, or the channel is of another
     *         device
     */
    public VerbsCompletionQueue openCompletionQueue(int entries, CompletionChannel channel) {
        if (channel.context() != this) {
            throw new IllegalArgumentException(channel + " is of another device context than the queue");
        }
        return openQueue(entries, channel);
    }

    private VerbsCompletionQueue openQueue(int entries, CompletionChannel channel) {
        StackRoom.require();
        requireOpen();
        int max = attributes.maximumCompletionEntries();
        if (entries < 1 || entries > max) {
            throw new IllegalArgumentException(
                    "a completion queue of " + name + " has 1 to " + max + " entries, not " + entries);
        }
        if (channel == null) { return opened(entries, null); }
        synchronized (channel) { // its close() holds the same monitor
            channel.requireOpen();
            return opened(entries, channel);
        }
    }

    private VerbsCompletionQueue opened(int entries, CompletionChannel channel) {
        synchronized (lock) {
            requireOpen();
            VerbsCompletionQueue made = children.adopt(new VerbsCompletionQueue(this, entries, channel));
            if (channel != null) { channel.adopt(made); }
            return made;
        }
    }

    /**
     * Opens a domain of the extended reliable connected transport; ibv_open_xrcd(3). The caller closes it.
     *
     * @throws UnsupportedOperationException if the device has no XRC
     */
    public XrcDomain openXrcDomain() {
        StackRoom.require();
        synchronized (lock) {
            requireOpen();
            require(DeviceCapability.XRC, "an XRC domain");
            return children.adopt(new XrcDomain(this));
        }
    }

    void requireOpen() { if (closed) { throw new IllegalStateException(this + " is closed"); } }

    /** @throws UnsupportedOperationException if the device cannot do it */
    void require(DeviceCapability capability, String what) {
        if (!attributes.capabilities().contains(capability)) {
            throw new UnsupportedOperationException(
                    what + " is not offered by the device " + name + ", which lacks " + capability);
        }
    }

    boolean isIwarp() { return iwarp; }

    /**
     * @throws UnsupportedOperationException if the device has iWARP, whose protocol lacks the feature
     */
    void requireNotIwarp(String what) {
        if (iwarp) {
            throw new UnsupportedOperationException("iWARP, the transport of " + name + ", does not offer " + what);
        }
    }

    /**
     * Closes the device; ibv_close_device(3). If objects opened by it are open, it throws
     * {@link IllegalStateException}, which names them.
     */
    @Override
    public void close() {
        StackRoom.require();
        synchronized (lock) {
            if (closed) { return; }
            children.requireNone(this);
            if (!owned) { return; }
            closed = true;
            try {
                DeviceCalls.ibv_close_device(pointer);
            } finally {
                Verbs.DEVICES.remove(this);
            }
        }
    }

    @Override
    public String toString() { return "DeviceContext of " + name; }
}
