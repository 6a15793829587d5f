package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.LENGTH;
import static io.ofi4j.conformance.calls.RmaSetting.TOKEN;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedRma;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Trials of the flags of fi_writemsg: what each promises, as far as it can be seen. {@code MORE} promises nothing. */
final class FlagTrials {
    private static final long DATA = 0x11223344;
    private static final int ROUNDS = 8;
    private static final int LARGE = 1 << 16;
    /** More than the sockets of a connection hold, so that it is under way for a while. */
    private static final int LONG_READ = 16 << 20;

    private FlagTrials() {}

    static void addTo(Map<String, Trial> all) {
        all.put(name(OperationFlag.REMOTE_CQ_DATA), RmaTrial.of(FlagTrials::tellTheTarget));
        all.put(name(OperationFlag.MORE), RmaTrial.of(FlagTrials::announceMore));
        all.put(name(OperationFlag.COMPLETION),
                RmaTrial.of(UnaryOperator.identity(), EndpointTrials.SELECTIVE, FlagTrials::completeSelectively));
        all.put(name(OperationFlag.FENCE),
                RmaTrial.of(RmaTrial.capability(Capability.FENCE), FlagTrials::waitForEarlierOperations));
        all.put(name(OperationFlag.INJECT), RmaTrial.of(FlagTrials::giveTheSourceBackAtOnce));
        all.put(name(OperationFlag.INJECT_COMPLETE), RmaTrial.of(FlagTrials::giveTheSourceBack));
        all.put(name(OperationFlag.TRANSMIT_COMPLETE), RmaTrial.of(FlagTrials::leaveTheRestToTheTarget));
        all.put(name(OperationFlag.DELIVERY_COMPLETE), RmaTrial.of(t -> deliver(t, OperationFlag.DELIVERY_COMPLETE)));
        all.put(name(OperationFlag.COMMIT_COMPLETE),
                RmaTrial.of(RmaTrial.capability(Capability.RMA_PMEM), t -> deliver(t, OperationFlag.COMMIT_COMPLETE)));
    }

    private static String name(OperationFlag flag) { return "fi_writemsg, " + flag; }

    /** What a message carries without the flag is not told. */
    private static void tellTheTarget(RmaSetting t) {
        t.message().data(DATA + 1).write(TOKEN);
        t.ends.await(() -> t.near.tokens().contains(TOKEN));
        t.message().data(DATA).flags(OperationFlag.REMOTE_CQ_DATA).write(TOKEN + 1);
        t.awaitData(DATA);
        t.ends.await(() -> t.near.tokens().contains(TOKEN + 1));
        t.awaitWritten();
        Check.equal("the data that the target was told", t.far.remoteData(), List.of(DATA));
    }

    private static void announceMore(RmaSetting t) {
        int half = LENGTH / 2;
        PreparedRma message = t.rma().prepare().peer(t.ends.peer);
        message.local(t.here, 0, half).remote(t.there.remote(), 0, half).flags(OperationFlag.MORE).write(TOKEN);
        message.clear().local(t.here, half, half).remote(t.there.remote(), half, half).flags().write(TOKEN + 1);
        t.ends.await(2, 0);
        Check.equal("the tokens", Set.copyOf(t.near.tokens()), Set.of(TOKEN, TOKEN + 1));
        t.awaitWritten();
    }

    private static void completeSelectively(RmaSetting t) {
        t.message().write(TOKEN);
        t.message().flags(OperationFlag.COMPLETION).write(TOKEN + 1);
        t.message().write(TOKEN + 2);
        t.ends.await(() -> t.near.queue.operationsInFlight() == 0);
        Check.none("the errors", t.near.errors);
        Check.equal("the tokens", t.near.tokens(), List.of(TOKEN + 1));
        t.awaitWritten();
    }

    /** A long read, whose end a short write would overwrite before it is read if it did not wait. */
    private static void waitForEarlierOperations(RmaSetting t) {
        try (MemoryRegion back = t.ends.domain.allocate(LONG_READ, Access.READ);
                MemoryRegion target = t.ends.domain.allocate(LONG_READ, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            target.segment().fill((byte) 3);
            t.rma().read(back.slice(0, LONG_READ), t.ends.peer, target.remote(), TOKEN);
            t.rma().prepare().peer(t.ends.peer).local(t.here, 0, LENGTH)
                    .remote(target.remote(), LONG_READ - LENGTH, LENGTH).flags(OperationFlag.FENCE).write(TOKEN + 1);
            t.ends.await(2, 0);
            Check.none("the errors", t.near.errors);
            Check.holds("the read has what was there before the write", RmaSetting.has(back, (byte) 3));
        }
    }

    private static void giveTheSourceBackAtOnce(RmaSetting t) {
        for (int round = 10; round < 10 + ROUNDS; round++) {
            t.here.segment().fill((byte) round);
            t.message().flags(OperationFlag.INJECT).write(round);
            t.here.segment().fill((byte) -1);
            t.ends.awaitToken(round);
            t.awaitByte(t.there, (byte) round);
        }
    }

    private static void giveTheSourceBack(RmaSetting t) {
        writeLarge(t, OperationFlag.INJECT_COMPLETE, (source, target, value) -> {
            source.segment().fill((byte) -1);
            t.awaitByte(target, value);
        });
    }

    /** The near end makes no progress any more once the completion has come. */
    private static void leaveTheRestToTheTarget(RmaSetting t) {
        writeLarge(t, OperationFlag.TRANSMIT_COMPLETE, (source, target, value) -> {
            source.segment().fill((byte) -1);
            Waiting.YIELD.until(() -> {
                t.far.queue.poll((token, flags, length, data) -> {}, LENGTH);
                return RmaSetting.has(target, value);
            }, t.deadline);
        });
    }

    private static void deliver(RmaSetting t, OperationFlag flag) {
        writeLarge(t, flag,
                (source, target, value) -> Check.holds("the bytes are at the target", RmaSetting.has(target, value)));
    }

    /** What must hold when the completion of a write has come. */
    private interface Promise {
        void holds(MemoryRegion source, MemoryRegion target, byte value);
    }

    private static void writeLarge(RmaSetting t, OperationFlag flag, Promise promise) {
        try (MemoryRegion source = t.ends.domain.allocate(LARGE, Access.WRITE);
                MemoryRegion target = t.ends.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
            PreparedRma message = t.rma().prepare().peer(t.ends.peer).local(source, 0, LARGE)
                    .remote(target.remote(), 0, LARGE).flags(flag);
            for (byte round = 10; round < 10 + ROUNDS; round++) {
                source.segment().fill(round);
                message.write(round);
                t.ends.awaitToken(round);
                promise.holds(source, target, round);
            }
        }
    }
}
