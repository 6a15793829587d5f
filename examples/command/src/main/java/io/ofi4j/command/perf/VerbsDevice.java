package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.verbs.Device.Transport;
import io.ofi4j.verbs.DeviceAttributes;
import io.ofi4j.verbs.DeviceContext;
import io.ofi4j.verbs.Gid;
import io.ofi4j.verbs.PortAttributes;
import io.ofi4j.verbs.ProtectionDomain;
import io.ofi4j.verbs.Verbs;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** An open RDMA device, without libfabric; its queue pairs are connected out of band, as perftest connects them. */
final class VerbsDevice implements Device {
    private static final String KIND = "bare verbs";
    private static final String BEST = "RoCE v2";
    private static final int ANY_ADDRESS = -1;

    /**
     * One port of a device.
     *
     * @param device its name
     * @param port its number
     * @param gidIndex the place of its address, or the best
     */
    private record Where(String device, int port, int gidIndex) {}

    private final Where where;
    private final DeviceContext context;
    private final ProtectionDomain domain;
    private final PortAttributes port;

    private VerbsDevice(Where where) {
        this.where = where;
        this.context = Verbs.load().open(where.device);
        this.port = context.port(where.port);
        this.domain = context.openProtectionDomain();
    }

    /** {@return the device that was asked for, by its name or one of its addresses; else the first that is in use} */
    static VerbsDevice open(Settings settings) {
        VerbsDevice device = new VerbsDevice(find(settings, Verbs.load().devices()));
        device.require(settings.operation());
        return device;
    }

    private static Where find(Settings settings, List<io.ofi4j.verbs.Device> devices) {
        if (devices.isEmpty()) {
            throw new CommandFailure("This machine has no RDMA device, which --path verbs needs: "
                    + "'rdma link' lists those that the kernel knows.");
        }
        String names = devices.stream().map(io.ofi4j.verbs.Device::name).collect(Collectors.joining(", "));
        List<io.ofi4j.verbs.Device> named = devices.stream()
                .filter(one -> settings.domain().map(one.name()::equals).orElse(true)).toList();
        if (named.isEmpty()) {
            throw new CommandFailure(
                    "There is no RDMA device '" + settings.domain().get() + "'; this machine has " + names + ".");
        }
        return named.stream().flatMap(one -> find(one, settings.source()).stream()).findFirst()
                .orElseThrow(() -> new CommandFailure("None of the RDMA devices " + names + " has "
                        + settings.source().map(address -> "the address " + address).orElse("a port in use")
                        + ": name one with -d, or its address with -s."));
    }

    private static Optional<Where> find(io.ofi4j.verbs.Device device, Optional<String> source) {
        try (DeviceContext context = Verbs.load().open(device.name())) {
            for (PortAttributes port : context.ports()) {
                Optional<Where> where = source.isEmpty()
                        ? Optional.of(new Where(device.name(), port.number(), ANY_ADDRESS))
                                .filter(any -> port.state() == PortAttributes.State.ACTIVE)
                        : port.gids().stream().filter(gid -> isAt(gid, source.get()))
                                .max(Comparator.comparing(gid -> gid.type().equals(BEST)))
                                .map(gid -> new Where(device.name(), port.number(), gid.index()));
                if (where.isPresent()) { return requireByHand(device, where); }
            }
        }
        return Optional.empty();
    }

    private static Optional<Where> requireByHand(io.ofi4j.verbs.Device device, Optional<Where> where) {
        if (device.transport() == Transport.IWARP) {
            throw new CommandFailure("The device " + device.name()
                    + " is of iWARP, whose queue pairs cannot be connected out of band: measure it with"
                    + " -p verbs -e msg.");
        }
        return where;
    }

    private static boolean isAt(Gid gid, String address) {
        try {
            return gid.address().equals(InetAddress.getByName(address));
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private void require(Operation operation) {
        if (operation == Operation.ATOMIC && context.attributes().atomics() == DeviceAttributes.AtomicSupport.NONE) {
            close();
            throw new CommandFailure("The device " + where.device + " has no atomic operations.");
        }
    }

    DeviceContext context() { return context; }

    ProtectionDomain domain() { return domain; }

    int port() { return where.port; }

    int gidIndex() { return where.gidIndex; }

    @Override
    public Traits traits() {
        long largest = Math.min(Integer.toUnsignedLong(port.maximumMessageSize()), Integer.MAX_VALUE);
        return new Traits(KIND, "none", port.linkLayer().name(), where.device, "RC", "SAFE", "AUTO", largest, 0,
                context.attributes().maximumWorkRequests());
    }

    @Override
    public String kind() { return KIND; }

    @Override
    public End open(Plan plan, boolean isTarget) { return new VerbsEnd(this, plan, isTarget); }

    @Override
    public Device again() { return new VerbsDevice(where); }

    @Override
    public void close() {
        domain.close();
        context.close();
    }
}
