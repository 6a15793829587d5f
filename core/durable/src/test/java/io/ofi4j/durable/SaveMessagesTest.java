package io.ofi4j.durable;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.Access;
import io.ofi4j.Atomics;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Hook;
import io.ofi4j.info.ThreadingModel;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A save of messages comes back when those that receives have taken are in memory, and last. */
@Tag("gate")
@Timeout(600)
class SaveMessagesTest {
    private static final int SLOT = 1 << 16;
    private static final int SLOTS = 64;
    private static final int CROWD = 100;
    /** More than a message or a save needs. */
    private static final int POLLS = 10_000;
    private static final int[] LENGTHS = {8, 64, 1000, 4096, 9000, 20_000, SLOT};

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(Path.of("target", "save-messages-test-" + System.nanoTime()), new byte[SLOTS * SLOT]);
    }

    @AfterEach
    void delete() throws IOException { Files.delete(file); }

    private MemoryRegion inbox(Saving pair) throws IOException {
        return pair.domain.map(file, MapMode.READ_WRITE, 0, (long) SLOTS * SLOT, Access.RECEIVE, Access.REMOTE_WRITE,
                Access.REMOTE_READ);
    }

    /**
     * What came before the save is looked at as soon as it comes back, while the owner has polled for as little as can
     * be.
     */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void messagesThatReceivesTakeAreThere(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion inbox = inbox(pair);
                MemoryRegion outbox = pair.domain.allocate(SLOT, Access.SEND)) {
            pair.service.coverReceives(inbox);
            Messages messages = pair.endpoint.messages();
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            for (int round = 1; round <= 10; round++) {
                for (int slot = 0; slot < SLOTS; slot++) {
                    pair.farEndpoint.messages().receive(inbox.slice((long) slot * SLOT, SLOT), 1);
                }
                outbox.segment().fill((byte) round);
                for (int slot = 0; slot < SLOTS; slot++) {
                    int length = LENGTHS[(round + slot / 8) % LENGTHS.length];
                    if (length <= messages.injectSize() && slot % 2 == 0) {
                        messages.inject(outbox.slice(0, length), pair.far);
                    } else {
                        messages.send(outbox.slice(0, length), pair.far, 1);
                    }
                }
                pair.saver.saveMessages(pair.far, Durability.POWER_SAFE, 100 + round);
                pair.await(100 + round);
                for (int slot = 0; slot < SLOTS; slot++) {
                    int length = LENGTHS[(round + slot / 8) % LENGTHS.length];
                    assertThat(inbox.segment().get(JAVA_BYTE, (long) slot * SLOT + length - 1))
                            .as("message %d of %d bytes in round %d", slot, length, round).isEqualTo((byte) round);
                }
                takeAll(pair);
            }
            assertThat(pair.service.answered()).isEqualTo(10);
        }
    }

    /** Many short ones, which come while the owner is busy: a provider may hand them to their receives in polls. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aCrowdOfShortMessagesIsThereBeforeTheAnswer(String provider) throws IOException {
        try (Saving owner = new Saving(Saving.hints(provider));
                Saving writer = new Saving(Saving.hints(provider));
                MemoryRegion inbox = inbox(owner);
                MemoryRegion outbox = writer.domain.allocate(SLOT, Access.SEND)) {
            owner.service.coverReceives(inbox);
            Peer peer = writer.pair.vector.insert(owner.farEndpoint.address());
            Messages messages = writer.endpoint.messages();
            writer.saver.saveThrough(peer, owner.service.ticket());
            for (int round = 0; round <= 20; round++) { // the first has no messages: the service is greeted
                int count = round * CROWD / 20;
                for (int slot = 0; slot < count; slot++) {
                    owner.farEndpoint.messages().receive(inbox.slice(slot * 64L, 64), 1);
                }
                outbox.segment().set(JAVA_LONG, 0, round);
                for (int slot = 0; slot < count; slot++) {
                    messages.send(outbox.slice(0, 8), peer, 1);
                }
                writer.saver.saveMessages(peer, Durability.PROCESS_SAFE, 100 + round);
                for (int poll = 0; poll < 200; poll++) {
                    writer.pollNear();
                }
                long before = owner.service.answered();
                Waiting.YIELD.until(() -> {
                    writer.pollNear();
                    owner.pair.farQueue.progress();
                    owner.service.progress();
                    return owner.service.answered() > before;
                }, Pair.DEADLINE);
                for (int slot = 0; slot < count; slot++) {
                    assertThat(inbox.segment().get(JAVA_LONG, slot * 64L)).as("message %d of round %d", slot, round)
                            .isEqualTo(round);
                }
                takeAll(owner);
                writer.await(100 + round);
            }
        }
    }

    static Stream<String> unconnectedAtomics() { return SaveFormsTest.unconnectedAtomics(); }

    @ParameterizedTest
    @MethodSource("unconnectedAtomics")
    void aCrowdOfAtomicOperationsIsThere(String provider) throws IOException {
        FabricHints hints = TestProviders.atomicHints(provider).capabilities(Capability.ATOMIC, Capability.RMA,
                Capability.MSG);
        try (Saving pair = new Saving(hints);
                MemoryRegion target = inbox(pair);
                MemoryRegion operand = pair.domain.allocate(64, Access.WRITE)) {
            Atomics atomics = pair.endpoint.atomics();
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            operand.segment().set(JAVA_LONG, 0, 1);
            for (int round = 1; round <= 20; round++) {
                for (int one = 0; one < 100; one++) {
                    atomics.execute(AtomicOperation.SUM, Datatype.INT64, operand.slice(0, 8), pair.far, target.remote(),
                            1);
                }
                pair.saver.save(pair.far, target.remote().slice(0, 64), Durability.PROCESS_SAFE, 100 + round);
                for (int poll = 0; poll < 200; poll++) {
                    pair.pollNear();
                }
                pair.await(100 + round);
                assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(100L * round);
            }
        }
    }

    /** It is not waited for, or, over a stream that stands still until then, a receive must be posted first. */
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aMessageThatNoReceiveTakesIsNotCovered(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion inbox = inbox(pair);
                MemoryRegion outbox = pair.domain.allocate(64, Access.SEND)) {
            pair.service.coverReceives(inbox);
            Messages messages = pair.endpoint.messages();
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            outbox.segment().fill((byte) 1);
            messages.inject(outbox.slice(0, 64), pair.far);
            pair.saver.saveMessages(pair.far, Durability.POWER_SAFE, 2);
            boolean holdsUp = provider.equals("net") || provider.equals("tcp");
            if (holdsUp) {
                for (int poll = 0; poll < POLLS; poll++) {
                    pair.poll();
                }
            } else {
                pair.await(2);
            }
            assertThat(inbox.segment().get(JAVA_BYTE, 0)).isZero();
            pair.farEndpoint.messages().receive(inbox.slice(0, SLOT), 3);
            if (holdsUp) { pair.await(2); }
            pair.saver.saveMessages(pair.far, Durability.POWER_SAFE, 4);
            pair.await(4);
            assertThat(inbox.segment().get(JAVA_BYTE, 63)).isEqualTo((byte) 1);
        }
    }

    @Test
    void theCompletionSaysTheLowestLevelOfAllRegions() throws IOException {
        try (Saving pair = new Saving(Saving.hints("shm")); MemoryRegion inbox = inbox(pair)) {
            MemoryRegion plain = pair.domain.allocate(64, Access.RECEIVE);
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.service.coverReceives(inbox);
            pair.service.coverReceives(inbox);
            assertThat(level(pair, Durability.POWER_SAFE)).isEqualTo(Durability.POWER_SAFE);
            assertThat(level(pair, Durability.DELIVERED)).isEqualTo(Durability.PROCESS_SAFE);
            pair.service.coverReceives(plain);
            assertThat(level(pair, Durability.DELIVERED)).isEqualTo(Durability.DELIVERED);
            pair.saver.saveMessages(pair.far, Durability.PROCESS_SAFE, 6);
            assertThat(pair.awaitError().errno()).isEqualTo(Errno.EOPNOTSUPP);
            plain.close();
            assertThat(level(pair, Durability.POWER_SAFE)).isEqualTo(Durability.POWER_SAFE);
        }
    }

    private static Durability level(Saving pair, Durability wanted) {
        pair.saver.saveMessages(pair.far, wanted, 5);
        return pair.awaitLevel();
    }

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anOwnerWhoHasNamedNoRegionIsAnErrorOfTheSave(String provider) throws IOException {
        try (Saving pair = new Saving(Saving.hints(provider))) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.saveMessages(pair.far, Durability.DELIVERED, 1);
            CompletionError none = pair.awaitError();
            assertThat(none.errno()).isEqualTo(Errno.ENOKEY);
            assertThat(none.toException()).hasMessageContaining("coverReceives");
            MemoryRegion inbox = inbox(pair);
            pair.service.coverReceives(inbox);
            inbox.close();
            pair.saver.saveMessages(pair.far, Durability.DELIVERED, 2);
            assertThat(pair.awaitError().errno()).isEqualTo(Errno.ENOKEY);
        }
    }

    @Test
    void everyThreadingModelSaves() throws IOException {
        for (ThreadingModel model : new ThreadingModel[]{ThreadingModel.DOMAIN, ThreadingModel.COMPLETION}) {
            for (String provider : TestProviders.rma().toList()) {
                try (Saving pair = new Saving(Saving.hints(provider).threading(model));
                        MemoryRegion inbox = inbox(pair);
                        MemoryRegion outbox = pair.domain.allocate(64, Access.SEND)) {
                    pair.service.coverReceives(inbox);
                    pair.saver.saveThrough(pair.far, pair.service.ticket());
                    pair.farEndpoint.messages().receive(inbox.slice(0, SLOT), 1);
                    outbox.segment().fill((byte) 5);
                    pair.endpoint.messages().send(outbox.slice(0, 64), pair.far, 1);
                    pair.saver.saveMessages(pair.far, Durability.PROCESS_SAFE, 2);
                    pair.await(2);
                    assertThat(inbox.segment().get(JAVA_BYTE, 63)).as(provider).isEqualTo((byte) 5);
                }
            }
        }
    }

    /** Behind a hook little is known of a provider, so that the owner must poll all queues. */
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
            try (Saving pair = new Saving(Saving.hints("shm").threading(ThreadingModel.COMPLETION));
                    MemoryRegion inbox = pair.domain.allocate(64, Access.RECEIVE);
                    ExecutorService other = Executors.newSingleThreadExecutor()) {
                pair.service.coverReceives(inbox);
                pair.saver.saveThrough(pair.far, pair.service.ticket());
                CompletionQueue its = other.submit(() -> pair.domain.openCompletionQueue()).get();
                pair.saver.saveMessages(pair.far, Durability.DELIVERED, 1);
                CompletionError error = pair.awaitError();
                System.out.println("errno " + error.errno() + " " + error.toException().getMessage());
                other.submit(its::close).get();
                pair.saver.saveMessages(pair.far, Durability.DELIVERED, 2);
                pair.await(2);
                System.out.println("then saved");
            }
        }
    }

    @Test
    void whatCannotBeSavedIsRefusedByName() throws IOException {
        try (Saving pair = new Saving(Saving.hints("shm")); Saving other = new Saving(Saving.hints("shm"))) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.saver.saveMessages(pair.far, Durability.DELIVERED, 1))
                    .withMessageContaining("saveThrough");
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            MemoryRegion foreign = other.domain.allocate(8, Access.RECEIVE);
            assertThatIllegalArgumentException().isThrownBy(() -> pair.service.coverReceives(foreign))
                    .withMessageContaining("another domain");
            MemoryRegion sending = pair.domain.allocate(8, Access.SEND);
            assertThatIllegalArgumentException().isThrownBy(() -> pair.service.coverReceives(sending))
                    .withMessageContaining("RECEIVE");
            MemoryRegion inbox = inbox(pair);
            inbox.close();
            assertThatIllegalStateException().isThrownBy(() -> pair.service.coverReceives(inbox))
                    .withMessageContaining("closed");
            pair.service.close();
            MemoryRegion open = pair.domain.allocate(8, Access.RECEIVE);
            assertThatIllegalStateException().isThrownBy(() -> pair.service.coverReceives(open))
                    .withMessageContaining("SaveService");
            assertThatIllegalStateException().isThrownBy(pair.service::progress).withMessageContaining("closed");
            pair.pair.vector.remove(pair.far);
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.saver.saveMessages(pair.far, Durability.DELIVERED, 1))
                    .withMessageContaining("removed");
            sending.close();
            open.close();
            foreign.close();
        }
        try (Pair pair = new Pair(FabricHints.messages().provider("shm"))) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> new Saver(pair.domain, pair.endpoint, pair.queue))
                    .withMessageContaining("Capability.RMA");
        }
    }

    /** Until no receive is in flight. */
    private static void takeAll(Saving pair) {
        Waiting.YIELD.until(() -> {
            pair.poll();
            return pair.pair.farQueue.operationsInFlight() == 0;
        }, Pair.DEADLINE);
        assertThat(pair.farErrors).isEmpty();
    }
}
