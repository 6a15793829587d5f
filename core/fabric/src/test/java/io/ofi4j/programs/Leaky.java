package io.ofi4j.programs;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointType;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Forgets to close; an application's class, outside the library's package. The arguments: the provider, and what to do.
 */
final class Leaky {
    /** How many objects are reported. */
    private static final int TREE = 6;

    private static Fabric held;

    private Leaky() {}

    public static void main(String[] arguments) throws InterruptedException, IOException {
        FabricHints hints = FabricHints.rma().provider(arguments[0]);
        FabricInfo info = Libfabric.load().info(arguments[0].equals("shm") ? hints : hints.source("127.0.0.1", null))
                .getFirst();
        switch (arguments[1]) {
            case "hold" -> held = openTree(info);
            case "hold others" -> held = openOthers(arguments[0]);
            case "drop" -> drop(openTree(info));
            case "refuse" -> refuse(openTree(info));
            default -> closeAll(info);
        }
        System.out.println("done");
    }

    private static Fabric openTree(FabricInfo info) {
        Fabric fabric = Libfabric.load().openFabric(info);
        Domain domain = fabric.openDomain();
        CompletionQueue queue = domain.openCompletionQueue();
        openEndpoint(domain, queue);
        domain.allocate(4096, Access.WRITE);
        domain.allocate(8192, Access.WRITE).close();
        return fabric;
    }

    /** Of every kind that {@link #openTree} has none of. */
    private static Fabric openOthers(String provider) throws IOException {
        FabricInfo connected = Libfabric.load()
                .info(FabricHints.rma().provider(provider).endpointType(EndpointType.MSG).source("127.0.0.1", null))
                .getFirst();
        Fabric fabric = Libfabric.load().openFabric(connected);
        fabric.openEventQueue();
        fabric.openPassiveEndpoint(connected);
        Domain domain = fabric.openDomain();
        domain.openCounter();
        domain.startProgress();
        Path file = Files.createTempFile("ofi4j", ".mapped");
        domain.map(file, FileChannel.MapMode.READ_WRITE, 0, 4096, Access.WRITE);
        Files.delete(file);
        return fabric;
    }

    private static void openEndpoint(Domain domain, CompletionQueue queue) {
        domain.openEndpoint().bind(domain.openAddressVector()).bind(queue).enable();
    }

    /** As long as a static variable refers to nothing. */
    private static void drop(Fabric fabric) throws InterruptedException {
        ByteArrayOutputStream reports = new ByteArrayOutputStream();
        System.setErr(new PrintStream(new Copied(System.err, reports), true));
        WeakReference<Fabric> gone = new WeakReference<>(fabric);
        fabric = null;
        long start = System.nanoTime();
        while (!gone.refersTo(null) && System.nanoTime() - start < 20_000_000_000L) {
            System.gc();
            Thread.sleep(10);
        }
        System.out.println("gone: " + gone.refersTo(null));
        while (reports.toString().lines().filter(line -> line.contains("never closed")).count() < TREE
                && System.nanoTime() - start < 20_000_000_000L) {
            Thread.sleep(10);
        }
    }

    /** What goes to one stream goes to another, too. */
    private static final class Copied extends FilterOutputStream {
        private final OutputStream copy;

        Copied(OutputStream out, OutputStream copy) {
            super(out);
            this.copy = copy;
        }

        @Override
        public void write(int value) throws IOException {
            out.write(value);
            copy.write(value);
        }
    }

    private static void refuse(Fabric fabric) {
        try {
            fabric.close();
        } catch (IllegalStateException e) {
            System.out.println("refused: " + e.getMessage());
        }
        held = fabric;
    }

    private static void closeAll(FabricInfo info) {
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                var vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
                var region = domain.allocate(64, Access.WRITE);
                var counter = domain.openCounter()) {
            System.out.println(endpoint + " " + region + " " + counter);
        }
    }
}
