package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.LENGTH;

import io.ofi4j.Access;
import io.ofi4j.Counter;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Trials of the calls of fi_mr(3). */
final class MemoryTrials {
    private static final Access[] BOTH = {Access.WRITE, Access.REMOTE_WRITE};
    private static final long KEY = 0x7654_3210L;

    private MemoryTrials() {}

    static void addTo(Map<String, Trial> all) {
        all.put("fi_mr_reg", RmaTrial.of(MemoryTrials::register));
        all.put("fi_mr_reg, file", RmaTrial.of(MemoryTrials::map));
        all.put("fi_mr_regv", RmaTrial.of(t -> registerSegments(t, 1)));
        all.put("fi_mr_regv, 2 segments", RmaTrial.of(t -> registerSegments(t, 2)));
        all.put("fi_mr_regattr, requested key", RmaTrial.of(MemoryTrials::requestKey));
        all.put("fi_mr_regattr, RMA_PMEM", RmaTrial.of(RmaTrial.capability(Capability.RMA_PMEM),
                t -> registerWith(t, attributes -> attributes.persistent())));
        all.put("fi_mr_bind, counter", RmaTrial.of(MemoryTrials::capabilityOfEvents, MemoryTrials::count));
        all.put("fi_mr_refresh", RmaTrial.of(t -> {
            t.here.refresh();
            t.write();
        }));
        all.put("fi_mr_raw_attr",
                RmaTrial.of(t -> Check.holds("a raw key has bytes", t.there.rawKey().key().length > 0)));
        all.put("fi_mr_map_raw, fi_mr_unmap_key", RmaTrial.of(t -> t.ends.domain.mapRawKey(t.there.rawKey()).close()));
    }

    private static void register(RmaSetting t) {
        try (Arena arena = Arena.ofShared();
                MemoryRegion from = t.ends.domain.register(arena.allocate(LENGTH), BOTH);
                MemoryRegion to = t.ends.domain.register(arena.allocate(LENGTH), BOTH)) {
            t.write(from, to);
        }
    }

    private static void map(RmaSetting t) throws IOException {
        Path file = Files.createTempFile("ofi4j-call", null);
        try (MemoryRegion to = t.ends.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, BOTH)) {
            t.write(t.here, to);
            to.force();
            byte[] ones = new byte[LENGTH];
            Arrays.fill(ones, (byte) 1);
            Check.equal("the bytes of the file", Files.readAllBytes(file), ones);
        } finally {
            Files.delete(file);
        }
    }

    private static void registerSegments(RmaSetting t, int count) {
        long limit = t.ends.domain.info().domain().memoryRegionIovLimit();
        if (count > limit) { throw new UnsupportedOperationException("a region has at most " + limit + " segments"); }
        try (Arena arena = Arena.ofShared()) {
            List<MemorySegment> segments = Stream.generate(() -> arena.allocate(LENGTH)).limit(count).toList();
            try (MemoryRegion from = t.ends.domain.register(segments, Access.WRITE)) {
                for (MemoryRegion part : from.parts()) {
                    t.there.segment().fill((byte) 0);
                    t.write(part, t.there);
                }
            }
        }
    }

    private static void requestKey(RmaSetting t) {
        MemoryRegion to = registerWith(t, attributes -> attributes.requestedKey(KEY));
        Check.equal("the key", to.remote().key(), KEY);
    }

    /** Changes attributes. */
    private interface Change {
        MemoryRegionAttributes of(MemoryRegionAttributes attributes);
    }

    private static MemoryRegion registerWith(RmaSetting t, Change change) {
        try (Arena arena = Arena.ofShared();
                MemoryRegion to = t.ends.domain
                        .register(change.of(MemoryRegionAttributes.of(arena.allocate(LENGTH)).access(BOTH)))) {
            t.write(t.here, to);
            return to;
        }
    }

    /** Asks for what a counter of peers' writes needs. */
    private static FabricHints capabilityOfEvents(FabricHints hints) {
        return hints.capabilities(Capability.RMA, Capability.RMA_EVENT);
    }

    private static void count(RmaSetting t) {
        try (Counter counter = t.ends.domain.openCounter()) {
            registerWith(t, attributes -> attributes.countedBy(counter));
            t.ends.await(() -> counter.read() == 1);
        }
    }
}
