package io.ofi4j.model;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.model.ModelState.Alias;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Known;
import io.ofi4j.model.ModelState.Op;
import io.ofi4j.model.ModelState.Piece;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.support.Expect;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** Steps that post, by the calls that take everything at once and with messages that are posted again and again. */
final class ModelPosts {
    private static final int MAX_MESSAGES = 3;
    /** Without the one that no software provider has. */
    private static final List<OperationFlag> FLAGS = List
            .copyOf(EnumSet.complementOf(EnumSet.of(OperationFlag.MATCH_COMPLETE)));

    private final ModelProgram program;
    private final ModelState state;

    ModelPosts(ModelProgram program) {
        this.program = program;
        this.state = program.state;
    }

    /** An endpoint that was enabled, mostly an open one; null where there is none. */
    private End able() {
        List<End> able = state.ends.stream().filter(end -> end.rma != null && (end.open || program.chance(5))).toList();
        return able.isEmpty() ? null : program.pick(able);
    }

    private static Alias aliasOf(End end, ModelProgram program) {
        return end.aliases.isEmpty() || program.chance(40) ? null : program.pick(end.aliases);
    }

    /** Mostly one that the endpoint can reach. */
    private Known peerFor(End from) {
        Known peer = program.pick(state.peers);
        for (int tries = 0; tries < 3 && (peer.unreachable || peer.vector != from.vector); tries++) {
            peer = program.pick(state.peers);
        }
        return peer;
    }

    /** Mostly one of the peer's. */
    private Region remoteOf(Known peer) {
        Region remote = program.pick(state.regions);
        for (int tries = 0; tries < 3 && peer.end != null && remote.dom != peer.end.dom; tries++) {
            remote = program.pick(state.regions);
        }
        return remote;
    }

    /** Rule: freed memory is never named as a target; shm writes by address, whatever the key. */
    private boolean maySuffer(Region remote) {
        return remote.open || remote.ofCaller && !program.isShm();
    }

    void simple() {
        End from = able();
        if (from == null || state.peers.isEmpty()) { return; }
        Known peer = peerFor(from);
        Region remote = remoteOf(peer);
        if (maySuffer(remote)) {
            simple(Kind.values()[program.random.nextInt(Kind.values().length)], from, peer, program.pick(state.regions),
                    remote);
        }
    }

    private void simple(Kind kind, End from, Known peer, Region local, Region remote) {
        boolean forge = program.hasKeyChecks() && program.chance(2);
        RemoteRegion there = forge
                ? new RemoteRegion(remote.remote.base(), remote.remote.length(), remote.remote.key() ^ 0x1010,
                        remote.remote.accessBits())
                : remote.remote;
        long length = randomLength(kind, Math.min(local.region.length(), there.length()), from);
        long offset = randomOffset(local.region.length() - length);
        long remoteOffset = randomOffset(there.length() - length);
        boolean blocking = program.chance(40);
        Alias alias = aliasOf(from, program);
        long token = program.ledger.nextToken();
        Op op = new Op(token, kind, from, peer.end, List.of(new Piece(local, offset, remote, remoteOffset, length)),
                forge, from.isSilent(false) && !kind.isInject(), token);
        program.note((blocking ? "" : "try ") + kind + " token " + token + name(from, alias) + " peer " + peer.number
                + " region " + state.regions.indexOf(local) + "+" + offset + " remote " + state.regions.indexOf(remote)
                + "+" + remoteOffset + " length " + length + (forge ? " wrong key" : ""));
        Expect expect = expect(op, blocking, isOpen(from, alias) && local.open && !peer.unreachable)
                .refused(offset < 0 || length < 0 || remoteOffset < 0 || offset > local.region.length() - length
                        || remoteOffset > there.length() - length, IndexOutOfBoundsException.class)
                .refused(!local.has(kind.here()) || !remote.has(kind.there()), IllegalArgumentException.class)
                .refused(local.dom != from.dom || peer.vector != from.vector, IllegalArgumentException.class)
                .refused(kind.isInject() && length > from.rma.injectSize(), IllegalArgumentException.class);
        Rma rma = alias == null ? from.rma : alias.rma;
        post(op, expect, () -> ModelCalls.call(blocking, rma, op, peer.peer, there));
    }

    private static boolean isOpen(End from, Alias alias) { return from.open && (alias == null || alias.open); }

    private String name(End from, Alias alias) {
        return " endpoint " + state.ends.indexOf(from)
                + (alias == null ? "" : " by alias " + from.aliases.indexOf(alias));
    }

    /** What any post may throw; notes whether its failure may spoil others. */
    private Expect expect(Op op, boolean blocking, boolean open) {
        boolean spoils = op.to() == null || !op.to().open || op.forged()
                || op.pieces().stream().anyMatch(piece -> !piece.remote().open || piece.remote().dom != op.to().dom);
        if (spoils) { program.ledger.spoil(); }
        return new Expect(op.kind() + " with token " + op.token()).refused(!open, IllegalStateException.class)
                .tolerated(blocking, FabricTimeoutException.class)
                .tolerated(program.ledger.isSpoiled(), FabricException.class);
    }

    private void post(Op op, Expect expect, BooleanSupplier call) {
        boolean[] taken = new boolean[1];
        if (!expect.isRefused()) {
            program.ledger.begin(op); // a blocking form may complete others, never this one
        }
        expect.run(() -> taken[0] = call.getAsBoolean());
        if (taken[0]) {
            program.ledger.accepted(op);
        } else if (!expect.isRefused()) { program.ledger.refused(op); }
    }

    /** Makes a message, or changes a field of one that was posted before, and posts it. */
    void message() {
        End from = able();
        if (from == null || state.peers.isEmpty()) { return; }
        ModelMessage message;
        if (from.messages.size() < MAX_MESSAGES && from.open && program.chance(30) || from.messages.isEmpty()) {
            Alias alias = aliasOf(from, program);
            message = new ModelMessage(from, alias);
            from.messages.add(message);
            change(message, 0);
            change(message, 1);
        } else {
            message = program.pick(from.messages);
        }
        change(message, program.random.nextInt(5));
        if (message.remotes.stream().allMatch(segment -> maySuffer(segment.region()))) { post(message); }
    }

    private void change(ModelMessage message, int field) {
        End from = message.from;
        switch (field) {
            case 0 -> message.setPeer(peerFor(from));
            case 1 -> newSegments(message);
            case 2 -> message.setFlags(randomFlags());
            case 3 -> {
                Region region = program.pick(state.regions);
                message.addLocal(new ModelMessage.Segment(region, randomOffset(region.region.length()), 0));
            }
            default -> {
                // posted again as it is
            }
        }
    }

    private void newSegments(ModelMessage message) {
        End from = message.from;
        End to = message.peer == null ? null : message.peer.end;
        boolean sensible = program.chance(93);
        Kind kind = program.chance(40) ? Kind.READ : Kind.WRITE;
        List<Region> here = state.regions.stream()
                .filter(one -> !sensible || one.open && one.dom == from.dom && one.has(kind.here())).toList();
        List<Region> there = state.regions.stream().filter(this::maySuffer)
                .filter(one -> !sensible || one.open && (to == null || one.dom == to.dom) && one.has(kind.there()))
                .toList();
        if (!here.isEmpty() && !there.isEmpty()) { message.randomSegments(program.random, here, there); }
    }

    private Set<OperationFlag> randomFlags() {
        Set<OperationFlag> flags = EnumSet.noneOf(OperationFlag.class);
        while (program.chance(60)) {
            flags.add(FLAGS.get(program.random.nextInt(FLAGS.size())));
        }
        return flags;
    }

    private void post(ModelMessage message) {
        boolean isRead = program.chance(15)
                ? program.chance(50)
                : message.remotes.stream().allMatch(one -> one.region().has(Access.REMOTE_READ))
                        && message.locals.stream().allMatch(one -> one.region().has(Access.READ)) && program.chance(60);
        boolean told = message.flags.contains(OperationFlag.REMOTE_CQ_DATA);
        Kind kind = isRead ? Kind.READ : told ? Kind.WRITE_DATA : Kind.WRITE;
        boolean blocking = program.chance(40);
        long token = program.ledger.nextToken();
        if (told && program.chance(60)) { message.setData(token); }
        program.note((blocking ? "" : "try ") + kind + " message token " + token + name(message.from, message.alias)
                + " " + message);
        boolean asked = message.flags.contains(OperationFlag.COMPLETION);
        Op op = new Op(token, kind, message.from, message.peer == null ? null : message.peer.end,
                message.isComplete() ? message.pieces() : List.of(), false, message.from.isSilent(asked), message.data);
        post(op, refusals(message, kind, expect(op, blocking, isOpen(message))),
                () -> ModelCalls.call(blocking, message.message, isRead, token));
    }

    private static boolean isOpen(ModelMessage message) {
        return message.isOpen() && (message.peer == null || !message.peer.unreachable)
                && message.locals.stream().allMatch(segment -> segment.region().open);
    }

    private static Expect refusals(ModelMessage message, Kind kind, Expect expect) {
        boolean inject = message.flags.contains(OperationFlag.INJECT);
        return expect.refused(!message.isComplete(), IllegalStateException.class)
                .refused(!message.hasRights(kind), IllegalArgumentException.class)
                .refused(inject && message.length() > message.from.rma.injectSize(), IllegalArgumentException.class)
                .refused(!kind.isRead() && message.length() == 0
                        && message.flags.contains(OperationFlag.DELIVERY_COMPLETE)
                        && message.from.endpoint.info().provider().equals("shm")
                        && Libfabric.load().version().major() < 2, UnsupportedOperationException.class)
                .refused(kind.isRead() && (inject || message.flags.contains(OperationFlag.REMOTE_CQ_DATA)),
                        IllegalArgumentException.class);
    }

    private long randomLength(Kind kind, long most, End from) {
        if (program.chance(4)) {
            return new long[]{-1, most + 1, Long.MAX_VALUE, Long.MIN_VALUE, 0}[program.random.nextInt(5)];
        }
        long limit = kind.isInject() && program.chance(90) ? Math.min(most, from.rma.injectSize()) : most;
        return program.random.nextLong(limit + 1);
    }

    private long randomOffset(long most) {
        if (program.chance(2)) {
            return new long[]{-1, Math.max(0, most) + 1, Long.MAX_VALUE, Long.MIN_VALUE}[program.random.nextInt(4)];
        }
        return most <= 0 ? 0 : program.random.nextLong(most + 1);
    }
}
