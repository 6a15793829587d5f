package io.ofi4j.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.durable.SaveMessage.Field;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Pair;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/** What a saver makes of answers: of those that do not come, that come from another, or while it waits. */
@Tag("gate")
class AnswersTest {
    private static final int LENGTH = 64;
    private static final int MANY = Saver.MAX_SAVES + 10;
    private static final int FORGED = 500;
    private static final int ID_SHIFT = 8;

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aSaveThatWaitsForRoomIsAcceptedOnceOthersAreDone(String provider) {
        try (Saving pair = new Saving(Saving.hints(provider).threading(ThreadingModel.SAFE));
                MemoryRegion plain = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.service.start();

            for (int token = 0; token < MANY; token++) { // and nobody polls
                pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, token);
            }

            Waiting.YIELD.until(() -> {
                pair.pollNear();
                return pair.completed.size() + pair.errors.size() == MANY;
            }, Pair.DEADLINE);
            assertThat(pair.errors).isEmpty();
            assertThat(pair.completed).doesNotHaveDuplicates();
        }
    }

    /** Its request is dropped, and the service has no address to say so. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aServiceThatHasForgottenTheSaverIsGreetedAgain(String provider) throws ReflectiveOperationException {
        try (Saving pair = new Saving(Saving.hints(provider));
                MemoryRegion plain = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 1);
            pair.await(1);
            forgetAll(pair.service);

            pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 2);

            pair.await(2);
        }
    }

    /** The service serves as many writers as it may when the first save comes, and fewer when the second does. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aServiceThatHadNoRoomIsGreetedAgainByTheNextSave(String provider) throws ReflectiveOperationException {
        try (Saving pair = new Saving(Saving.hints(provider));
                Saver first = new Saver(pair.domain, pair.endpoint, pair.pair.queue);
                MemoryRegion plain = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE)) {
            first.saveThrough(pair.far, pair.service.ticket());
            first.save(pair.far, plain.remote(), Durability.DELIVERED, 1);
            Waiting.YIELD.until(() -> {
                pair.pollFar();
                return first.poll((token, flags, length, data) -> {}, 1) > 0;
            }, Pair.DEADLINE);
            Map<EndpointAddress, Object> writers = writers(pair.service);
            Object writer = writers.values().iterator().next();
            while (writers.size() < SaveService.MAX_WRITERS) {
                writers.put(EndpointAddress.of(("writer " + writers.size()).getBytes(StandardCharsets.US_ASCII),
                        pair.saver.address().format()), writer);
            }
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 2);
            assertThat(pair.awaitError().toString()).contains("already serves " + SaveService.MAX_WRITERS + " writers");

            writers.values().removeIf(one -> one == writer && writers.size() > 1);
            pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 3);

            pair.await(3);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<EndpointAddress, Object> writers(SaveService service) throws ReflectiveOperationException {
        var writers = SaveService.class.getDeclaredField("writers");
        writers.setAccessible(true);
        return (Map<EndpointAddress, Object>) writers.get(service);
    }

    private static void forgetAll(SaveService service) throws ReflectiveOperationException {
        Method forget = Arrays.stream(SaveService.class.getDeclaredMethods())
                .filter(method -> method.getName().equals("forget")).findFirst().orElseThrow();
        forget.setAccessible(true);
        for (Object writer : new ArrayList<>(writers(service).values())) {
            forget.invoke(service, writer);
        }
    }

    /** Who knows the numbers of saves, as the service of another peer does, and not what the owner has said. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anAnswerOfAnotherIsNotBelieved(String provider) throws ReflectiveOperationException {
        try (Saving pair = new Saving(Saving.hints(provider));
                Pair stranger = new Pair(Saving.hints(provider));
                MemoryRegion plain = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE);
                MemoryRegion body = stranger.domain.allocate(SaveMessage.ROOM, Access.SEND)) {
            pair.saver.saveThrough(pair.far, pair.service.ticket());
            pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 1);
            pair.await(1);
            var lastId = Saver.class.getDeclaredField("lastId");
            lastId.setAccessible(true);

            pair.saver.save(pair.far, plain.remote(), Durability.DELIVERED, 2);

            long id = (long) lastId.get(pair.saver);
            Peer victim = stranger.vector.insert(pair.saver.address());
            new SaveMessage(body.segment()).begin(SaveMessage.ANSWER).put(Field.ID, id << ID_SHIFT).put(Field.KEY, 0);
            int[] sent = {0};
            Waiting.YIELD.until(() -> {
                if (stranger.endpoint.messages().trySend(body, 0, SaveMessage.LENGTH, victim, 1)) { sent[0]++; }
                stranger.poll();
                pair.pair.farQueue.progress(); // the service stands still, and the request is in its queue
                pair.pollNear();
                return sent[0] >= FORGED;
            }, Pair.DEADLINE);
            assertThat(pair.completed).isEmpty();
            pair.await(2);
        }
    }
}
