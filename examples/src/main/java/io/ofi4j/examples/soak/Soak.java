package io.ofi4j.examples.soak;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.FabricInfo;
import io.ofi4j.Libfabric;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** Rounds until the time is up, with a fault now and then. */
final class Soak {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int MOST_OPERATIONS = 1500;
    private static final int MOST_PAUSE_MILLIS = 200;
    /** The part of the time after which usage should not grow any more. */
    private static final double WARM = 0.3;

    private final Libfabric libfabric;
    private final FabricInfo info;
    private final List<String> targetArguments;
    private final boolean faults;
    private final Random random;
    private final Tally tally = new Tally();
    private Usage warm;
    private Usage end;

    Soak(Libfabric libfabric, FabricInfo info, List<String> targetArguments, boolean faults, long seed) {
        this.libfabric = libfabric;
        this.info = info;
        this.targetArguments = targetArguments;
        this.faults = faults;
        this.random = new Random(seed);
    }

    void run(Duration duration) {
        long start = System.nanoTime();
        try (Fabric fabric = libfabric.openFabric(info); Domain domain = fabric.openDomain()) {
            TargetProcess target = new TargetProcess(targetArguments, TIMEOUT);
            try {
                while (System.nanoTime() - start < duration.toNanos()) {
                    target = round(domain, target);
                    if (warm == null && System.nanoTime() - start > duration.toNanos() * WARM) {
                        warm = usage();
                    }
                }
            } finally {
                target.close();
            }
        }
        end = usage();
    }

    private TargetProcess round(Domain domain, TargetProcess target) {
        Round round = new Round(domain, target, random, tally, TIMEOUT);
        round.run(random.nextInt(MOST_OPERATIONS));
        int fate = faults ? random.nextInt(10) : Integer.MAX_VALUE;
        if (fate == 0) {
            tally.fault("target killed");
            target.kill();
            round.endWithoutTarget(random.nextInt(20));
            target.close();
            return new TargetProcess(targetArguments, TIMEOUT);
        }
        if (fate == 1) {
            tally.fault("endpoint closed in use");
            round.endAbruptly();
            return target;
        }
        if (fate <= 3) {
            tally.fault("target stopped for a while");
            target.pause(Duration.ofMillis(1 + random.nextInt(MOST_PAUSE_MILLIS)));
            round.run(random.nextInt(MOST_OPERATIONS / 2));
        }
        round.endInOrder();
        return target;
    }

    private static Usage usage() {
        System.gc();
        return Usage.of(ProcessHandle.current().pid());
    }

    Tally tally() {
        return tally;
    }

    /** What this process held when it was warm; null where it never was. */
    Usage warm() {
        return warm;
    }

    Usage end() {
        return end;
    }
}
