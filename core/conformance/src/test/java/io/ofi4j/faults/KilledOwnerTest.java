package io.ofi4j.faults;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The owner of a region is killed while a peer writes and saves: every byte whose save came back is in the file. */
@Tag("gate")
@Timeout(900)
class KilledOwnerTest {
    /** Each has the number of the last write to it in all of its bytes. */
    private static final int SLOTS = 1024;
    private static final int SLOT = 512;
    private static final int WRITES_PER_SAVE = 4;
    private static final int KILLS = Integer.getInteger("ofi4j.save.kills", 1);

    private Path file;
    private Path acknowledged;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(Path.of("target", "killed-owner-" + System.nanoTime()), new byte[SLOTS * SLOT]);
        acknowledged = Files.write(Path.of("target", "killed-owner-saves-" + System.nanoTime()), new byte[8]);
    }

    @AfterEach
    void delete() throws IOException {
        Files.delete(file);
        Files.delete(acknowledged);
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void whatWasAcknowledgedIsInTheFile(String provider) throws Exception {
        Random random = TestSeed.random(provider);
        for (int kill = 0; kill < KILLS; kill++) {
            Files.write(file, new byte[SLOTS * SLOT]);
            Files.write(acknowledged, new byte[8]);
            Forked.Running owner = Forked.start(Owner.class, provider, file.toString());
            String[] ready = owner.awaitLine("ready ").split(" ");
            Forked.Running writer = Forked.start(Writer.class, provider, acknowledged.toString(), ready[0], ready[1],
                    ready[2]);
            long enough = 20 + random.nextInt(500);
            while (last(acknowledged, 0) < enough) {
                assertThat(writer.process().isAlive()).as(writer.output()).isTrue();
                assertThat(owner.process().isAlive()).as(owner.output()).isTrue();
                Thread.sleep(1);
            }
            kill(owner);
            kill(writer);
            assertAllIsThere(last(acknowledged, 0));
        }
    }

    private static void kill(Forked.Running running) throws InterruptedException {
        running.process().destroyForcibly();
        assertThat(running.process().waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private static long last(Path path, long at) throws IOException {
        try (Arena arena = Arena.ofConfined(); FileChannel channel = FileChannel.open(path)) {
            return channel.map(MapMode.READ_ONLY, 0, channel.size(), arena).get(JAVA_LONG, at);
        }
    }

    /** A slot that was written again, and not saved since, has that number or a later one. */
    private void assertAllIsThere(long number) throws IOException {
        try (Arena arena = Arena.ofConfined(); FileChannel channel = FileChannel.open(file)) {
            MemorySegment bytes = channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
            for (long one = Math.max(1, number - SLOTS + 1); one <= number; one++) {
                for (long at = one % SLOTS * SLOT; at < (one % SLOTS + 1) * SLOT; at += Long.BYTES) {
                    assertThat(bytes.get(JAVA_LONG, at)).as("write %d of %d", one, number).isGreaterThanOrEqualTo(one);
                }
            }
        }
    }

    private static Domain domain(String provider) {
        Libfabric libfabric = Libfabric.load();
        return libfabric
                .openFabric(
                        TestProviders.info(TestProviders.hints(provider).capabilities(Capability.RMA, Capability.MSG)))
                .openDomain();
    }

    /** Arguments: the provider and the file. It polls until it is killed. */
    static final class Owner {
        public static void main(String[] arguments) throws IOException {
            Domain domain = domain(arguments[0]);
            MemoryRegion region = domain.map(Path.of(arguments[1]), MapMode.READ_WRITE, 0, SLOTS * SLOT,
                    Access.REMOTE_WRITE);
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector vector = domain.openAddressVector();
            Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            SaveService service = new SaveService(domain);
            HexFormat hex = HexFormat.of();
            System.out.println("ready " + hex.formatHex(endpoint.address().toBytes()) + " "
                    + hex.formatHex(region.remote().encode()) + " " + hex.formatHex(service.ticket().encode()));
            while (true) {
                service.progress();
                queue.poll((token, flags, length, data) -> {}, 64);
            }
        }
    }

    /**
     * Arguments: the provider, the file for the number of the last save, and the owner's address, region and ticket.
     */
    static final class Writer implements CompletionHandler {
        private final MemorySegment saved;
        private long newest;
        private long oldest;

        private Writer(MemorySegment saved) { this.saved = saved; }

        public static void main(String[] arguments) throws IOException {
            HexFormat hex = HexFormat.of();
            Domain domain = domain(arguments[0]);
            CompletionQueue queue = domain.openCompletionQueue();
            AddressVector vector = domain.openAddressVector();
            Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            Peer peer = vector.insert(EndpointAddress.of(hex.parseHex(arguments[2])));
            Saver saver = new Saver(domain, endpoint, queue);
            saver.saveThrough(peer, SaveService.Ticket.decode(hex.parseHex(arguments[4])));
            try (FileChannel channel = FileChannel.open(Path.of(arguments[1]), StandardOpenOption.READ,
                    StandardOpenOption.WRITE)) {
                new Writer(channel.map(MapMode.READ_WRITE, 0, Long.BYTES, Arena.global())).run(endpoint.rma(), saver,
                        peer, RemoteRegion.decode(hex.parseHex(arguments[3])),
                        domain.allocate(SLOTS * SLOT, Access.WRITE));
            }
        }

        private void run(Rma rma, Saver saver, Peer peer, RemoteRegion region, MemoryRegion source) {
            while (true) {
                newest++;
                long at = newest % SLOTS * SLOT;
                for (long byteAt = at; byteAt < at + SLOT; byteAt += Long.BYTES) {
                    source.segment().set(JAVA_LONG, byteAt, newest);
                }
                poll(saver, () -> rma.tryWrite(source, at, SLOT, peer, region, at, 0));
                if (newest % WRITES_PER_SAVE == 0) {
                    poll(saver, () -> saver.trySave(peer, region, Durability.PROCESS_SAFE, newest));
                }
                while (newest - oldest > SLOTS / 2) { // a slot is free once its save has come back
                    saver.poll(this, 64);
                }
                saver.poll(this, 64);
            }
        }

        /** Not in the waiting form: the queue may be full of completions that only a poll takes. */
        private void poll(Saver saver, BooleanSupplier posted) {
            while (!posted.getAsBoolean()) {
                saver.poll(this, 64);
            }
        }

        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (token > 0) {
                oldest = token;
                saved.set(JAVA_LONG, 0, token);
            }
        }

        @Override
        public void onError(CompletionError error) { throw error.toException(); }
    }
}
