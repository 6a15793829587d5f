package io.ofi4j;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.Durability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Hook;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A save of messages comes back when those that receives have taken are in memory, and last. */
@Timeout(120)
class SaveMessagesTest {
    private static final int SLOT = 1 << 16;
    private static final int SLOTS = 64;
    private static final int CROWD = 100;
    private static final int[] LENGTHS = {8, 64, 1000, 4096, 9000, 20_000, SLOT};

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(Path.of("target", "save-messages-test-" + System.nanoTime()), new byte[SLOTS * SLOT]);
    }

    @AfterEach
    void delete() throws IOException { Files.delete(file); }

    private MemoryRegion inbox(Pair pair) throws IOException {
        return pair.domain.map(file, MapMode.READ_WRITE, 0, (long) SLOTS * SLOT, Access.RECEIVE, Access.REMOTE_WRITE,
                Access.REMOTE_READ);
    }

    /** What came before the save is looked at as soon as it comes back, while the owner has polled for as little as can be. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void messagesThatReceivesTakeAreThere(String provider) throws IOException {
        try (Pair pair = new Pair(SaveTest.hints(provider));
                SaveService service = pair.domain.openSaveService();
                MemoryRegion inbox = inbox(pair);
                MemoryRegion outbox = pair.domain.allocate(SLOT, Access.SEND)) {
            service.coverReceives(inbox);
            Messages messages = pair.endpoint.messages();
            messages.saveThrough(pair.far, service.ticket());
            for (int round = 1; round <= 10; round++) {
                for (int slot = 0; slot < SLOTS; slot++) {
                    pair.farEndpoint.messages().receive(inbox, (long) slot * SLOT, SLOT, 1);
                }
                outbox.segment().fill((byte) round);
                for (int slot = 0; slot < SLOTS; slot++) {
                    int length = LENGTHS[(round + slot / 8) % LENGTHS.length];
                    if (length <= messages.injectSize() && slot % 2 == 0) {
                        messages.inject(outbox, 0, length, pair.far);
                    } else {
                        messages.send(outbox, 0, length, pair.far, 1);
                    }
                }
                messages.save(pair.far, Durability.POWER_SAFE, 100 + round);
                await(pair, 100 + round);
                for (int slot = 0; slot < SLOTS; slot++) {
                    int length = LENGTHS[(round + slot / 8) % LENGTHS.length];
                    assertThat(inbox.segment().get(JAVA_BYTE, (long) slot * SLOT + length - 1))
                            .as("message %d of %d bytes in round %d", slot, length, round).isEqualTo((byte) round);
                }
                takeAll(pair);
            }
            assertThat(service.answered()).isEqualTo(10);
        }
    }

    /** Many short ones, which come while the owner is busy: a provider may hand them to their receives in polls. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCrowdOfShortMessagesIsThereBeforeTheAnswer(String provider) throws IOException {
        try (Pair owner = new Pair(SaveTest.hints(provider));
                Pair writer = new Pair(SaveTest.hints(provider));
                SaveService service = owner.domain.openSaveService();
                MemoryRegion inbox = inbox(owner);
                MemoryRegion outbox = writer.domain.allocate(SLOT, Access.SEND)) {
            service.coverReceives(inbox);
            Peer peer = writer.vector.insert(owner.farEndpoint.address());
            Messages messages = writer.endpoint.messages();
            messages.saveThrough(peer, service.ticket());
            for (int round = 0; round <= 20; round++) { // the first has no messages: the service is greeted
                int count = round * CROWD / 20;
                for (int slot = 0; slot < count; slot++) {
                    owner.farEndpoint.messages().receive(inbox, slot * 64L, 64, 1);
                }
                outbox.segment().set(JAVA_LONG, 0, round);
                for (int slot = 0; slot < count; slot++) {
                    messages.send(outbox, 0, 8, peer, 1);
                }
                messages.save(peer, Durability.PROCESS_SAFE, 100 + round);
                for (int poll = 0; poll < 200; poll++) {
                    writer.pollNear();
                }
                long before = service.answered();
                Waiting.YIELD.until(() -> {
                    writer.pollNear();
                    owner.farQueue.progress();
                    return service.answered() > before;
                }, Pair.DEADLINE);
                for (int slot = 0; slot < count; slot++) {
                    assertThat(inbox.segment().get(JAVA_LONG, slot * 64L)).as("message %d of round %d", slot, round)
                            .isEqualTo(round);
                }
                takeAll(owner);
                await(writer, 100 + round);
            }
        }
    }

    static Stream<String> unconnectedAtomics() { return SaveFormsTest.unconnectedAtomics(); }

    @ParameterizedTest
    @MethodSource("unconnectedAtomics")
    void aCrowdOfAtomicOperationsIsThere(String provider) throws IOException {
        FabricHints hints = TestProviders.atomicHints(provider).capabilities(Capability.ATOMIC, Capability.RMA,
                Capability.MSG);
        try (Pair pair = new Pair(hints);
                SaveService service = pair.domain.openSaveService();
                MemoryRegion target = inbox(pair);
                MemoryRegion operand = pair.domain.allocate(64, Access.WRITE)) {
            Atomics atomics = pair.endpoint.atomics();
            atomics.saveThrough(pair.far, service.ticket());
            operand.segment().set(JAVA_LONG, 0, 1);
            for (int round = 1; round <= 20; round++) {
                for (int one = 0; one < 100; one++) {
                    atomics.execute(AtomicOperation.SUM, Datatype.INT64, operand, 0, 1, pair.far, target.remote(), 0,
                            1);
                }
                atomics.save(pair.far, target.remote().slice(0, 64), Durability.PROCESS_SAFE, 100 + round);
                for (int poll = 0; poll < 200; poll++) {
                    pair.pollNear();
                }
                await(pair, 100 + round);
                assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(100L * round);
            }
        }
    }

    /** It is not waited for, or, over a stream that stands still until then, a receive must be posted first. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aMessageThatNoReceiveTakesIsNotCovered(String provider) throws IOException {
        try (Pair pair = new Pair(SaveTest.hints(provider));
                SaveService service = pair.domain.openSaveService();
                MemoryRegion inbox = inbox(pair);
                MemoryRegion outbox = pair.domain.allocate(64, Access.SEND)) {
            service.coverReceives(inbox);
            Messages messages = pair.endpoint.messages();
            messages.saveThrough(pair.far, service.ticket());
            outbox.segment().fill((byte) 1);
            messages.inject(outbox, 0, 64, pair.far);
            messages.save(pair.far, Durability.POWER_SAFE, 2);
            long start = System.nanoTime();
            while (!pair.completed.contains(2L) && System.nanoTime() - start < 1_000_000_000) {
                pair.poll();
            }
            assertThat(inbox.segment().get(JAVA_BYTE, 0)).isZero();
            boolean holdsUp = provider.equals("net") || provider.equals("tcp");
            assertThat(pair.completed.contains(2L) || holdsUp).isTrue();
            pair.farEndpoint.messages().receive(inbox, 0, SLOT, 3);
            if (!pair.completed.contains(2L)) { await(pair, 2); }
            messages.save(pair.far, Durability.POWER_SAFE, 4);
            await(pair, 4);
            assertThat(inbox.segment().get(JAVA_BYTE, 63)).isEqualTo((byte) 1);
        }
    }

    @Test
    void theCompletionSaysTheLowestLevelOfAllRegions() throws IOException {
        try (Pair pair = new Pair(SaveTest.hints("shm"));
                SaveService service = pair.domain.openSaveService();
                MemoryRegion inbox = inbox(pair)) {
            MemoryRegion plain = pair.domain.allocate(64, Access.RECEIVE);
            pair.endpoint.messages().saveThrough(pair.far, service.ticket());
            service.coverReceives(inbox);
            service.coverReceives(inbox);
            assertThat(level(pair, Durability.POWER_SAFE)).isEqualTo(Durability.POWER_SAFE);
            assertThat(level(pair, Durability.DELIVERED)).isEqualTo(Durability.PROCESS_SAFE);
            service.coverReceives(plain);
            assertThat(level(pair, Durability.DELIVERED)).isEqualTo(Durability.DELIVERED);
            pair.endpoint.messages().save(pair.far, Durability.PROCESS_SAFE, 6);
            assertThat(error(pair).errno()).isEqualTo(Errno.EOPNOTSUPP);
            plain.close();
            assertThat(level(pair, Durability.POWER_SAFE)).isEqualTo(Durability.POWER_SAFE);
        }
    }

    private static Durability level(Pair pair, Durability wanted) {
        long[] level = {-1};
        pair.endpoint.messages().save(pair.far, wanted, 5);
        Waiting.YIELD.until(() -> {
            pair.farQueue.progress();
            return pair.queue.poll((token, flags, length, data) -> level[0] = data, 1) > 0;
        }, Pair.DEADLINE);
        return Durability.values()[(int) level[0]];
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anOwnerWhoHasNamedNoRegionIsAnErrorOfTheSave(String provider) throws IOException {
        try (Pair pair = new Pair(SaveTest.hints(provider)); SaveService service = pair.domain.openSaveService()) {
            pair.endpoint.messages().saveThrough(pair.far, service.ticket());
            pair.endpoint.messages().save(pair.far, Durability.DELIVERED, 1);
            CompletionError none = error(pair);
            assertThat(none.errno()).isEqualTo(Errno.ENOKEY);
            assertThat(none.toException()).hasMessageContaining("coverReceives");
            MemoryRegion inbox = inbox(pair);
            service.coverReceives(inbox);
            inbox.close();
            pair.endpoint.messages().save(pair.far, Durability.DELIVERED, 2);
            assertThat(error(pair).errno()).isEqualTo(Errno.ENOKEY);
        }
    }

    @Test
    void everyThreadingModelSaves() throws IOException {
        for (ThreadingModel model : new ThreadingModel[]{ThreadingModel.DOMAIN, ThreadingModel.COMPLETION}) {
            for (String provider : TestProviders.rma().toList()) {
                try (Pair pair = new Pair(SaveTest.hints(provider).threading(model));
                        SaveService service = pair.domain.openSaveService();
                        MemoryRegion inbox = inbox(pair);
                        MemoryRegion outbox = pair.domain.allocate(64, Access.SEND)) {
                    service.coverReceives(inbox);
                    pair.endpoint.messages().saveThrough(pair.far, service.ticket());
                    pair.farEndpoint.messages().receive(inbox, 0, SLOT, 1);
                    outbox.segment().fill((byte) 5);
                    pair.endpoint.messages().send(outbox, 0, 64, pair.far, 1);
                    pair.endpoint.messages().save(pair.far, Durability.PROCESS_SAFE, 2);
                    await(pair, 2);
                    assertThat(inbox.segment().get(JAVA_BYTE, 63)).as(provider).isEqualTo((byte) 5);
                }
            }
        }
    }

    /** Behind a hook nothing is known of a provider, so that the owner must poll all queues. */
    @Test
    void queuesOfSeveralThreadsAreAnErrorOfTheSave() {
        Forked.Result result = Forked.run(SavesWhereQueuesHaveOwners.class);
        assertThat(result.output()).contains("errno " + Errno.EPERM, "several threads", "then saved");
        assertThat(result.exit()).isZero();
    }

    static final class SavesWhereQueuesHaveOwners {
        private SavesWhereQueuesHaveOwners() {}

        public static void main(String[] arguments) throws Exception {
            Libfabric.load(List.of(Hook.NOOP));
            try (Pair pair = new Pair(SaveTest.hints("shm").threading(ThreadingModel.COMPLETION));
                    SaveService service = pair.domain.openSaveService();
                    MemoryRegion inbox = pair.domain.allocate(64, Access.RECEIVE);
                    ExecutorService other = Executors.newSingleThreadExecutor()) {
                service.coverReceives(inbox);
                pair.endpoint.messages().saveThrough(pair.far, service.ticket());
                CompletionQueue its = other.submit(() -> pair.domain.openCompletionQueue()).get();
                pair.endpoint.messages().save(pair.far, Durability.DELIVERED, 1);
                CompletionError error = error(pair);
                System.out.println("errno " + error.errno() + " " + error.toException().getMessage());
                other.submit(its::close).get();
                pair.endpoint.messages().save(pair.far, Durability.DELIVERED, 2);
                pair.awaitToken(2);
                System.out.println("then saved");
            }
        }
    }

    @Test
    void whatCannotBeSavedIsRefusedByName() throws IOException {
        try (Pair pair = new Pair(SaveTest.hints("shm")); Pair other = new Pair(SaveTest.hints("shm"))) {
            Messages messages = pair.endpoint.messages();
            assertThatIllegalStateException().isThrownBy(() -> messages.save(pair.far, Durability.DELIVERED, 1))
                    .withMessageContaining("saveThrough");
            SaveService service = pair.domain.openSaveService();
            messages.saveThrough(pair.far, service.ticket());
            MemoryRegion foreign = other.domain.allocate(8, Access.RECEIVE);
            assertThatIllegalArgumentException().isThrownBy(() -> service.coverReceives(foreign))
                    .withMessageContaining("another domain");
            MemoryRegion sending = pair.domain.allocate(8, Access.SEND);
            assertThatIllegalArgumentException().isThrownBy(() -> service.coverReceives(sending))
                    .withMessageContaining("RECEIVE");
            MemoryRegion inbox = inbox(pair);
            inbox.close();
            assertThatIllegalStateException().isThrownBy(() -> service.coverReceives(inbox))
                    .withMessageContaining("closed");
            service.close();
            MemoryRegion open = pair.domain.allocate(8, Access.RECEIVE);
            assertThatIllegalStateException().isThrownBy(() -> service.coverReceives(open))
                    .withMessageContaining("SaveService");
            pair.vector.remove(pair.far);
            assertThatIllegalStateException().isThrownBy(() -> messages.save(pair.far, Durability.DELIVERED, 1))
                    .withMessageContaining("removed");
            sending.close();
            open.close();
            foreign.close();
        }
        try (Pair pair = new Pair(FabricHints.messages().provider("shm"))) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> pair.endpoint.messages().save(pair.far, Durability.DELIVERED, 1))
                    .withMessageContaining("Capability.RMA");
        }
    }

    private static CompletionError error(Pair pair) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return !pair.errors.isEmpty();
        }, Pair.DEADLINE);
        return pair.errors.removeFirst();
    }

    private static void await(Pair pair, long token) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return pair.completed.contains(token) || !pair.errors.isEmpty();
        }, Pair.DEADLINE);
        assertThat(pair.errors).isEmpty();
        pair.completed.clear();
    }

    /** Until no receive is in flight. */
    private static void takeAll(Pair pair) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return pair.farQueue.operationsInFlight() == 0;
        }, Pair.DEADLINE);
        assertThat(pair.farErrors).isEmpty();
    }
}
