package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Peer;
import io.ofi4j.Tagged;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.CounterEvent;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.PeekAction;
import io.ofi4j.info.VersionRange;
import io.ofi4j.info.WaitObject;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** What a provider does not offer, or does wrong, and what needs another object or state than there is. */
final class MisuseOfProviders {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> NOT_OFFERED = UnsupportedOperationException.class;
    /** In which shm never completes what has no bytes, and receives what it is to look for. */
    static final VersionRange EARLY = VersionRange.from(1, 15).to(1, 18);
    /** In which shm matches a tag without its mask. */
    static final VersionRange MASKED = VersionRange.from(1, 17).to(1, 18);
    private static final Duration SHORT = Duration.ofMillis(10);

    private MisuseOfProviders() {}

    static Stream<Misuse> cases() {
        return Stream
                .of(objects(), faces(), rare(), looks(), addresses(), messages(), tags(), transfers(), old(), early())
                .flatMap(cases -> cases);
    }

    private static Stream<Misuse> objects() {
        return Stream.of(
                refused("provider: an info of another provider", ARGUMENT, "same fabric",
                        s -> s.pair.fabric.openDomain(TestProviders.info("sockets"))),
                refused("provider: a queue with a wait object that it does not have", NOT_OFFERED, "FD",
                        s -> s.pair.domain
                                .openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(WaitObject.FD))),
                refused("provider: a counter with a wait object that it does not have", NOT_OFFERED, "FD",
                        s -> s.pair.domain.openCounter(CounterAttributes.defaults().waitObject(WaitObject.FD))),
                refused("provider: a counter of what it does not count", NOT_OFFERED, "RMA_EVENT", s -> {
                    Pair pair = s.other("tcp;ofi_rxm");
                    s.opened(pair.domain.openEndpoint()).bind(s.opened(pair.domain.openCounter()),
                            CounterEvent.REMOTE_WRITE);
                }),
                refused("provider: a shared vector of one without", NOT_OFFERED, "shared between processes",
                        s -> s.pair.domain.openAddressVector(AddressVectorAttributes.defaults().name("x").count(1))),
                refused("provider: a read-only vector without a name", ARGUMENT, "name of a shared one",
                        s -> s.other("sockets").domain
                                .openAddressVector(AddressVectorAttributes.defaults().readOnly())),
                refused("provider: a lookup of names where there is none", NOT_OFFERED, "insertsvc",
                        s -> s.pair.vector.insertService("127.0.0.1", "5000")),
                refused("provider: a symmetric insert where there is none", NOT_OFFERED, "insertsym",
                        s -> s.pair.vector.insertSymmetric("127.0.0.1", 1, "5000", 1)),
                refused("provider: an alias where there is none", NOT_OFFERED, "fi_ep_alias",
                        s -> s.pair.endpoint.alias(Set.of())),
                refused("provider: statistics without a queue", STATE, "bind a completion queue",
                        s -> s.opened(s.pair.domain.openEndpoint()).statistics()));
    }

    private static Stream<Misuse> faces() {
        return Stream.of(
                refused("provider: atomics before enable", STATE, "enable",
                        s -> s.opened(s.pair.domain.openEndpoint()).atomics()),
                refused("provider: tags before enable", STATE, "enable",
                        s -> s.opened(s.pair.domain.openEndpoint()).tagged()),
                refused("provider: transfers without the capability", NOT_OFFERED, "Capability.RMA",
                        s -> s.opened(new Pair(TestProviders.hints("shm").capabilities(Capability.MSG))).rma()));
    }

    /** Calls that few providers have. */
    private static Stream<Misuse> rare() {
        return Stream
                .of(operations("a domain", s -> s.pair.domain::operations),
                        operations("a fabric", s -> s.pair.fabric::operations),
                        operations("an endpoint", s -> s.pair.endpoint::operations), otherRare())
                .flatMap(cases -> cases);
    }

    /** Of an object that may have operations of its provider. */
    private static Stream<Misuse> operations(String object, Function<MisuseStage, Consumer<String>> open) {
        String operations = "rare: " + object + "'s operations ";
        return Stream.of(
                refused(operations + "without a name", ARGUMENT, "must have a name", s -> open.apply(s).accept("")),
                refused(operations + "with a zero in their name", ARGUMENT, "must have a name",
                        s -> open.apply(s).accept("\0")),
                refused(operations + "that there are not", NOT_OFFERED, "nonesuch",
                        s -> open.apply(s).accept("nonesuch")));
    }

    private static Stream<Misuse> otherRare() {
        AddressVectorAttributes shared = AddressVectorAttributes.defaults().count(2)
                .name("ofi4j-misuse-" + ProcessHandle.current().pid());
        return Stream.of(
                refused("rare: operations of an adapter that is not there", NOT_OFFERED, "efa",
                        s -> s.pair.domain.operations("efa domain ops")),
                refused("rare: operations of a closed domain", STATE, "closed",
                        s -> MisuseStage.closed(s.domain(TestProviders.hints("shm"))).operations("efa domain ops")),
                refused("rare: a number for another vector's peer", ARGUMENT, "not in this address vector",
                        s -> s.pair.vector.userId(s.other("shm").far, 1)),
                refused("rare: numbers for peers where there are none", NOT_OFFERED, "AV_USER_ID",
                        s -> s.pair.vector.userId(s.pair.far, 1)),
                refused("rare: a shared peer of a vector that is not read-only", STATE, "not read-only",
                        s -> s.pair.vector.sharedPeer(0)),
                refused("rare: a shared peer that is not there", IndexOutOfBoundsException.class, "no address 1", s -> {
                    Pair pair = s.other("sockets");
                    s.opened(pair.domain.openAddressVector(shared)).insert(pair.farEndpoint.address());
                    s.opened(pair.domain.openAddressVector(shared.readOnly())).sharedPeer(1);
                }), refused("rare: an endpoint of a passive one that listens", STATE, "listens", s -> {
                    Pair pair = s.other("MSG tcp");
                    s.opened(pair.domain.openEndpoint(pair.passive));
                }), refused("rare: an endpoint of a passive one of another fabric", ARGUMENT, "another fabric",
                        s -> s.opened(s.other("MSG tcp").domain.openEndpoint(s.other("MSG tcp").passive))));
    }

    /** Looks for messages of one peer. */
    private static Stream<Misuse> looks() {
        return Stream.of(
                over("tcp;ofi_rxm", "a look for one peer's messages without the capability", NOT_OFFERED,
                        "DIRECTED_RECV", box -> tagged(box).tryPeek(PeekAction.KEEP, box.back, 5, 0, 1)),
                over("tcp;ofi_rxm", "a claim of one peer's message without the capability", NOT_OFFERED,
                        "DIRECTED_RECV", box -> tagged(box).tryPeek(PeekAction.CLAIM, box.back, 5, 0, 1)),
                over("tcp;ofi_rxm", "a discard of one peer's message", NOT_OFFERED, "receive the message",
                        box -> tagged(box).tryPeek(PeekAction.DISCARD, box.back, 5, 0, 1)),
                over("tcp;ofi_rxm", "a discard of a claimed message", NOT_OFFERED, "receive the message",
                        box -> tagged(box).tryDiscardClaimed(5, 0, 1)),
                over("sockets", "a discard of what was not claimed", ARGUMENT, "claim one",
                        box -> tagged(box).tryDiscardClaimed(5, 0, 1)));
    }

    private static Stream<Misuse> addresses() {
        return Stream.of(
                refused("address: of another kind", ARGUMENT, "same provider",
                        s -> s.opened(s.other("tcp;ofi_rxm").domain.openEndpoint()).address(s.pair.endpoint.address())),
                refused("address: of an endpoint that is enabled", STATE, "enabled",
                        s -> s.pair.endpoint.address(s.pair.domain.info().addressNamed("ofi4j-misuse"))),
                refused("address: a name with a slash", ARGUMENT, "unlike '../x'",
                        s -> s.pair.domain.info().addressNamed("../x")),
                refused("address: a name where there are none", NOT_OFFERED, "named endpoints",
                        s -> s.other("tcp;ofi_rxm").domain.info().addressNamed("x")),
                refused("address: chosen where there is no choice", NOT_OFFERED, "FabricHints.source", s -> {
                    Pair pair = s.other("udp;ofi_rxd");
                    s.opened(pair.domain.openEndpoint()).address(pair.endpoint.address());
                }), refused("address: chosen where enable notices", NOT_OFFERED, "fi_setname", s -> {
                    Pair pair = s.other("MSG tcp");
                    s.opened(pair.domain.openEndpoint()).bind(pair.events).bind(pair.queue)
                            .address(pair.passive.address()).enable();
                }), refused("address: that is in use", FabricException.class, "in use", s -> {
                    Pair pair = s.other("tcp;ofi_rxm");
                    s.opened(pair.domain.openEndpoint()).bind(pair.vector).bind(pair.queue)
                            .address(pair.endpoint.address()).enable();
                }));
    }

    /** Over an endpoint with messages and tags. */
    private static Misuse over(String provider, String name, Class<? extends Throwable> expected, String words,
            Consumer<Mailbox> call) {
        return refused(provider + ": " + name, expected, words,
                s -> call.accept(s.opened(new Mailbox(provider, Capability.MSG, Capability.TAGGED, Capability.RMA))));
    }

    private static Messages messages(Mailbox box) { return box.pair.endpoint.messages(); }

    private static Tagged tagged(Mailbox box) { return box.pair.endpoint.tagged(); }

    private static Stream<Misuse> messages() {
        return Stream.of(refused("udp: data of a message", NOT_OFFERED, "completion data is not offered", s -> {
            Pair pair = s.other("DGRAM udp");
            pair.endpoint.messages().trySendData(s.region(pair, Access.SEND), 0, 8, 1, pair.far, 1);
        }), refused("udp: data of a prepared message", NOT_OFFERED, "completion data is not offered",
                s -> s.other("DGRAM udp").endpoint.messages().prepare().data(1)),
                over("shm", "a receive of many messages", NOT_OFFERED, "overwrite",
                        box -> messages(box).tryReceiveMany(box.near, 0, 64, 1)),
                over("shm", "a longest message of no bytes", ARGUMENT, "at least 1 byte",
                        box -> box.pair.endpoint.longestMessage(0)),
                over("shm", "a longest message of an endpoint that is enabled", STATE, "before enable",
                        box -> box.pair.endpoint.longestMessage(64)),
                refused("a longest message where none is received", NOT_OFFERED, "receives no messages",
                        s -> s.opened(s.pair.domain.openEndpoint()).longestMessage(64)),
                refused("sockets: a receive shorter than the longest message", ARGUMENT, "at least 100 bytes", s -> {
                    Pair pair = s.opened(new Pair(TestProviders.hints("sockets").capabilities(Capability.MSG)));
                    s.opened(pair.domain.openEndpoint()).bind(pair.vector).bind(pair.queue).longestMessage(100).enable()
                            .messages().tryReceive(s.region(pair, Access.RECEIVE), 0, 64, 1);
                }), refused("sockets: a prepared receive shorter than the longest message", ARGUMENT,
                        "at least 100 bytes", s -> {
                            Pair pair = s
                                    .opened(new Pair(TestProviders.hints("sockets").capabilities(Capability.TAGGED)));
                            s.opened(pair.domain.openEndpoint()).bind(pair.vector).bind(pair.queue).longestMessage(100)
                                    .enable().tagged().prepare().local(s.region(pair, Access.RECEIVE), 0, 64).tag(1)
                                    .tryReceive(1);
                        }),
                refused("sockets: a receive of many messages shorter than one", ARGUMENT, "at least 100 bytes", s -> {
                    Pair pair = s.opened(new Pair(
                            TestProviders.hints("sockets").capabilities(Capability.MSG, Capability.MULTI_RECV)));
                    s.opened(pair.domain.openEndpoint()).bind(pair.vector).bind(pair.queue).longestMessage(100).enable()
                            .messages().tryReceiveMany(s.region(pair, Access.RECEIVE), 0, 64, 1);
                }), refused("sockets: a receive of many messages that says no addresses", STATE,
                        "CompletionFormat.DATA", s -> {
                            Pair pair = s.opened(new Pair(
                                    TestProviders.hints("sockets").capabilities(Capability.MSG, Capability.MULTI_RECV),
                                    CompletionQueueAttributes.defaults().format(CompletionFormat.CONTEXT)));
                            pair.endpoint.messages().tryReceiveMany(s.region(pair, Access.RECEIVE), 0, 64, 1);
                        }),
                over("shm", "a prepared receive from one peer", NOT_OFFERED, "DIRECTED_RECV",
                        box -> messages(box).prepare().peer(box.pair.far).local(box.near, 0, 8).tryReceive(1)),
                over("udp;ofi_rxd", "a prepared message with INJECT", NOT_OFFERED, "use inject", box -> messages(box)
                        .prepare().peer(box.pair.far).local(box.near, 0, 8).flags(OperationFlag.INJECT).trySend(1)));
    }

    private static Stream<Misuse> tags() {
        return Stream.of(
                over("udp;ofi_rxd", "a claim", NOT_OFFERED, "receive the message", box -> tagged(box)
                        .tryPeek(PeekAction.CLAIM, 5, 0, 1)),
                over("tcp;ofi_rxm", "a discard", NOT_OFFERED, "receive the message",
                        box -> tagged(box).tryPeek(PeekAction.DISCARD, 5, 0, 1)),
                refused("tcp;ofi_rxm: a tag with bits beyond the format that was asked for", ARGUMENT,
                        "0x100 has others",
                        s -> s.opened(new Pair(TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.TAGGED)
                                .attributes(AttributeHints.none().tagFormat(0xff)))).endpoint.tagged().prepare()
                                .tag(0x100)),
                over("tcp;ofi_rxm", "a receive of what was not claimed", ARGUMENT, "claim one",
                        box -> tagged(box).tryReceiveClaimed(box.near, 0, 8, 5, 0, 1)));
    }

    private static Stream<Misuse> transfers() {
        return Stream.of(
                refused("shm: a flag behind a write", NOT_OFFERED, "writeData",
                        s -> notify(s.pair, s.pair.far, s.region(s.pair, Access.WRITE, Access.REMOTE_WRITE))),
                refused("a flag behind a write to who does not answer", FabricTimeoutException.class, "within 10 ms",
                        s -> {
                            Pair near = s.other("tcp;ofi_rxm");
                            Pair silent = s.other("tcp;ofi_rxm"); // nobody polls it
                            near.endpoint.postTimeout(SHORT);
                            notify(near, near.vector.insert(silent.farEndpoint.address()),
                                    s.region(near, Access.WRITE, Access.REMOTE_WRITE));
                        }),
                refused("an interrupted wait for a queue", FabricException.class, "interrupted", s -> {
                    CompletionQueue queue = s.opened(s.other("tcp;ofi_rxm").domain
                            .openCompletionQueue(CompletionQueueAttributes.defaults().waitObject(WaitObject.FD)));
                    MisuseStage.interrupted(() -> Waiting.block(Pair.DEADLINE, queue));
                }));
    }

    private static void notify(Pair pair, Peer peer, MemoryRegion region) {
        pair.rma().writeThenNotify(region.slice(0, 8), peer, region.remote(), region.slice(8, 8),
                region.remote().slice(8, 8), 1);
    }

    /** Only where libfabric is older than its newest capabilities. */
    private static Stream<Misuse> old() {
        if (Libfabric.load().version().major() >= 2) { return Stream.empty(); }
        return Stream.of(refused("provider: a capability of libfabric 2", NOT_OFFERED, "needs libfabric 2.0 or newer",
                s -> Libfabric.load().info(TestProviders.hints("shm").capabilities(Capability.TAGGED_MULTI_RECV))));
    }

    /** Only with these versions. */
    private static Stream<Misuse> early() {
        if (!EARLY.contains(Libfabric.load().version())) { return Stream.empty(); }
        return Stream.concat(masked(), Stream.of(
                delivering("a write of no bytes",
                        t -> t.pair.rma().tryWrite(t.region, 0, 0, t.pair.far, t.region.remote(), 0, 1)),
                delivering("a write of no bytes with data",
                        t -> t.pair.rma().tryWriteData(t.region, 0, 0, 1, t.pair.far, t.region.remote(), 0, 1)),
                delivering("a prepared write of no bytes",
                        t -> t.pair.rma().prepare().peer(t.pair.far).local(t.region, 0, 0)
                                .remote(t.region.remote(), 0, 0).flags(OperationFlag.DELIVERY_COMPLETE).tryWrite(1)),
                delivering("a message of no bytes",
                        t -> t.pair.endpoint.messages().trySend(t.region, 0, 0, t.pair.far, 1)),
                delivering("a message with a tag of no bytes",
                        t -> t.pair.endpoint.tagged().trySend(t.region, 0, 0, t.pair.far, 5, 1))));
    }

    private static Stream<Misuse> masked() {
        if (!MASKED.contains(Libfabric.load().version())) { return Stream.empty(); }
        return Stream.of(
                over("shm", "a receive that ignores bits", NOT_OFFERED, "receive the whole tag",
                        box -> tagged(box).tryReceive(box.near, 0, 8, 5, 1, 1)),
                over("shm", "a prepared receive that ignores bits", NOT_OFFERED, "receive the whole tag",
                        box -> tagged(box).prepare().tag(5, 1)));
    }

    private record Delivering(Pair pair, MemoryRegion region) {}

    private static Misuse delivering(String name, Consumer<Delivering> call) {
        return refused("shm: " + name + " that is to be delivered", NOT_OFFERED, "leave the flag or the operation out",
                s -> {
                    Pair pair = s.opened(new Pair(
                            TestProviders.hints("shm").capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA)
                                    .operationFlags(OperationFlag.DELIVERY_COMPLETE)));
                    call.accept(new Delivering(pair, s.region(pair, Access.values())));
                });
    }
}
