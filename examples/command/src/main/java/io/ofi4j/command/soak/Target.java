package io.ofi4j.command.soak;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.zip.CRC32C;

/**
 * What the second process does: has memory that the first one writes and reads, makes progress, and answers questions.
 * It ends when its standard input does.
 */
final class Target implements CompletionHandler {
    private static final String END = "";
    /** As many as show that nothing more is in store. */
    private static final int IDLE_POLLS = 64;

    private final BlockingQueue<String> questions = new LinkedBlockingQueue<>();
    private final PrintStream out;
    private final Domain domain;
    private CompletionQueue queue;
    private AddressVector vector;
    private Endpoint endpoint;
    private MemoryRegion region;
    private long dataReceived;

    private Target(Domain domain, PrintStream out) {
        this.domain = domain;
        this.out = out;
    }

    static void run(Libfabric libfabric, FabricInfo info) {
        try (Fabric fabric = libfabric.openFabric(info); Domain domain = fabric.openDomain()) {
            new Target(domain, System.out).serve();
        }
    }

    private void serve() {
        Thread.ofPlatform().daemon().name("questions").start(this::read);
        for (String question = next(); !question.equals(END); question = next()) {
            String[] words = question.split(" ");
            out.println(switch (words[0]) {
                case "ready" -> "ready";
                case "open" -> open(Integer.parseInt(words[1]), words[2]);
                case "sum" -> Long.toString(sum());
                case "data" -> Long.toString(dataReceived());
                case "close" -> close();
                default -> throw new IllegalArgumentException(question);
            });
            out.flush();
        }
        close();
    }

    private void read() {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                questions.add(line);
            }
        } catch (IOException e) {
            return; // the first process has ended
        } finally {
            questions.add(END);
        }
    }

    private String next() {
        for (String question = questions.poll();; question = questions.poll()) {
            if (question != null) { return question; }
            if (queue == null || queue.poll(this, 64) == 0) { Thread.yield(); }
        }
    }

    private String open(int length, String peer) {
        queue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        vector.insert(EndpointAddress.of(HexFormat.of().parseHex(peer)));
        region = domain.allocate(length, Access.REMOTE_READ, Access.REMOTE_WRITE);
        region.segment().fill(Slots.GUARD_BYTE);
        dataReceived = 0;
        return HexFormat.of().formatHex(endpoint.address().toBytes()) + " "
                + HexFormat.of().formatHex(region.remote().encode());
    }

    private String close() {
        if (queue != null) {
            region.close();
            endpoint.close();
            vector.close();
            queue.close();
            queue = null;
        }
        return "closed";
    }

    private long sum() {
        MemorySegment memory = region.segment();
        CRC32C sum = new CRC32C();
        sum.update(memory.toArray(ValueLayout.JAVA_BYTE));
        return sum.getValue();
    }

    /** A provider may have more in store than one poll takes: whoever has slept meanwhile has it all before it. */
    private long dataReceived() {
        for (int idle = 0; idle < IDLE_POLLS;) {
            idle = queue.poll(this, 64) == 0 ? idle + 1 : 0;
        }
        return dataReceived;
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        if ((flags & CompletionFlags.REMOTE_CQ_DATA) != 0) { dataReceived++; }
    }

    @Override
    public void onError(CompletionError error) {
        // The first process closed while it was at it, which is what it is told to do now and then.
    }
}
