package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.internal.ShmFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * With libfabric 2.x, a process that posts over shm claims a place in the target's queue, and then fills it. One that is killed in between
 * hides what others post, for ever if nobody helps. Here a test claims, and at last processes are killed that post as fast as they can.
 */
@Timeout(300)
class ShmClaimTest {
    private static final boolean CLAIMS = Libfabric.load().version().major() >= 2;
    private static final Duration DEADLINE = Patience.seconds(60);
    private static final Duration A_WHILE = Duration.ofSeconds(2);
    private static final long REST_NANOS = 1_000_000;
    private static final int KILLS = CLAIMS ? 6 : 1;
    private static final int MOST_MICROSECONDS = 3000;
    /** Where libfabric 2.1 has these, in bytes. */
    private static final int CLAIMED_AT = 192;
    private static final int TAKEN_AT = 256;

    private final Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
    private final Domain domain = fabric.openDomain();
    private final CompletionQueue queue = domain.openCompletionQueue();
    private final AddressVector vector = domain.openAddressVector();
    private final Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
    private final MemoryRegion region = domain.allocate(Long.BYTES, Access.REMOTE_WRITE);

    @AfterEach
    void close() {
        endpoint.close();
        region.close();
        vector.close();
        queue.close();
        domain.close();
        fabric.close();
    }

    @Test
    void whatIsPostedBehindAPlaceThatNobodyFillsArrives() {
        kill(written());
        long before = claim();
        kill(written());
        claim();
        claim();
        kill(written());

        if (CLAIMS) {
            assertThat(number(TAKEN_AT)).isGreaterThan(before + 2);
        }
    }

    @Test
    void aPlaceThatAStoppedProcessMayFillIsWaitedFor() {
        Forked.Running writer = written();
        FaultPeer.run(List.of("sh", "-c", "kill -STOP " + writer.process().pid()));
        until(() -> isStopped(writer.process().pid()));
        long place = claim();
        long end = System.nanoTime() + A_WHILE.toNanos();
        while (System.nanoTime() < end) {
            queue.progress();
            LockSupport.parkNanos(REST_NANOS);
        }
        if (CLAIMS) {
            assertThat(number(TAKEN_AT)).isEqualTo(place);
        }
        FaultPeer.run(List.of("sh", "-c", "kill -CONT " + writer.process().pid()));
        kill(writer);
        kill(written());
    }

    @Test
    void processesAreKilledThatPostAsFastAsTheyCan() {
        Random random = new Random(5);
        for (int kills = 0; kills < KILLS; kills++) {
            Forked.Running writer = start(Hurried.class);
            until(() -> {
                queue.progress();
                return writer.output().contains("posting");
            });
            LockSupport.parkNanos(1000L * random.nextInt(MOST_MICROSECONDS));
            kill(writer);
        }
        kill(written());
    }

    /** A process that has written, and writes no more. */
    private Forked.Running written() {
        region.segment().set(ValueLayout.JAVA_LONG, 0, 0);
        Forked.Running writer = start(ShmWatchTest.Writer.class);
        until(() -> {
            queue.progress();
            return writer.output().contains("written");
        });
        until(() -> {
            queue.progress();
            return region.segment().get(ValueLayout.JAVA_LONG, 0) == ShmWatchTest.Writer.VALUE;
        });
        return writer;
    }

    private Forked.Running start(Class<?> main) {
        return Forked.start(main, HexFormat.of().formatHex(endpoint.address().toBytes()),
                HexFormat.of().formatHex(region.remote().encode()));
    }

    private static void kill(Forked.Running writer) {
        writer.process().destroyForcibly();
        until(() -> !writer.process().isAlive());
    }

    private static void until(BooleanSupplier condition) {
        Waiting.YIELD.until(() -> {
            LockSupport.parkNanos(REST_NANOS);
            return condition.getAsBoolean();
        }, DEADLINE);
    }

    private static boolean isStopped(long process) {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
            return threads.allMatch(ShmClaimTest::isThreadStopped);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isThreadStopped(Path thread) {
        try {
            String facts = Files.readString(thread.resolve("stat"));
            return facts.charAt(facts.lastIndexOf(')') + 2) == 'T';
        } catch (IOException e) {
            return true; // that thread has ended
        }
    }

    /** As a process leaves the queue that is killed then; the place's number. Where places are not claimed, nothing. */
    private long claim() {
        if (!CLAIMS) {
            return 0;
        }
        long place = number(CLAIMED_AT);
        memory(file -> {
            file.seek(CLAIMED_AT);
            file.writeLong(Long.reverseBytes(place + 1));
        });
        return place;
    }

    private long number(int at) {
        long[] number = new long[1];
        memory(file -> {
            file.seek(at);
            number[0] = Long.reverseBytes(file.readLong());
        });
        return number[0];
    }

    /** What is done with the endpoint's file. */
    private interface Action {
        void on(RandomAccessFile file) throws IOException;
    }

    private void memory(Action action) {
        Path path = ShmFiles.find(endpoint.address().toBytes()).orElseThrow();
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            action.on(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Injects until it is killed. */
    static final class Hurried {
        private Hurried() {
        }

        public static void main(String[] arguments) {
            try (Fabric fabric = Libfabric.load().openFabric(TestProviders.info("shm"));
                    Domain domain = fabric.openDomain();
                    CompletionQueue queue = domain.openCompletionQueue();
                    AddressVector vector = domain.openAddressVector();
                    MemoryRegion source = domain.allocate(Long.BYTES, Access.WRITE);
                    Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                Peer peer = vector.insert(EndpointAddress.of(HexFormat.of().parseHex(arguments[0])));
                RemoteRegion remote = RemoteRegion.decode(HexFormat.of().parseHex(arguments[1]));
                endpoint.postTimeout(DEADLINE).rma().injectWrite(source, 0, Long.BYTES, peer, remote, 0);
                System.out.println("posting");
                while (true) {
                    endpoint.rma().tryInjectWrite(source, 0, Long.BYTES, peer, remote, 0);
                }
            }
        }
    }
}
