package io.ofi4j.command.device;

import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.Capability;

/** The main class of a JVM that runs the rows of one group, or says what the device is. */
final class GroupProcess {
    /** In place of a group: says what the device is. */
    static final String PROBE = "probe";

    private GroupProcess() {}

    /**
     * Runs the rows.
     *
     * @param arguments the group or the misuse, the device, the longest transfer, how many rows to leave out, and the C
     *        program or nothing
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        String device = arguments[1];
        long longest = Long.parseLong(arguments[2]);
        Rows rows = new Rows(System.out, Integer.parseInt(arguments[3]));
        switch (name) {
            case PROBE -> probe(device);
            case DeviceRun.BENCH -> {
                try (Bench bench = new Bench(rows, device, longest, arguments[4])) {
                    bench.run();
                }
            }
            case DeviceRun.PERF -> new Perf(rows, device).run();
            case DeviceRun.SHM, DeviceRun.RXM, DeviceRun.TCP -> {
                try (Transfers transfers = new Transfers(rows, name, device, longest)) {
                    transfers.run();
                }
            }
            default -> new Misuses(rows, device).run(name);
        }
        System.exit(0);
    }

    /** Says what the device is; the first line is empty, or says why there is none. */
    private static void probe(String device) {
        if (device.equals(DeviceRun.HOST)) {
            System.out.println();
            System.out.println("card\tnone: memory of this machine stands in for it, no figure is a device's");
            return;
        }
        int number = Integer.parseInt(device.split(":", 2)[1]);
        String whyNot = Cuda.whyNot(number);
        System.out.println(whyNot);
        if (!whyNot.isEmpty()) { return; }
        try (Cuda cuda = Cuda.open(number)) {
            System.out.println("card\t" + cuda.name());
            System.out.println("memory of the card\t" + cuda.totalMemory());
            System.out.println("CUDA of the driver\t" + cuda.version());
            System.out.println("DMA_BUF_SUPPORTED\t" + cuda.attribute(Cuda.DMA_BUF_SUPPORTED));
            System.out.println("INTEGRATED\t" + cuda.attribute(Cuda.INTEGRATED));
            System.out.println("PAGEABLE_MEMORY_ACCESS\t" + cuda.attribute(Cuda.PAGEABLE_MEMORY_ACCESS));
        }
        System.out.println(DeviceRun.REGISTERED + "\t" + registered(device));
    }

    /** {@return whether this libfabric takes memory of the device} */
    private static String registered(String device) {
        try (DeviceMemory memory = DeviceMemory.open(device);
                Node node = new Node(DeviceRun.SHM, Capability.RMA, Capability.HMEM);
                MemoryRegion region = node.domain
                        .register(memory.attributes(memory.allocate(4096), 4096).access(Memory.ALL))) {
            return "yes, " + region.kind() + ", libfabric " + Libfabric.load().version();
        } catch (RuntimeException e) {
            return "no: " + Rows.words(e);
        }
    }
}
