package io.ofi4j.command.info;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.NameConverter;
import io.ofi4j.verbs.Device;
import io.ofi4j.verbs.DeviceAttributes;
import io.ofi4j.verbs.DeviceCapability;
import io.ofi4j.verbs.DeviceContext;
import io.ofi4j.verbs.Gid;
import io.ofi4j.verbs.PortAttributes;
import io.ofi4j.verbs.Verbs;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ofi4j verbs info}. */
@Command(name = "info",
        description = "Lists RDMA devices, what they can do and how much of it, as ibv_devinfo -v does, and which "
                + "extensions of the verbs each has.")
public final class VerbsInfoCommand implements Runnable {
    @Option(names = {"-d", "--device"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "Only this device.")
    private String device;

    @Option(names = "--json", description = "Print a JSON object with every attribute.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        Verbs verbs = Verbs.load();
        List<Device> all = verbs.devices();
        if (all.isEmpty()) {
            throw new CommandFailure("This machine has no RDMA device: 'rdma link' lists those that the kernel knows.");
        }
        List<Device> chosen = all.stream().filter(one -> device == null || one.name().equals(device)).toList();
        if (chosen.isEmpty()) {
            throw new CommandFailure("There is no RDMA device '" + device + "'; this machine has "
                    + all.stream().map(Device::name).collect(Collectors.joining(", ")) + ".");
        }
        PrintWriter out = spec.commandLine().getOut();
        JsonArray array = new JsonArray();
        for (Device one : chosen) {
            try (DeviceContext context = verbs.open(one.name())) {
                if (json) {
                    array.add(json(one, context));
                } else {
                    print(out, one, context);
                }
            }
        }
        if (json) { out.println(InfoJson.print(array)); }
        out.flush();
    }

    private static JsonObject json(Device device, DeviceContext context) {
        JsonObject object = new JsonObject();
        object.add("device", InfoJson.value(device));
        object.add("attributes", InfoJson.value(context.attributes()));
        object.add("ports", InfoJson.value(context.ports()));
        return object;
    }

    private static void print(PrintWriter out, Device device, DeviceContext context) {
        DeviceAttributes has = context.attributes();
        out.printf("%s: %s, %s, firmware '%s', vendor 0x%x part %d%n", device.name(), device.transport(),
                device.nodeType(), has.firmware(), has.vendor(), has.part());
        line(out, "node GUID", String.format("%016x", has.guid()));
        line(out, "queue pairs", has.maximumQueuePairs() + " of " + has.maximumWorkRequests() + " operations");
        line(out, "completion queues",
                has.maximumCompletionQueues() + " of " + has.maximumCompletionEntries() + " entries");
        line(out, "regions", has.maximumRegions() + " of " + Long.toUnsignedString(has.maximumRegionSize()) + " bytes");
        line(out, "windows", String.valueOf(has.maximumWindows()));
        line(out, "reads at a time",
                has.maximumReadsAsInitiator() + " here, " + has.maximumReadsAsTarget() + " as target");
        line(out, "capabilities", names(has.capabilities()));
        extensions(out, has);
        context.ports().forEach(port -> print(out, port));
        out.println();
    }

    /** Of the list in VERBS.md. */
    private static void extensions(PrintWriter out, DeviceAttributes has) {
        Collection<DeviceCapability> can = has.capabilities();
        line(out, "atomics", has.atomics().name());
        line(out, "window type 1", yes(can.contains(DeviceCapability.MEM_WINDOW)));
        line(out, "window type 2B", yes(can.contains(DeviceCapability.MEM_WINDOW_TYPE_2B)));
        line(out, "invalidation", yes(can.contains(DeviceCapability.MEM_MGT_EXTENSIONS)));
        line(out, "XRC", yes(can.contains(DeviceCapability.XRC)));
        line(out, "on-demand paging", has.onDemand().isEmpty() ? "no" : names(has.onDemand()));
    }

    private static void print(PrintWriter out, PortAttributes port) {
        line(out, "port " + port.number(), port.state() + ", " + port.linkLayer() + ", MTU " + port.mtu() + ", LID "
                + port.lid() + ", operations of " + Integer.toUnsignedString(port.maximumMessageSize()) + " bytes");
        for (Gid gid : port.gids()) {
            line(out, "  GID " + gid.index(),
                    gid.address().getHostAddress() + (gid.type().isEmpty() ? "" : ", " + gid.type()));
        }
    }

    private static String yes(boolean has) { return has ? "yes" : "no"; }

    private static String names(Collection<? extends Enum<?>> values) {
        return values.stream().sorted().map(Enum::name).collect(Collectors.joining(", "));
    }

    private static void line(PrintWriter out, String name, String value) { out.printf("  %-18s %s%n", name, value); }
}
