package io.ofi4j.calls;

import static io.ofi4j.calls.Trial.LENGTH;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.PackagePrivate;
import io.ofi4j.Access;
import io.ofi4j.Counter;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.RawKey;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Trials of the calls of fi_mr(3). */
final class MemoryTrials {
    private static final Access[] BOTH = {Access.WRITE, Access.REMOTE_WRITE};
    private static final long KEY = 0x7654_3210L;

    private MemoryTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_mr_reg", CallTrial.of(MemoryTrials::register));
        all.put("fi_mr_reg, file", CallTrial.of(MemoryTrials::map));
        all.put("fi_mr_regv", CallTrial.of(t -> registerSegments(t, 1)));
        all.put("fi_mr_regv, 2 segments", CallTrial.of(t -> registerSegments(t, 2)));
        all.put("fi_mr_regattr, requested key", CallTrial.of(MemoryTrials::requestKey));
        all.put("fi_mr_regattr, RMA_PMEM", CallTrial.of(CallTrial.capability(Capability.RMA_PMEM),
                t -> registerWith(t, attributes -> attributes.persistent())));
        all.put("fi_mr_bind, counter", CallTrial.of(MemoryTrials::capabilityOfEvents, MemoryTrials::count));
        all.put("fi_mr_refresh", CallTrial.of(t -> {
            t.here.refresh();
            t.write();
        }));
        all.put("fi_mr_raw_attr", CallTrial.of(t -> assertThat(t.there.rawKey().key()).isNotEmpty()));
        all.put("fi_mr_map_raw, fi_mr_unmap_key", CallTrial.of(t -> {
            RawKey raw = PackagePrivate.rawKey(LENGTH, Access.REMOTE_WRITE.bit(), new byte[12]);
            t.pair.domain.mapRawKey(raw).close();
        }));
    }

    private static void register(Trial t) {
        try (Arena arena = Arena.ofShared();
                MemoryRegion from = t.pair.domain.register(arena.allocate(LENGTH), BOTH);
                MemoryRegion to = t.pair.domain.register(arena.allocate(LENGTH), BOTH)) {
            t.write(from, to);
        }
    }

    private static void map(Trial t) throws IOException {
        Path file = Files.createTempFile("ofi4j-call", null);
        try (MemoryRegion to = t.pair.domain.map(file, MapMode.READ_WRITE, 0, LENGTH, BOTH)) {
            t.write(t.here, to);
            to.force();
            assertThat(Files.readAllBytes(file)).hasSize(LENGTH).containsOnly(1);
        } finally {
            Files.delete(file);
        }
    }

    private static void registerSegments(Trial t, int count) {
        long limit = t.pair.domain.info().domain().memoryRegionIovLimit();
        if (count > limit) { throw new UnsupportedOperationException("a region has at most " + limit + " segments"); }
        try (Arena arena = Arena.ofShared()) {
            List<MemorySegment> segments = Stream.generate(() -> arena.allocate(LENGTH)).limit(count).toList();
            try (MemoryRegion from = t.pair.domain.register(segments, Access.WRITE)) {
                for (MemoryRegion part : from.parts()) {
                    t.there.segment().fill((byte) 0);
                    t.write(part, t.there);
                }
            }
        }
    }

    private static void requestKey(Trial t) {
        MemoryRegion to = registerWith(t, attributes -> attributes.requestedKey(KEY));
        assertThat(to.remote().key()).isEqualTo(KEY);
    }

    /** Changes attributes. */
    private interface Change {
        MemoryRegionAttributes of(MemoryRegionAttributes attributes);
    }

    private static MemoryRegion registerWith(Trial t, Change change) {
        try (Arena arena = Arena.ofShared();
                MemoryRegion to = t.pair.domain
                        .register(change.of(MemoryRegionAttributes.of(arena.allocate(LENGTH)).access(BOTH)))) {
            t.write(t.here, to);
            return to;
        }
    }

    /** Asks for what a counter of peers' writes needs. */
    private static FabricHints capabilityOfEvents(FabricHints hints) {
        return hints.capabilities(Capability.RMA, Capability.RMA_EVENT);
    }

    private static void count(Trial t) {
        try (Counter counter = t.pair.domain.openCounter()) {
            registerWith(t, attributes -> attributes.countedBy(counter));
            Waiting.YIELD.until(() -> {
                t.pair.poll();
                return counter.read() == 1;
            }, Pair.DEADLINE);
        }
    }
}
