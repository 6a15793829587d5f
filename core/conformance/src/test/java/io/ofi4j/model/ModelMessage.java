package io.ofi4j.model;

import io.ofi4j.PreparedRma;
import io.ofi4j.info.Capability;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.support.Expect;
import io.ofi4j.model.ModelState.Alias;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Known;
import io.ofi4j.model.ModelState.Piece;
import io.ofi4j.model.ModelState.Region;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A prepared operation and what the model believes that it says. */
final class ModelMessage {
    private static final int MAX_SEGMENTS = 4;

    /** Some bytes of a region. */
    record Segment(Region region, long offset, long length) {}

    final End from;
    /** Through which it was made, or null. */
    final Alias alias;
    final PreparedRma message;
    final List<Segment> locals = new ArrayList<>();
    final List<Segment> remotes = new ArrayList<>();
    Known peer;
    Set<OperationFlag> flags = EnumSet.noneOf(OperationFlag.class);
    long data;

    ModelMessage(End from, Alias alias) {
        this.from = from;
        this.alias = alias;
        this.message = (alias == null ? from.rma : alias.rma).prepare();
    }

    boolean isOpen() { return from.open && (alias == null || alias.open); }

    void clear() {
        message.clear();
        locals.clear();
        remotes.clear();
    }

    void addLocal(Segment segment) {
        boolean refused = isOutside(segment);
        if (new Expect("local segment").refused(refused, IndexOutOfBoundsException.class)
                .refused(segment.region.dom != from.dom, IllegalArgumentException.class)
                .refused(locals.size() == message.localLimit(), IllegalArgumentException.class)
                .run(() -> message.local(segment.region.region, segment.offset, segment.length))) {
            locals.add(segment);
        }
    }

    void addRemote(Segment segment) {
        boolean refused = isOutside(segment);
        if (new Expect("remote segment").refused(refused, IndexOutOfBoundsException.class)
                .refused(remotes.size() == message.remoteLimit(), IllegalArgumentException.class)
                .run(() -> message.remote(segment.region.remote, segment.offset, segment.length))) {
            remotes.add(segment);
        }
    }

    private static boolean isOutside(Segment segment) {
        return segment.offset < 0 || segment.length < 0
                || segment.offset > segment.region.region.length() - segment.length;
    }

    void setPeer(Known whose) {
        if (new Expect("peer of a message").refused(whose.vector != from.vector, IllegalArgumentException.class)
                .run(() -> message.peer(whose.peer))) {
            peer = whose;
        }
    }

    void setFlags(Set<OperationFlag> wanted) {
        Set<Capability> offered = from.endpoint.info().capabilities();
        boolean lacks = wanted.contains(OperationFlag.FENCE) && !offered.contains(Capability.FENCE)
                || wanted.contains(OperationFlag.COMMIT_COMPLETE) && !offered.contains(Capability.RMA_PMEM);
        if (new Expect("flags " + wanted).refused(lacks, UnsupportedOperationException.class)
                .run(() -> message.flags(wanted.toArray(OperationFlag[]::new)))) {
            flags = wanted;
        }
    }

    void setData(long value) {
        message.data(value);
        data = value;
    }

    /** New segments, as many bytes here as there: some of these regions, as long as they have the rights. */
    void randomSegments(Random random, List<Region> here, List<Region> there) {
        clear();
        int parts = 1 + random.nextInt(Math.min(message.remoteLimit(), MAX_SEGMENTS));
        long left = 0;
        for (int part = 0; part < parts; part++) {
            Region region = there.get(random.nextInt(there.size()));
            long length = random.nextLong(1 + region.region.length());
            addRemote(new Segment(region, random.nextLong(1 + region.region.length() - length), length));
            left += length;
        }
        for (int part = 1; part <= message.localLimit() && (left > 0 || part == 1); part++) {
            Region region = here.get(random.nextInt(here.size()));
            long length = Math.min(left, region.region.length());
            if (part < Math.min(message.localLimit(), MAX_SEGMENTS)) { length = random.nextLong(1 + length); }
            addLocal(new Segment(region, random.nextLong(1 + region.region.length() - length), length));
            left -= length;
        }
    }

    long length() { return locals.stream().mapToLong(Segment::length).sum(); }

    boolean isComplete() {
        return peer != null && !locals.isEmpty() && !remotes.isEmpty()
                && length() == remotes.stream().mapToLong(Segment::length).sum();
    }

    boolean hasRights(Kind kind) {
        return locals.stream().allMatch(segment -> segment.region.has(kind.here()))
                && remotes.stream().allMatch(segment -> segment.region.has(kind.there()));
    }

    /** What is copied where. */
    List<Piece> pieces() {
        List<Piece> pieces = new ArrayList<>();
        int remote = 0;
        long remoteUsed = 0;
        for (Segment local : locals) {
            long used = 0;
            while (used < local.length) {
                Segment there = remotes.get(remote);
                long length = Math.min(local.length - used, there.length - remoteUsed);
                pieces.add(
                        new Piece(local.region, local.offset + used, there.region, there.offset + remoteUsed, length));
                used += length;
                remoteUsed += length;
                if (remoteUsed == there.length) {
                    remote++;
                    remoteUsed = 0;
                }
            }
        }
        return pieces.isEmpty()
                ? List.of(new Piece(locals.getFirst().region, 0, remotes.getFirst().region, 0, 0))
                : pieces;
    }

    @Override
    public String toString() {
        return "peer " + (peer == null ? null : peer.number) + " locals " + text(locals) + " remotes " + text(remotes)
                + " flags " + flags;
    }

    private static String text(List<Segment> segments) {
        return segments.stream().map(one -> one.region.value - 1 + "+" + one.offset + "*" + one.length).toList()
                .toString();
    }
}
