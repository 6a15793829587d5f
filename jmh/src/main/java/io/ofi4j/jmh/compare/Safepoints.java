package io.ofi4j.jmh.compare;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.FabricHints;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.ProgressModel;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.ThreadingModel;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long the JVM waits for its threads at a safepoint while one of them streams writes: a critical call holds it up until the
 * call is over. Each provider has a JVM of its own, which logs its safepoints.
 */
public final class Safepoints {
    private static final int WINDOW = 16;
    private static final int SAFEPOINTS = 1000;
    private static final int SMALL = 8;
    private static final int LARGE = 1 << 20;
    /** After so many writes the code is compiled, and the stream under way. */
    private static final long WARM_UP = 2000;
    private static final double NANOS_PER_MICRO = 1000;
    private static final Pattern REACHED = Pattern.compile("\"ThreadDump\".*Reaching safepoint: +(\\d+) ns");

    private static volatile boolean isStreaming;
    private static volatile boolean isOver;

    private Safepoints() {
    }

    /** For the providers that are named, or those that programs use; with {@code stream PROVIDER SIZE} the JVM that streams. */
    public static void main(String... arguments) throws IOException, InterruptedException {
        if (arguments.length == 3 && arguments[0].equals("stream")) {
            stream(arguments[1], Integer.parseInt(arguments[2]));
            return;
        }
        System.out.println("provider        writes of B  safepoints  median us   p99 us   max us");
        String tcp = Libfabric.load().version().major() >= 2 ? "tcp" : "net";
        for (String provider : arguments.length > 0 ? arguments : new String[]{"shm", "tcp;ofi_rxm", tcp}) {
            for (int size : new int[]{SMALL, LARGE}) {
                print(provider, size, reached(provider, size));
            }
        }
    }

    private static void print(String provider, int size, List<Long> nanos) {
        Collections.sort(nanos);
        System.out.printf(Locale.ROOT, "%-15s %11d  %10d  %9.1f  %7.1f  %7.1f%n", provider, size, nanos.size(),
                at(nanos, 0.5), at(nanos, 0.99), at(nanos, 1));
    }

    private static double at(List<Long> sorted, double share) {
        return sorted.get((int) Math.ceil(share * (sorted.size() - 1))) / NANOS_PER_MICRO;
    }

    /** How long the safepoints of a JVM took to be reached, in nanoseconds. */
    private static List<Long> reached(String provider, int size) throws IOException, InterruptedException {
        List<String> command = Jvm.command(Safepoints.class, "-Xlog:safepoint:stdout");
        command.addAll(List.of("stream", provider, Integer.toString(size)));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        List<Long> nanos = new ArrayList<>();
        try (BufferedReader out = process.inputReader()) {
            String line;
            while ((line = out.readLine()) != null) {
                Matcher matcher = REACHED.matcher(line);
                if (matcher.find()) {
                    nanos.add(Long.parseLong(matcher.group(1)));
                }
            }
        }
        if (process.waitFor() != 0 || nanos.size() < SAFEPOINTS) {
            throw new BenchFailure("over " + provider + " the JVM that streams ended with status " + process.exitValue()
                    + " after " + nanos.size() + " safepoints");
        }
        return nanos;
    }

    private static void stream(String provider, int size) throws InterruptedException {
        Thread streaming = Thread.ofPlatform().start(() -> new Stream(provider, size).run());
        while (!isStreaming && streaming.isAlive()) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < SAFEPOINTS && streaming.isAlive(); i++) {
            Thread.getAllStackTraces(); // at a safepoint
            TimeUnit.MILLISECONDS.sleep(1);
        }
        isOver = true;
        streaming.join();
    }

    /** Both ends, on one thread. */
    private static final class Stream implements CompletionHandler {
        private final String provider;
        private final int size;
        private int inFlight;
        private long completed;

        Stream(String provider, int size) {
            this.provider = provider;
            this.size = size;
        }

        void run() {
            Libfabric libfabric = Libfabric.load();
            FabricHints hints = FabricHints.rma().provider(provider).threading(ThreadingModel.DOMAIN)
                    .controlProgress(ProgressModel.MANUAL).dataProgress(ProgressModel.MANUAL);
            hints = provider.equals("shm") ? hints : hints.source("127.0.0.1", null);
            try (Fabric fabric = libfabric.openFabric(libfabric.info(hints).getFirst());
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    CompletionQueue targetQueue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    MemoryRegion source = domain.allocate(size, Access.WRITE);
                    MemoryRegion target = domain.allocate(size, Access.REMOTE_WRITE);
                    Endpoint here = domain.openEndpoint().bind(vector).bind(queue).enable();
                    Endpoint there = domain.openEndpoint().bind(vector).bind(targetQueue).enable()) {
                run(here.rma(), source, vector.insert(there.address()), target.remote(), queue, targetQueue);
            }
        }

        private void run(Rma rma, MemoryRegion source, Peer peer, RemoteRegion target, CompletionQueue queue,
                CompletionQueue targetQueue) {
            while (!isOver || inFlight > 0) {
                while (!isOver && inFlight < WINDOW && rma.tryWrite(source, 0, size, peer, target, 0, 0)) {
                    inFlight++;
                }
                queue.poll(this, WINDOW);
                targetQueue.poll(this, WINDOW);
            }
        }

        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            inFlight--;
            isStreaming = ++completed > WARM_UP;
        }
    }
}
