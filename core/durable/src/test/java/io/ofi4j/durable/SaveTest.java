package io.ofi4j.durable;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.MemoryKind;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A save comes back when what was written before it is in the owner's memory, and lasts as long as was asked for. */
@Tag("gate")
@Timeout(600)
class SaveTest {
    private static final int LENGTH = 1 << 20;
    private static final int BLOCK = 4096;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(Path.of("target", "save-test-" + System.nanoTime()), new byte[LENGTH]);
    }

    @AfterEach
    void delete() throws IOException { Files.delete(file); }

    /** Writes of every form and length, and the token of one save. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void allThatWasWrittenBeforeIsThere(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE)) {
            pair.saver.saveThrough(pair.far, SaveService.Ticket.decode(pair.service.ticket().encode()));
            for (int round = 1; round <= 20; round++) {
                for (long at = 0; at < LENGTH; at += Long.BYTES) {
                    source.segment().set(JAVA_LONG, at, round);
                }
                pair.rma().write(source.slice(0, LENGTH / 2), pair.far, target.remote(), 1);
                pair.rma().write(source.slice(LENGTH / 2, LENGTH / 4), pair.far,
                        target.remote().slice(LENGTH / 2, LENGTH / 4), 2);
                pair.rma().injectWrite(source.slice(3L * LENGTH / 4, Long.BYTES), pair.far,
                        target.remote().slice(3L * LENGTH / 4, Long.BYTES));
                pair.saver.save(pair.far, target.remote(), Durability.POWER_SAFE, 100 + round);
                pair.await(100 + round);
                for (long at : new long[]{0, LENGTH / 2 - 8, LENGTH / 2, 3L * LENGTH / 4 - 8, 3L * LENGTH / 4}) {
                    assertThat(target.segment().get(JAVA_LONG, at)).as("at %d", at).isEqualTo(round);
                }
            }
            assertThat(pair.service.answered()).isEqualTo(20);
        }
    }

    /** The kernel counts the pages of a mapping that it has to write yet. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSaveForALossOfPowerLeavesNothingToWrite(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion source = pair.domain.allocate(LENGTH, Access.WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            source.segment().fill((byte) 7);
            pair.rma().write(source.slice(0, LENGTH), pair.far, target.remote(), 1);
            pair.saver.save(pair.far, target.remote(), Durability.PROCESS_SAFE, 2);
            pair.await(2);
            assumeThat(unwrittenKilobytes(target)).as("nobody else has had the pages written").isPositive();

            pair.saver.save(pair.far, target.remote(), Durability.POWER_SAFE, 3);
            pair.await(3);

            assertThat(unwrittenKilobytes(target)).isZero();
        }
    }

    private static long unwrittenKilobytes(MemoryRegion region) throws IOException {
        String start = Long.toHexString(region.segment().address()) + "-";
        List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
        int first = lines.indexOf(lines.stream().filter(line -> line.startsWith(start)).findFirst().orElseThrow());
        return lines.stream().skip(first + 1L).takeWhile(line -> line.matches("[A-Z]\\w*:.*"))
                .filter(line -> line.contains("_Dirty:")).mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }

    /** Its bytes are not lost: another region of the same file can be saved. */
    @Test
    void aSaveOfMemoryThatIsConfinedToAnotherThreadSaysSo() throws Exception {
        try (Arena confined = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Saving pair = new Saving(Saving.hints("shm").threading(ThreadingModel.SAFE));
                MemoryRegion target = pair.domain.register(channel.map(MapMode.READ_WRITE, 0, LENGTH, confined),
                        Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.service.start();

            pair.saver.save(pair.far, target.remote(), Durability.POWER_SAFE, 1);

            Waiting.YIELD.until(() -> {
                pair.pollNear();
                return !pair.errors.isEmpty();
            }, Pair.DEADLINE);
            assertThat(pair.errors.getFirst().errno()).isEqualTo(13); // EACCES
            assertThat(pair.errors.getFirst().toString()).contains("confined to another thread");
            assertThat(pair.service.failure()).isEmpty();
        }
    }

    /** It comes back with the level, as any other does: there is nothing that it would have to wait for. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSaveByAnEndpointThatNeverWroteComesBack(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion plain = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            assertThat(level(pair, target.remote(), Durability.POWER_SAFE)).isEqualTo(Durability.POWER_SAFE);
            assertThat(level(pair, target.remote().slice(0, 0), Durability.POWER_SAFE))
                    .isEqualTo(Durability.POWER_SAFE);
            assertThat(level(pair, plain.remote(), Durability.DELIVERED)).isEqualTo(Durability.DELIVERED);
            assertThat(pair.service.answered()).isEqualTo(3);
            assertThat(plain.getLongAcquire(0)).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void savesOfAStreamComeBackOnceEach(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion source = pair.domain.allocate(BLOCK, Access.WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            RemoteRegion remote = target.remote();
            List<Long> saves = new ArrayList<>();
            for (int block = 0; block < LENGTH / BLOCK; block++) {
                pair.rma().write(source.slice(0, BLOCK), pair.far, remote.slice((long) block * BLOCK, BLOCK), 1);
                if (block % 4 == 3) {
                    saves.add(1_000L + block);
                    pair.saver.save(pair.far, remote.slice((block - 3L) * BLOCK, 4L * BLOCK), Durability.PROCESS_SAFE,
                            1_000L + block);
                }
            }
            Waiting.YIELD.until(() -> {
                pair.poll();
                return pair.completed.size() + pair.errors.size() >= saves.size() + LENGTH / BLOCK;
            }, Pair.DEADLINE);
            assertThat(pair.errors).isEmpty();
            assertThat(pair.completed).filteredOn(token -> token != 1).containsExactlyInAnyOrderElementsOf(saves);
        }
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingModel.class, names = {"SAFE", "DOMAIN", "COMPLETION"})
    void everyThreadingModelSaves(ThreadingModel model) throws IOException {
        for (String provider : TestProviders.rma().toList()) {
            try (Saving pair = new Saving(Saving.hints(provider).threading(model));
                    MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                    MemoryRegion source = pair.domain.allocate(BLOCK, Access.WRITE)) {
                pair.saver.saveThrough(pair.far, pair.service.ticket());
                source.segment().fill((byte) 7);
                pair.rma().write(source.slice(0, BLOCK), pair.far, target.remote(), 1);
                pair.saver.save(pair.far, target.remote().slice(0, BLOCK), Durability.POWER_SAFE, 2);
                pair.await(2);
                assertThat(target.segment().get(JAVA_LONG, BLOCK - 8)).as(provider).isEqualTo(0x0707070707070707L);
            }
        }
    }

    @Test
    void aSaverThatAnotherThreadOpensLeavesNothingOpen() throws InterruptedException {
        try (Pair pair = new Pair(Saving.hints("shm").threading(ThreadingModel.COMPLETION))) {
            List<Throwable> thrown = new ArrayList<>();
            Thread other = new Thread(() -> {
                try {
                    new Saver(pair.domain, pair.endpoint, pair.queue);
                } catch (WrongThreadException e) {
                    thrown.add(e);
                }
            });
            other.start();
            other.join();

            assertThat(thrown).hasSize(1);
        } // which closes the domain
    }

    /** More of them than the service has places for messages. */
    @ParameterizedTest
    @MethodSource("reliableBelow")
    void saversOfTheSameProcessComeAndGo(String provider) { comeAndGo(provider); }

    /** Lost datagrams are sent again after a time: on a busy machine that may take longer than the deadline. */
    @Test
    @Tag("long")
    void saversOfTheSameProcessComeAndGoOverDatagrams() { comeAndGo("udp;ofi_rxd"); }

    static Stream<String> reliableBelow() {
        return TestProviders.rma().filter(provider -> !provider.endsWith(";ofi_rxd"));
    }

    private static void comeAndGo(String provider) {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion plain = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            for (int one = 0; one < 70; one++) {
                boolean[] saved = {false};
                try (Saver saver = new Saver(pair.domain, pair.endpoint, pair.pair.queue)) {
                    saver.saveThrough(pair.far, pair.service.ticket());
                    saver.save(pair.far, plain.remote(), Durability.DELIVERED, 5);
                    Waiting.YIELD.until(() -> {
                        saver.poll((token, flags, length, data) -> saved[0] |= token == 5, 16);
                        pair.pollFar();
                        return saved[0];
                    }, Pair.DEADLINE);
                }
                pair.pollFar();
            }
            assertThat(pair.service.answered()).isEqualTo(70);
        }
    }

    /** Its thread may not wait for itself. */
    @Test
    @Timeout(300)
    void aPauseMayCloseItsService() {
        try (Saving pair = new Saving(Saving.hints("shm"))) {
            AtomicBoolean isClosed = new AtomicBoolean();
            pair.service.start(turn -> {
                pair.service.close();
                isClosed.set(true);
            });
            Waiting.YIELD.until(isClosed::get, Pair.DEADLINE);

            assertThat(pair.service.failure()).isEmpty();
            assertThatIllegalStateException().isThrownBy(pair.service::progress).withMessageContaining("is closed");
        }
    }

    /** As a pause that blocks does. */
    @Test
    @Timeout(300)
    void anInterruptDoesNotEndTheThreadOfAService() {
        try (Saving pair = new Saving(Saving.hints("shm"))) {
            AtomicInteger pauses = new AtomicInteger();
            pair.service.start(turn -> {
                pauses.incrementAndGet();
                Thread.currentThread().interrupt();
                throw new FabricException("the pause was interrupted", "poll", 4);
            });
            Waiting.YIELD.until(() -> pauses.get() > 100 || pair.service.failure().isPresent(), Pair.DEADLINE);

            assertThat(pair.service.failure()).isEmpty();
        }
    }

    @Test
    void aQueueThatReportsNoWriteIsRefused() {
        try (Saving pair = new Saving(Saving.hints("shm")); Pair other = new Pair("shm")) {
            for (CompletionQueue wrong : List.of(pair.pair.farQueue, other.queue)) {
                assertThatIllegalArgumentException().isThrownBy(() -> new Saver(pair.domain, pair.endpoint, wrong))
                        .withMessageContaining("pass the queue that is bound to the endpoint for transmits");
            }
        }
    }

    @Test
    void theCompletionSaysTheLevel() throws IOException {
        try (Saving pair = new Saving(Saving.hints("shm"));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion plain = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            assertThat(level(pair, target.remote(), Durability.POWER_SAFE)).isEqualTo(Durability.POWER_SAFE);
            assertThat(level(pair, target.remote(), Durability.DELIVERED)).isEqualTo(Durability.PROCESS_SAFE);
            assertThat(level(pair, plain.remote(), Durability.DELIVERED)).isEqualTo(Durability.DELIVERED);
        }
    }

    private static Durability level(Saving pair, RemoteRegion region, Durability wanted) {
        pair.saver.save(pair.far, region, wanted, 5);
        return pair.awaitLevel();
    }

    /** The owner's program is busy, and the writer waits. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aThreadOfTheServiceServesWritersThatAwait(String provider) throws IOException {
        try (Saving owner = new Saving(Saving.hints(provider));
                Saving writer = new Saving(Saving.hints(provider));
                MemoryRegion target = owner.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion source = writer.domain.allocate(BLOCK, Access.WRITE)) {
            owner.service.start();
            Peer peer = writer.pair.vector.insert(owner.farEndpoint.address());
            writer.saver.saveThrough(peer, owner.service.ticket());
            source.segment().fill((byte) 1);
            writer.rma().write(source.slice(0, BLOCK), peer, target.remote().slice(BLOCK, BLOCK), 1);
            writer.saver.save(peer, target.remote(), Durability.POWER_SAFE, 2);
            List<Long> tokens = new ArrayList<>();
            while (!tokens.contains(2L)) {
                int count = writer.saver.await((token, flags, length, data) -> tokens.add(token), 1, Pair.DEADLINE);
                assertThat(count).isPositive();
            }
            assertThat(target.segment().get(JAVA_LONG, BLOCK)).isEqualTo(0x0101010101010101L);
            assertThat(owner.service.failure()).isEmpty();
            assertThatIllegalStateException().isThrownBy(owner.service::start).withMessageContaining("thread already");
        }
    }

    @Test
    void aRegionThatIsGoneIsAnErrorOfTheSave() throws IOException {
        for (String provider : TestProviders.rma().toList()) {
            try (Saving pair = new Saving(Saving.hints(provider))) {
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                RemoteRegion remote = target.remote();
                pair.saver.saveThrough(pair.far, pair.service.ticket());
                target.close();
                pair.saver.save(pair.far, remote, Durability.POWER_SAFE, 3);
                assertThat(pair.awaitError().errno()).as(provider).isEqualTo(Errno.ENOKEY);
            }
        }
    }

    @Test
    void theOwnerChecksWhatItIsAskedFor() throws IOException {
        try (Saving pair = new Saving(Saving.hints("shm"));
                MemoryRegion plain = pair.domain.allocate(64, Access.REMOTE_WRITE);
                MemoryRegion readable = pair.domain.allocate(64, Access.REMOTE_READ)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            RemoteRegion there = plain.remote();
            long right = Access.REMOTE_WRITE.bit();
            pair.saver.save(pair.far, new RemoteRegion(there.base(), 64, there.key(), right, MemoryKind.FILE),
                    Durability.POWER_SAFE, 3);
            assertThat(pair.awaitError().errno()).isEqualTo(Errno.EOPNOTSUPP);
            pair.saver.save(pair.far, new RemoteRegion(there.base() + 1, 64, there.key(), right), Durability.DELIVERED,
                    4);
            assertThat(pair.awaitError().errno()).isEqualTo(Errno.EINVAL);
            pair.saver.save(pair.far, new RemoteRegion(readable.remote().base(), 64, readable.remote().key(), right),
                    Durability.DELIVERED, 5);
            assertThat(pair.awaitError().errno()).isEqualTo(Errno.EKEYREJECTED);
        }
    }

    /** Whatever comes to the service, be it nearly right: those who know the secret are served after it. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void strangeMessagesLeaveTheServiceAlone(String provider) throws IOException {
        Random random = TestSeed.random(provider);
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion target = pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, Access.REMOTE_WRITE);
                MemoryRegion body = pair.domain.allocate(512, Access.SEND)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            Peer stranger = pair.pair.vector.insert(pair.service.ticket().address());
            for (int message = 0; message < 100; message++) {
                byte[] bytes = new byte[64 + random.nextInt(448)];
                random.nextBytes(bytes);
                ByteBuffer.wrap(bytes).putInt(0x4f464953).putInt(1 << 16 | random.nextInt(7)).putLong(random.nextInt(4))
                        .putLong(random.nextInt(4)).putLong(random.nextBoolean() ? bytes.length - 64 : 0);
                body.segment().asByteBuffer().put(bytes);
                pair.endpoint.messages().send(body.slice(0, bytes.length), stranger, 1);
                pair.await(1);
            }
            pair.saver.save(pair.far, target.remote(), Durability.PROCESS_SAFE, 2);
            pair.await(2);
            assertThat(pair.service.failure()).isEmpty();
            assertThat(pair.service.answered()).isEqualTo(1);
        }
    }

    @Test
    void whatCannotLastIsRefusedBeforeAnythingIsSent() {
        try (Saving pair = new Saving(Saving.hints("shm"));
                MemoryRegion plain = pair.domain.allocate(64, Access.REMOTE_WRITE);
                MemoryRegion readable = pair.domain.allocate(64, Access.REMOTE_READ)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 1))
                    .withMessageContaining("saveThrough");
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> pair.saver.save(pair.far, plain.remote(), Durability.PROCESS_SAFE, 1))
                    .withMessageContaining("ANONYMOUS");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> pair.saver.save(pair.far, readable.remote(), Durability.DELIVERED, 1))
                    .withMessageContaining("REMOTE_WRITE");
            pair.pair.vector.remove(pair.far);
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 1))
                    .withMessageContaining("removed");
            assertThat(pair.service.answered()).isZero();
        }
    }

    @Test
    void withoutMessagesOrWithConnectionsThereIsNoService() {
        try (Pair pair = new Pair("shm")) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> new SaveService(pair.domain)).withMessageContaining("Capability.MSG");
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> new Saver(pair.domain, pair.endpoint, pair.queue))
                    .withMessageContaining("Capability.MSG");
        }
        try (Pair pair = new Pair("MSG tcp")) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> new SaveService(pair.domain)).withMessageContaining("unconnected");
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> new Saver(pair.domain, pair.endpoint, pair.queue))
                    .withMessageContaining("unconnected");
        }
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSaverThatClosesCancelsItsSaves(String provider) {
        List<CompletionError> errors = new ArrayList<>();
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion plain = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            for (int token = 0; token < 64; token++) {
                pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, token);
            }
            assertThat(pair.saver.trySave(pair.far, plain.remote(), Durability.DELIVERED, 64)).isFalse();
            pair.saver.close();
            pair.endpoint.close();
            Waiting.YIELD.until(() -> {
                pair.pollNear();
                return pair.completed.size() + pair.errors.size() == 64;
            }, Pair.DEADLINE);
            errors.addAll(pair.errors);
        }
        assertThat(errors).allMatch(error -> error.errno() == Errno.ECANCELED).isNotEmpty();
    }

    /** Its flushes are operations of the endpoint, and end with it. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anEndpointThatClosesCancelsSavesWhoseFlushItTakesAway(String provider) {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion plain = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            int accepted = 0;
            while (accepted < 16 && pair.saver.trySave(pair.far, plain.remote(), Durability.DELIVERED, accepted)) {
                accepted++;
            }
            pair.endpoint.close();
            int saves = accepted;
            Waiting.YIELD.until(() -> {
                pair.poll();
                return pair.completed.size() + pair.errors.size() == saves;
            }, Pair.DEADLINE);
            assertThat(pair.errors).allMatch(error -> error.errno() == Errno.ECANCELED);
        }
    }
}
