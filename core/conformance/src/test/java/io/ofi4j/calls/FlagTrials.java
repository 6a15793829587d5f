package io.ofi4j.calls;

import static io.ofi4j.calls.Trial.LENGTH;
import static io.ofi4j.calls.Trial.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedRma;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Trials of the flags of fi_writemsg: what each promises, as far as it can be seen. {@code MORE} promises nothing. */
final class FlagTrials {
    private static final long DATA = 0x11223344;
    private static final int ROUNDS = 8;
    private static final int LARGE = 1 << 16;
    /** More than the sockets of a connection hold, so that it is under way for a while. */
    private static final int LONG_READ = 16 << 20;

    private FlagTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        all.put(name(OperationFlag.REMOTE_CQ_DATA), CallTrial.of(FlagTrials::tellTheTarget));
        all.put(name(OperationFlag.MORE), CallTrial.of(FlagTrials::announceMore));
        all.put(name(OperationFlag.COMPLETION),
                CallTrial.of(UnaryOperator.identity(), EndpointTrials.SELECTIVE, FlagTrials::completeSelectively));
        all.put(name(OperationFlag.FENCE),
                CallTrial.of(CallTrial.capability(Capability.FENCE), FlagTrials::waitForEarlierOperations));
        all.put(name(OperationFlag.INJECT), CallTrial.of(FlagTrials::giveTheSourceBackAtOnce));
        all.put(name(OperationFlag.INJECT_COMPLETE), CallTrial.of(FlagTrials::giveTheSourceBack));
        all.put(name(OperationFlag.TRANSMIT_COMPLETE), CallTrial.of(FlagTrials::leaveTheRestToTheTarget));
        all.put(name(OperationFlag.DELIVERY_COMPLETE), CallTrial.of(t -> deliver(t, OperationFlag.DELIVERY_COMPLETE)));
        all.put(name(OperationFlag.COMMIT_COMPLETE), CallTrial.of(CallTrial.capability(Capability.RMA_PMEM),
                t -> deliver(t, OperationFlag.COMMIT_COMPLETE)));
    }

    private static String name(OperationFlag flag) { return "fi_writemsg, " + flag; }

    /** What a message carries without the flag is not told. */
    private static void tellTheTarget(Trial t) {
        t.message().data(DATA + 1).write(TOKEN);
        t.await(() -> t.pair.completed.contains(TOKEN));
        t.message().data(DATA).flags(OperationFlag.REMOTE_CQ_DATA).write(TOKEN + 1);
        t.awaitData(DATA);
        t.await(() -> t.pair.completed.contains(TOKEN + 1));
        t.awaitWritten();
        assertThat(t.remoteData).containsExactly(DATA);
    }

    private static void announceMore(Trial t) {
        int half = LENGTH / 2;
        PreparedRma message = t.rma().prepare().peer(t.pair.far);
        message.local(t.here, 0, half).remote(t.there.remote(), 0, half).flags(OperationFlag.MORE).write(TOKEN);
        message.clear().local(t.here, half, half).remote(t.there.remote(), half, half).flags().write(TOKEN + 1);
        t.pair.awaitCompletions(2, t.deadline);
        assertThat(t.pair.completed).containsExactlyInAnyOrder(TOKEN, TOKEN + 1);
        t.awaitWritten();
    }

    private static void completeSelectively(Trial t) {
        t.message().write(TOKEN);
        t.message().flags(OperationFlag.COMPLETION).write(TOKEN + 1);
        t.message().write(TOKEN + 2);
        t.await(() -> t.pair.queue.operationsInFlight() == 0);
        assertThat(t.pair.errors).isEmpty();
        assertThat(t.pair.completed).containsExactly(TOKEN + 1);
        t.awaitWritten();
    }

    /** A long read, whose end a short write would overwrite before it is read if it did not wait. */
    private static void waitForEarlierOperations(Trial t) {
        try (MemoryRegion back = t.pair.domain.allocate(LONG_READ, Access.READ);
                MemoryRegion target = t.pair.domain.allocate(LONG_READ, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            target.segment().fill((byte) 3);
            t.rma().read(back.slice(0, LONG_READ), t.pair.far, target.remote(), TOKEN);
            t.rma().prepare().peer(t.pair.far).local(t.here, 0, LENGTH)
                    .remote(target.remote(), LONG_READ - LENGTH, LENGTH).flags(OperationFlag.FENCE).write(TOKEN + 1);
            t.pair.awaitCompletions(2, t.deadline);
            assertThat(t.pair.errors).isEmpty();
            assertThat(Trial.has(back, (byte) 3)).isTrue();
        }
    }

    private static void giveTheSourceBackAtOnce(Trial t) {
        for (int round = 10; round < 10 + ROUNDS; round++) {
            t.here.segment().fill((byte) round);
            t.message().flags(OperationFlag.INJECT).write(round);
            t.here.segment().fill((byte) -1);
            t.awaitToken(round);
            t.awaitByte(t.there, (byte) round);
        }
    }

    private static void giveTheSourceBack(Trial t) {
        writeLarge(t, OperationFlag.INJECT_COMPLETE, (source, target, value) -> {
            source.segment().fill((byte) -1);
            t.awaitByte(target, value);
        });
    }

    /** The near end makes no progress any more once the completion has come. */
    private static void leaveTheRestToTheTarget(Trial t) {
        writeLarge(t, OperationFlag.TRANSMIT_COMPLETE, (source, target, value) -> {
            source.segment().fill((byte) -1);
            Waiting.YIELD.until(() -> {
                t.pair.farQueue.poll((token, flags, length, data) -> {}, LENGTH);
                return Trial.has(target, value);
            }, t.deadline);
        });
    }

    private static void deliver(Trial t, OperationFlag flag) {
        writeLarge(t, flag, (source, target, value) -> assertThat(Trial.has(target, value)).isTrue());
    }

    /** What must hold when the completion of a write has come. */
    private interface Promise {
        void holds(MemoryRegion source, MemoryRegion target, byte value);
    }

    private static void writeLarge(Trial t, OperationFlag flag, Promise promise) {
        try (MemoryRegion source = t.pair.domain.allocate(LARGE, Access.WRITE);
                MemoryRegion target = t.pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
            PreparedRma message = t.rma().prepare().peer(t.pair.far).local(source, 0, LARGE)
                    .remote(target.remote(), 0, LARGE).flags(flag);
            for (byte round = 10; round < 10 + ROUNDS; round++) {
                source.segment().fill(round);
                message.write(round);
                t.awaitToken(round);
                promise.holds(source, target, round);
            }
        }
    }
}
