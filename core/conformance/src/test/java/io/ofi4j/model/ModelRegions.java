package io.ofi4j.model;

import io.ofi4j.Access;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.support.Expect;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The regions of a random program about connections, which are closed and replaced at any moment. */
final class ModelRegions {
    /** One program in so many moves much at once. */
    private static final int WITH_MUCH = 6;
    private static final int LITTLE = 2_000;
    private static final int MUCH = 40_000;
    private static final int OF_EACH = 2;
    private static final int MAX_OF_EACH = 8;
    private static final int SHORT_NANOS = 300_000;

    /** What a region is for. */
    private enum Role {
        SOURCE(Access.WRITE, 1),
        LANDING(Access.READ, 0),
        TARGET(Access.REMOTE_WRITE, 0),
        ORIGIN(Access.REMOTE_READ, 20);

        private final Access right;
        /** What the first region of the role is filled with. */
        private final int value;

        Role(Access right, int value) {
            this.right = right;
            this.value = value;
        }

        private boolean sends() { return value > 0; }
    }

    private final ModelConnections program;
    final int length;
    private final Arena arena = Arena.ofShared();
    private final Map<Role, List<Region>> regions = new EnumMap<>(Role.class);

    ModelRegions(ModelConnections program) {
        this.program = program;
        this.length = program.random.nextInt(WITH_MUCH) == 0 ? MUCH : LITTLE;
        for (Role role : Role.values()) {
            regions.put(role, new ArrayList<>());
            for (int count = 0; count < OF_EACH; count++) {
                open(role);
            }
        }
    }

    private void open(Role role) {
        List<Region> others = regions.get(role);
        Region region = new Region();
        region.ofCaller = program.chance(50);
        region.value = role.sends() ? role.value + others.size() : role.value;
        if (region.ofCaller) {
            region.memory = ModelMemory.ofCaller(arena, length, region.value);
            region.region = program.domain.register(region.memory.segment(), role.right);
        } else {
            region.region = program.domain.allocate(length, role.right);
            region.memory = ModelMemory.ofRegion(region.region, region.value);
        }
        region.remote = region.region.remote();
        others.add(region);
    }

    /** Mostly an open one. */
    private Region any(Role role) {
        Region region = program.pick(regions.get(role));
        for (int tries = 0; tries < 3 && !region.open; tries++) {
            region = program.pick(regions.get(role));
        }
        return region;
    }

    Region localFor(Kind kind) { return any(kind.isRead() ? Role.LANDING : Role.SOURCE); }

    Region remoteFor(Kind kind) { return any(kind.isRead() ? Role.ORIGIN : Role.TARGET); }

    /** One that is open, if there is one left that may be closed and replaced; else null. */
    Region anyToClose() {
        Role role = Role.values()[program.random.nextInt(Role.values().length)];
        if (regions.get(role).size() >= MAX_OF_EACH) { return null; }
        open(role);
        return any(role);
    }

    /** Rule: at once where nothing is in flight, later otherwise; what is in flight keeps its memory. */
    void close(Region region) {
        boolean waits = program.chance(30);
        program.note((waits ? "close and wait for " : "close ") + region);
        if (region.ofCaller || region.open) { region.memory.check(region); }
        boolean finished = new Expect("close(region)").tolerated(waits, FabricTimeoutException.class).run(() -> {
            if (waits) {
                region.region.close(Duration.ofNanos(program.random.nextInt(SHORT_NANOS)));
            } else {
                region.region.close();
            }
        });
        region.open = false;
        boolean inFlight = region.region.operationsInFlight() > 0;
        boolean alive = isAlive(region);
        if (region.region.isOpen() || waits && finished && (inFlight || alive)
                || inFlight && !alive && !region.ofCaller) {
            throw new AssertionError(region + " is closed, in flight: " + inFlight + ", its memory lives: " + alive);
        }
    }

    private static boolean isAlive(Region region) {
        return !region.ofCaller && region.memory.segment().scope().isAlive();
    }

    private Stream<Region> all() { return regions.values().stream().flatMap(List::stream); }

    /** Every endpoint is closed. */
    void requireIdle() {
        all().forEach(region -> {
            if (region.region.operationsInFlight() != 0 || !region.open && isAlive(region)) {
                throw new AssertionError(region + " still has operations, or its memory");
            }
            if (region.ofCaller || region.open) { region.memory.check(region); }
        });
    }

    void closeAll() {
        all().forEach(region -> {
            region.region.close();
            if (isAlive(region)) { throw new AssertionError("the memory of " + region + " was not freed"); }
        });
        arena.close();
    }
}
