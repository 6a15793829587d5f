package io.ofi4j.command.device;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.durable.SaveService;
import io.ofi4j.command.device.Memory.Place;
import io.ofi4j.info.Capability;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The other process: it has the memory that the checks move to and from, makes progress, and does what it is told by
 * lines on its standard input. It ends with the one that started it.
 */
final class Other {
    static final int RECEIVE = 1;
    static final int TAGGED_RECEIVE = 2;

    private final Queue<String> commands = new ConcurrentLinkedQueue<>();
    private final Node node;
    private final Memory memory;
    private final MemorySegment number = Arena.global().allocate(ValueLayout.JAVA_LONG);
    private MemoryRegion file;
    private SaveService service;
    private boolean isReceiving;

    private Other(Node node, Memory memory) {
        this.node = node;
        this.memory = memory;
    }

    /** Provider, device, length, whether it registers the device's memory, capabilities. */
    public static void main(String[] arguments) throws Exception {
        Capability[] capabilities = Arrays.stream(arguments[4].split(",")).map(Capability::valueOf)
                .toArray(Capability[]::new);
        DeviceMemory device = DeviceMemory.open(arguments[1]);
        Node node = new Node(arguments[0], capabilities);
        Memory memory = new Memory(node, device, Long.parseLong(arguments[2]), Boolean.parseBoolean(arguments[3]));
        if (memory.staged == null) { device.pin(memory.host.segment()); }
        new Other(node, memory).serve();
    }

    private static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }

    private void serve() throws IOException {
        Thread reader = new Thread(this::read, "commands");
        reader.setDaemon(true);
        reader.start();
        System.out.println("ready " + hex(node.endpoint.address().toBytes()) + " " + hex(memory.host.remote().encode())
                + " " + hex((memory.staged == null ? memory.host : memory.staged).remote().encode()));
        for (int polls = 1;; polls++) {
            node.poll();
            if (polls % Node.POLLS_PER_YIELD == 0) { Thread.yield(); }
            String command = commands.poll();
            if (command != null) { answer(command.split(" ")); }
            if (isReceiving && (!node.completed.isEmpty() || !node.errors.isEmpty())) { endReceive(); }
        }
    }

    private void read() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                commands.add(line);
            }
        } catch (IOException e) {
            // as at the end
        }
        Runtime.getRuntime().halt(0); // even where a native call does not return
    }

    private void endReceive() {
        isReceiving = false;
        say(node.errors.isEmpty() ? "ok" : "failed " + node.errors.getFirst().toException().getMessage());
        node.completed.clear();
        node.errors.clear();
    }

    private static void say(String line) { System.out.println(line.replace('\n', ' ')); }

    private void answer(String[] words) {
        try {
            say(perform(words));
        } catch (Exception e) {
            say("failed " + Rows.words(e));
        }
    }

    private MemoryRegion region(Place place) {
        return place == Place.host || memory.staged == null ? memory.host : memory.staged;
    }

    /** {@return the answer} */
    private String perform(String[] words) throws IOException {
        Place place = words.length > 1 && !words[0].equals("map") ? place(words[1]) : null;
        long length = words.length > 2 && place != null ? Long.parseLong(words[2]) : 0;
        switch (words[0]) {
            case "fill" -> memory.fill(place, length, Integer.parseInt(words[3]));
            case "clear" -> memory.clear(place, length);
            case "zero" -> memory.zero(place, length);
            case "check" -> {
                long at = memory.mismatch(place, length, Integer.parseInt(words[3]));
                return at < 0 ? "ok" : "differs at " + at;
            }
            case "receive" -> {
                node.endpoint.messages().receive(region(place).slice(0, length), RECEIVE);
                isReceiving = true;
            }
            case "tagged" -> {
                node.endpoint.tagged().receive(region(place).slice(0, length), Long.parseLong(words[3]), 0,
                        TAGGED_RECEIVE);
                isReceiving = true;
            }
            case "put" -> {
                number.set(ValueLayout.JAVA_LONG, 0, length);
                if (place == Place.gpu) {
                    memory.device.put(memory.gpu, number);
                } else {
                    memory.host.segment().set(ValueLayout.JAVA_LONG, 0, length);
                }
            }
            case "get" -> {
                if (place == Place.host) { return "ok " + memory.host.segment().get(ValueLayout.JAVA_LONG, 0); }
                memory.device.get(number, memory.gpu);
                return "ok " + number.get(ValueLayout.JAVA_LONG, 0);
            }
            case "to-device" -> memory.toDevice(length);
            case "to-host" -> memory.toHost(length);
            case "free" -> memory.device.free(memory.gpu);
            case "map" -> {
                Path path = Path.of(words[1]);
                file = node.domain.map(path, MapMode.READ_WRITE, 0, Files.size(path), Access.REMOTE_WRITE,
                        Access.REMOTE_READ);
                return "ok " + hex(file.remote().encode());
            }
            case "force" -> file.force();
            case "save-service" -> {
                service = new SaveService(node.domain);
                service.start();
                return "ok " + hex(service.ticket().encode());
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return words[0].equals("receive") || words[0].equals("tagged") ? "posted" : "ok";
    }

    private static Place place(String word) { return word.equals("gpu") ? Place.gpu : Place.host; }

}
