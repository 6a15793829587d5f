package io.ofi4j.model;

import io.ofi4j.Libfabric;
import io.ofi4j.info.CompletionQueueStatistics;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Runs random programs in a JVM of its own. Arguments: provider, with {@code MSG} before it for connections; settings
 * such as {@code SAFE:1,COMPLETION:3} (threading model and number of threads); first seed; and of each setting the
 * number of programs, their steps, and for how many seconds more programs follow; then {@code verbose} for a program
 * that killed the JVM. Of each setting it prints a {@link ModelReport}. Exit status 3: a program broke a rule.
 */
final class ModelRunner {
    private static final int BROKEN = 3;
    private static final int HUNG = 4;
    private static final int PROGRAM_TIMEOUT_SECONDS = 240;
    private static final long NANOS = 1_000_000_000;

    /** ofi_rxm fills all its receive buffers for each endpoint that is enabled, which was most of a program's time. */
    private static final Map<String, String> SMALL_BUFFERS = Map.of("FI_OFI_RXM_BUFFER_SIZE", "1024",
            "FI_OFI_RXM_MSG_RX_SIZE", "16", "FI_OFI_RXM_MSG_TX_SIZE", "16", "FI_OFI_RXM_RX_SIZE", "256",
            "FI_OFI_RXM_TX_SIZE", "256");

    private static volatile long begun = System.nanoTime();

    private ModelRunner() {}

    public static void main(String[] arguments) {
        Libfabric.load(SMALL_BUFFERS);
        watch();
        for (String setting : arguments[1].split(",")) {
            System.out.println("setting " + setting);
            String[] parts = setting.split(":");
            FabricHints hints = TestProviders.hints(arguments[0]).threading(ThreadingModel.valueOf(parts[0]));
            System.out.println(run(TestProviders.info(hints), setting, Integer.parseInt(parts[1]), arguments));
        }
        System.exit(0);
    }

    /**
     * The JDK keeps a socket of its own from the first one on, and closing a passive endpoint of sockets opens some.
     */
    private static void openChannel() {
        try (SocketChannel channel = SocketChannel.open()) {
            channel.isOpen();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ModelReport run(FabricInfo info, String setting, int threads, String[] arguments) {
        long first = Long.parseLong(arguments[2]);
        long count = Long.parseLong(arguments[3]);
        int steps = Integer.parseInt(arguments[4]);
        long nanos = Long.parseLong(arguments[5]) * NANOS;
        boolean isVerbose = arguments.length > 6;
        openChannel();
        ModelDescriptors descriptors = new ModelDescriptors(info);
        ModelTally tally = ModelTally.NOTHING;
        long start = System.nanoTime();
        long run = 0;
        for (; run < count || System.nanoTime() - start < nanos; run++) {
            begun = System.nanoTime();
            System.out.println("program " + (first + run));
            tally = tally.plus(run(info, threads, first + run, steps, isVerbose));
            String left = descriptors.left();
            if (!left.isEmpty()) {
                System.out.println("BROKEN: program " + (first + run) + " has left " + left);
                System.exit(BROKEN);
            }
        }
        return new ModelReport(setting, run, tally, descriptors.kept(), (System.nanoTime() - start) / NANOS);
    }

    private static ModelTally run(FabricInfo info, int threads, long seed, int steps, boolean isVerbose) {
        List<String> trace = List.of();
        try {
            if (threads == 1 && info.endpoint().type() == EndpointType.MSG) {
                ModelConnections program = new ModelConnections(info, seed, isVerbose);
                trace = program.trace;
                program.run(steps);
                return tally(program);
            } else if (threads == 1) {
                ModelProgram program = new ModelProgram(info, seed, isVerbose);
                trace = program.trace;
                program.run(steps);
                return program.ledger.tally();
            } else {
                ModelThreads program = new ModelThreads(info, seed, threads, isVerbose);
                trace = program.trace;
                program.run(steps);
                return program.ledger.tally();
            }
        } catch (Throwable t) {
            t.printStackTrace(System.out);
            trace.stream().skip(Math.max(0, trace.size() - 200)).forEach(step -> System.out.println("  " + step));
            System.out.println("BROKEN by program " + seed);
            System.exit(BROKEN);
            return ModelTally.NOTHING;
        }
    }

    /** What its queues say: such a program has found out itself that each token came back once. */
    private static ModelTally tally(ModelConnections program) {
        List<CompletionQueueStatistics> queues = program.state.queues.stream().map(queue -> queue.queue.statistics())
                .toList();
        long completed = queues.stream().mapToLong(CompletionQueueStatistics::completed).sum();
        long failed = queues.stream().mapToLong(queue -> queue.failed() + queue.canceled()).sum();
        long posts = program.trace.stream().filter(step -> step.contains(" token ")).count();
        return new ModelTally(posts, completed + failed, completed, failed, 0);
    }

    /** Ends a program that hangs, with the stacks of its threads. */
    private static void watch() {
        Thread.ofPlatform().daemon().start(() -> {
            while (System.nanoTime() - begun < Patience.seconds(PROGRAM_TIMEOUT_SECONDS).toNanos()) {
                try {
                    Thread.sleep(100);
                } catch (InterruptedException e) {
                    return;
                }
            }
            Thread.getAllStackTraces().forEach((thread, frames) -> {
                System.out.println(thread);
                Stream.of(frames).forEach(frame -> System.out.println("    " + frame));
            });
            System.out.println("BROKEN: the program hangs");
            Runtime.getRuntime().halt(HUNG);
        });
    }
}
