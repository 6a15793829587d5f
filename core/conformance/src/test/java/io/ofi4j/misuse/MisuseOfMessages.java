package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.PreparedMessage;
import io.ofi4j.Tagged;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.Pair;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Messages, with tags and without, that cannot be sent or received. */
final class MisuseOfMessages {
    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> UNSUPPORTED = UnsupportedOperationException.class;
    private static final String OUTSIDE = "not inside a region of " + Mailbox.LENGTH + " bytes";

    private MisuseOfMessages() {}

    static Stream<Misuse> cases() {
        return Stream.of(ranges(), rights(), states(), prepared()).flatMap(cases -> cases);
    }

    /** On two endpoints with messages. */
    private static Misuse on(String name, Class<? extends Throwable> expected, String words, Consumer<Mailbox> call) {
        return refused(name, expected, words,
                s -> call.accept(s.opened(new Mailbox("shm", Capability.MSG, Capability.TAGGED, Capability.RMA))));
    }

    private static Messages messages(Mailbox box) { return box.pair.endpoint.messages(); }

    private static Tagged tagged(Mailbox box) { return box.pair.endpoint.tagged(); }

    private static Stream<Misuse> ranges() {
        long[][] ranges = {{-1, 8}, {0, -1}, {Mailbox.LENGTH - 7, 8}, {0, Mailbox.LENGTH + 1}, {Mailbox.LENGTH + 1, 0},
                {Long.MAX_VALUE, 8}, {0, Long.MAX_VALUE}, {Long.MIN_VALUE, 8}, {0, Long.MIN_VALUE}, {1L << 32, 8}};
        return Stream.of(ranges).flatMap(at -> {
            String range = " " + at[1] + " bytes from " + at[0];
            return Stream.of(
                    on("send" + range, RANGE, OUTSIDE,
                            box -> messages(box).trySend(box.near, at[0], at[1], box.pair.far, 1)),
                    on("receive" + range, RANGE, OUTSIDE, box -> messages(box).tryReceive(box.near, at[0], at[1], 1)),
                    on("send with a tag" + range, RANGE, OUTSIDE,
                            box -> tagged(box).trySend(box.near, at[0], at[1], box.pair.far, 5, 1)),
                    on("receive a tag" + range, RANGE, OUTSIDE,
                            box -> tagged(box).tryReceive(box.near, at[0], at[1], 5, 0, 1)),
                    on("send a header of" + range, RANGE, OUTSIDE,
                            box -> messages(box).trySend(box.near, at[0], at[1], box.near, 0, 8, box.pair.far, 1)),
                    on("send a body of" + range, RANGE, OUTSIDE,
                            box -> messages(box).trySend(box.near, 0, 8, box.near, at[0], at[1], box.pair.far, 1)),
                    on("send a body with a tag of" + range, RANGE, OUTSIDE,
                            box -> tagged(box).trySend(box.near, 0, 8, box.near, at[0], at[1], box.pair.far, 5, 1)),
                    on("prepare" + range, RANGE, OUTSIDE,
                            box -> messages(box).prepare().local(box.near, at[0], at[1])));
        });
    }

    private static Stream<Misuse> rights() {
        return Stream.of(
                on("limit the messages to a peer to less than nothing", ARGUMENT, "not -1",
                        box -> box.pair.far.longestMessage(-1)),
                on("send from a region for receives", ARGUMENT, "lacks [SEND]",
                        box -> with(box, Access.RECEIVE,
                                region -> messages(box).trySend(region, 0, 8, box.pair.far, 1))),
                on("send a body from a region for receives", ARGUMENT, "lacks [SEND]",
                        box -> with(box, Access.RECEIVE,
                                region -> messages(box).trySend(box.near, 0, 8, region, 0, 8, box.pair.far, 1))),
                on("send a header from a region for receives", ARGUMENT, "lacks [SEND]",
                        box -> with(box, Access.RECEIVE,
                                region -> tagged(box).trySend(region, 0, 8, box.near, 0, 8, box.pair.far, 5, 1))),
                on("receive into a region for sends", ARGUMENT, "lacks [RECEIVE]",
                        box -> with(box, Access.SEND, region -> messages(box).tryReceive(region, 0, 8, 1))),
                on("send a tag from a region for writes", ARGUMENT, "lacks [SEND]",
                        box -> with(box, Access.WRITE,
                                region -> tagged(box).trySend(region, 0, 8, box.pair.far, 5, 1))),
                on("receive a tag into a region for reads", ARGUMENT, "lacks [RECEIVE]",
                        box -> with(box, Access.READ, region -> tagged(box).tryReceive(region, 0, 8, 5, 0, 1))),
                on("send a prepared message of a region for receives", ARGUMENT, "lacks [SEND]",
                        box -> with(box, Access.RECEIVE,
                                region -> messages(box).prepare().peer(box.pair.far).local(region, 0, 8).send(1))),
                on("inject a message beyond the limit", ARGUMENT, "at most ",
                        box -> messages(box).tryInject(box.near, 0, messages(box).injectSize() + 1, box.pair.far)),
                on("inject a message with a tag beyond the limit", ARGUMENT, "at most ",
                        box -> tagged(box).tryInject(box.near, 0, tagged(box).injectSize() + 1, box.pair.far, 5)),
                on("receive from one peer without the capability", UNSUPPORTED, "Capability.DIRECTED_RECV",
                        box -> messages(box).tryReceive(box.near, 0, 8, box.pair.far, 1)),
                on("receive a tag from one peer without the capability", UNSUPPORTED, "Capability.DIRECTED_RECV",
                        box -> tagged(box).tryReceive(box.near, 0, 8, box.pair.far, 5, 0, 1)));
    }

    private static void with(Mailbox box, Access right, Consumer<MemoryRegion> call) {
        try (MemoryRegion region = box.pair.domain.allocate(64, right)) {
            call.accept(region);
        }
    }

    private static Stream<Misuse> states() {
        return Stream.of(
                refused("messages of an endpoint without them", UNSUPPORTED, "Capability.MSG",
                        s -> s.pair.endpoint.messages()),
                refused("tags of an endpoint without them", UNSUPPORTED, "Capability.TAGGED",
                        s -> s.pair.endpoint.tagged()),
                refused("messages of an endpoint that is not enabled", STATE, "enable",
                        s -> s.opened(s.pair.domain.openEndpoint()).messages()),
                on("send to a removed peer", STATE, "removed", box -> {
                    box.pair.vector.remove(box.pair.far);
                    messages(box).trySend(box.near, 0, 8, box.pair.far, 1);
                }), on("inject to a removed peer", STATE, "removed", box -> {
                    box.pair.vector.remove(box.pair.far);
                    tagged(box).tryInject(box.near, 0, 8, box.pair.far, 5);
                }), refused("send to a peer of another vector", ARGUMENT, "address vector", s -> {
                    Mailbox box = s.opened(new Mailbox("shm", Capability.MSG, Capability.RMA));
                    messages(box).trySend(box.near, 0, 8, s.pair.far, 1);
                }), on("send after the close of the endpoint", STATE, "closed", box -> {
                    Messages messages = messages(box);
                    box.pair.endpoint.close();
                    messages.trySend(box.near, 0, 8, box.pair.far, 1);
                }), on("send a body of a closed region", STATE, "closed", box -> {
                    MemoryRegion region = box.pair.domain.allocate(64, Access.SEND);
                    region.close();
                    messages(box).trySend(box.near, 0, 8, region, 0, 8, box.pair.far, 1);
                }), on("receive after the close of the endpoint", STATE, "closed", box -> {
                    Tagged tagged = tagged(box);
                    box.pair.endpoint.close();
                    tagged.tryReceive(box.near, 0, 8, 5, 0, 1);
                }), on("receive into a closed region", STATE, "closed", box -> {
                    MemoryRegion region = box.pair.domain.allocate(64, Access.RECEIVE);
                    region.close();
                    messages(box).tryReceive(region, 0, 8, 1);
                }), on("cancel a token that was not posted", ARGUMENT, "token 9", box -> messages(box).cancel(9)),
                on("cancel a send", ARGUMENT, "token 9", box -> {
                    messages(box).send(box.near.slice(0, 8), box.pair.far, 9);
                    messages(box).cancel(9);
                }), on("cancel a receive of another endpoint", ARGUMENT, "token 9", box -> {
                    box.pair.farEndpoint.messages().receive(box.far.slice(0, 8), 9);
                    messages(box).cancel(9);
                }), on("cancel after the close of the endpoint", STATE, "closed", box -> {
                    Tagged tagged = tagged(box);
                    box.pair.endpoint.close();
                    tagged.cancel(1);
                }));
    }

    private static Stream<Misuse> prepared() {
        return Stream.of(
                on("send a prepared message without a peer", STATE, "no peer",
                        box -> messages(box).prepare().local(box.near, 0, 8).send(1)),
                on("give a tag to a message without tags", STATE, "Tagged.prepare()",
                        box -> messages(box).prepare().tag(1)),
                on("add too many segments", ARGUMENT, "segments per operation", box -> {
                    PreparedMessage message = messages(box).prepare();
                    for (int i = 0; i < 1000; i++) {
                        message.local(box.near, 0, 8);
                    }
                }),
                on("replace a segment that is not there", RANGE, "out of bounds",
                        box -> messages(box).prepare().replaceLocal(0, box.near, 0, 8)),
                on("receive with flags", ARGUMENT, "no flag but COMPLETION",
                        box -> messages(box).prepare().local(box.near, 0, 8).flags(OperationFlag.MORE).receive(1)),
                on("send a fenced message without the capability", UNSUPPORTED, "Capability.FENCE",
                        box -> messages(box).prepare().flags(OperationFlag.FENCE)),
                on("inject a prepared message beyond the limit", ARGUMENT, "at most ",
                        box -> tagged(box).prepare().peer(box.pair.far).local(box.near, 0, Mailbox.LENGTH).tag(5)
                                .flags(OperationFlag.INJECT).send(1)),
                on("send a prepared message of another thread", WrongThreadException.class, "was prepared by thread",
                        box -> {
                            AtomicReference<PreparedMessage> made = new AtomicReference<>();
                            MisuseStage.elsewhere(() -> made.set(messages(box).prepare()));
                            made.get().clear();
                        }),
                refused("prepare a segment of another domain", ARGUMENT, "another domain", s -> {
                    Mailbox box = s.opened(new Mailbox("shm", Capability.MSG, Capability.RMA));
                    Pair other = s.other("shm");
                    messages(box).prepare().local(s.region(other, Access.SEND), 0, 8);
                }), refused("a peer of another vector for a prepared message", ARGUMENT, "address vector", s -> {
                    Mailbox box = s.opened(new Mailbox("shm", Capability.MSG, Capability.RMA));
                    messages(box).prepare().peer(s.pair.far);
                }));
    }
}
