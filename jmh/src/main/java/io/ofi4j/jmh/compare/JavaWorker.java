package io.ofi4j.jmh.compare;

import com.sun.management.ThreadMXBean;
import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.RemoteRegion;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicForm;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;

/**
 * The Java side of the comparison: obeys the commands that {@code main.c} describes, through the public API. The second
 * number of an answer is how many bytes the thread has allocated meanwhile.
 */
final class JavaWorker {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private World world;
    private Work work;
    private MessageWork messageWork;
    private Exchange exchange;
    private FabricHints hints;
    private Growth growth;
    private Crew crew;
    private final Cold cold = new Cold();
    private final Runnable progress = () -> world.makeProgress();

    private JavaWorker() {}

    /** Obeys until stdin ends. */
    public static void main(String[] arguments) throws InterruptedException {
        JavaWorker worker = new JavaWorker();
        Commands.obey(worker::obey);
        worker.close();
    }

    private void close() {
        if (crew != null) { crew.close(); }
        if (growth != null) { growth.close(); }
        if (world != null) { world.close(); }
    }

    private String obey(String[] words) {
        return switch (words[0]) {
            case "open" -> open(words);
            case "other" -> other(words);
            case "run" -> run(words);
            case "cold" -> cold(words);
            case "ping" -> ping(words);
            case "pong" -> pong(words);
            case "serve" -> serve();
            case "crowd" ->
                "ok " + new Crowd(world).read(Long.parseLong(words[1]), words[2].equals("1"), Long.parseLong(words[3]));
            case "grow" -> grow(words);
            case "threads" -> threads(words);
            case "memory" -> memory();
            case "settle" -> settle();
            case "rest" -> "ok";
            default -> throw new IllegalArgumentException("not understood: " + words[0]);
        };
    }

    private String open(String[] words) {
        ProgressModel progress = ProgressModel.valueOf(words[4]);
        Family family = Family.valueOf(words[6]);
        FabricHints anywhere = family.hints().provider(words[1]).threading(ThreadingModel.valueOf(words[3]))
                .controlProgress(progress).dataProgress(progress);
        hints = words[2].equals("-") ? anywhere : anywhere.source(words[2], null);
        try {
            world = new World(family, hints, Long.parseLong(words[5]));
            prepare(family);
        } catch (NoProviderException | UnsupportedOperationException e) {
            return "absent " + e.getMessage();
        }
        RemoteRegion mailbox = world.mailbox.remote();
        return "ok " + Libfabric.load().version() + " " + HexFormat.of().formatHex(world.source.address().toBytes())
                + " " + mailbox.base() + " " + Long.toUnsignedString(mailbox.key()) + " " + threadId();
    }

    /** @throws UnsupportedOperationException if the provider cannot do what it claims */
    private void prepare(Family family) {
        if (family.isTwoSided()) {
            messageWork = new MessageWork(world, family);
            return;
        }
        work = new Work(world, family);
        growth = new Growth(world);
        exchange = new Exchange(world);
        if (family == Family.ATOMIC
                && world.source.atomics().valid(AtomicForm.FETCH, AtomicOperation.SUM, Datatype.UINT64) == 0) {
            throw new UnsupportedOperationException("it adds no 64-bit integers");
        }
    }

    /** What Linux calls this thread. */
    private static String threadId() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        } catch (IOException e) {
            return "0";
        }
    }

    private String other(String[] words) {
        world.insertOther(EndpointAddress.of(HexFormat.of().parseHex(words[1])),
                new RemoteRegion(Long.parseLong(words[2]), World.LETTER_ROOM, Long.parseUnsignedLong(words[3]),
                        Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit()));
        return "ok";
    }

    private String run(String[] words) {
        long size = Long.parseLong(words[2]);
        long window = Long.parseLong(words[3]);
        long count = Long.parseLong(words[4]);
        if (words[1].equals("threads")) {
            long time = crew.run(size, count);
            return "ok " + time + " " + crew.allocated();
        }
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long time = messageWork != null
                ? messageWork.run(words[1], size, window, count)
                : Growth.isWork(words[1]) ? growth.run(words[1], size, count) : work.run(words[1], size, window, count);
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        return "ok " + time + " " + allocated;
    }

    private String cold(String[] words) {
        Cold.Each each = messageWork != null ? messageWork.cold(words[1]) : work.cold(words[1]);
        long size = Long.parseLong(words[2]);
        int walked = Integer.parseInt(words[3]);
        long count = Long.parseLong(words[4]);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long time = cold.run(each, size, walked, count, messageWork != null ? () -> {} : progress);
        return "ok " + time + " " + (THREADS.getCurrentThreadAllocatedBytes() - before);
    }

    private String ping(String[] words) {
        long[] samples = new long[Integer.parseInt(words[3])];
        Arrays.fill(samples, 1); // no page fault while it is measured
        long switches = Switches.ofThisThread();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        exchange.ping(words[1], Long.parseLong(words[2]), samples);
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        switches = Switches.ofThisThread() - switches;
        StringBuilder answer = new StringBuilder("ok ").append(allocated).append(' ').append(switches);
        for (long sample : samples) {
            answer.append(' ').append(sample);
        }
        return answer.toString();
    }

    private String serve() {
        new Crowd(world).serve();
        return "ok";
    }

    private String grow(String[] words) {
        growth.grow(words[1], Integer.parseInt(words[2]));
        return "ok";
    }

    private String threads(String[] words) {
        if (crew != null) { crew.close(); }
        crew = new Crew(words[2].equals("1") ? world : null, hints, Integer.parseInt(words[1]));
        return "ok";
    }

    /** What is on the heap after a collection, and what is in memory, in bytes. */
    private static String memory() {
        System.gc();
        return "ok " + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() + " " + resident();
    }

    private static long resident() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/smaps_rollup"))) {
            return lines.filter(line -> line.startsWith("Rss:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).findFirst().orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }

    private static String settle() {
        Congestion.settle();
        return "ok";
    }

    private String pong(String[] words) {
        long switches = Switches.ofThisThread();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        exchange.pong(words[1], Long.parseLong(words[2]));
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        return "ok " + allocated + " " + (Switches.ofThisThread() - switches);
    }
}
