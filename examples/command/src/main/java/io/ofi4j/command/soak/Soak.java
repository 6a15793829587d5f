package io.ofi4j.command.soak;

import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.command.Interrupt;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.command.doctor.AbandonedShmFiles;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Rounds until the time is up, with a fault now and then. One target lives as long as this process does, so that what
 * it holds at the end can be compared; those that are killed are started for that.
 */
final class Soak {
    /** For a process to start and to answer, on a machine that has much else to do. */
    private static final Duration TO_ANSWER = Duration.ofSeconds(90);
    private static final Duration GRACE = Duration.ofSeconds(60);
    private static final Duration TO_SAY = Duration.ofSeconds(5);
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final int MOST_PAUSE_MILLIS = 200;
    /** The part of the time after which usage should not grow any more. */
    private static final double WARM = 0.3;

    private final Libfabric libfabric;
    private final FabricInfo info;
    private final List<String> targetArguments;
    private final boolean faults;
    private final Fates fates;
    private final Random random;
    private final Pace pace;
    private final Tally tally = new Tally();
    private final Interrupt interrupt;
    private final PrintWriter err;
    private final List<Long> killed = new ArrayList<>();
    private Held before;
    private Held warm;
    private Held end;

    Soak(Libfabric libfabric, FabricInfo info, List<String> targetArguments, boolean faults, long seed,
            Interrupt interrupt, PrintWriter err) {
        this.interrupt = interrupt;
        this.err = err;
        this.libfabric = libfabric;
        this.info = info;
        this.targetArguments = targetArguments;
        this.faults = faults;
        random = new Random(seed);
        fates = new Fates(random, faults);
        pace = Pace.of(info.provider());
    }

    Outcome run(Duration duration) {
        TargetProcess target = new TargetProcess(targetArguments, TO_ANSWER);
        try (Fabric fabric = libfabric.openFabric(info); Domain domain = fabric.openDomain()) {
            target.ask("ready", () -> {});
            before = Held.now(target);
            rounds(domain, target, duration.toNanos());
            end = Held.now(target);
        } finally {
            target.close();
        }
        if (target.exitCode() != 0) { tally.mismatch("the second process ended with exit code " + target.exitCode()); }
        return new Outcome(tally, faults, before, warm, end, leftAtEnd(target));
    }

    /**
     * Until the time is up, and on a slow machine somewhat longer: until each fault was there, and a round after it was
     * warm.
     */
    private void rounds(Domain domain, TargetProcess target, long nanos) {
        long start = System.nanoTime();
        boolean isComplete = false;
        long elapsed = 0;
        long said = 0;
        while (!interrupt.isAsked() && (elapsed < nanos || !isComplete && elapsed < nanos + GRACE.toNanos())) {
            if (warm == null && elapsed > nanos * WARM && fates.eachWasDealt()) { warm = Held.now(target); }
            round(domain, target);
            isComplete = warm != null;
            elapsed = System.nanoTime() - start;
            if (elapsed - said > TO_SAY.toNanos()) {
                said = elapsed;
                say(elapsed, nanos);
            }
        }
    }

    private void say(long elapsed, long nanos) {
        err.printf("%d of %d s: %d rounds, %d operations, %d faults, %d mismatches%n", elapsed / NANOS_PER_SECOND,
                nanos / NANOS_PER_SECOND, tally.rounds, tally.operations, tally.faultCount(), tally.mismatchCount());
        err.flush();
    }

    /**
     * What is left in /dev/shm after those that were killed, once what nobody has was removed, and after the two that
     * ended well.
     */
    private long leftAtEnd(TargetProcess target) {
        return leftOfKilled() + Usage.sharedFiles(target.pid()) + Usage.sharedFiles(ProcessHandle.current().pid());
    }

    /** Files that killed processes left and that cannot be removed, because a process still has them mapped. */
    private long leftOfKilled() {
        AbandonedShmFiles.remove();
        return killed.stream().mapToLong(Usage::sharedFiles).sum();
    }

    private void round(Domain domain, TargetProcess target) {
        Fates.Fate fate = fates.next();
        if (fate == Fates.Fate.TARGET_KILLED) {
            roundThatKills(domain);
            return;
        }
        Round round = new Round(domain, target, random, tally, pace);
        round.run();
        if (fate == Fates.Fate.CLOSED_IN_USE) {
            tally.fault(fate.text());
            round.endAbruptly();
            return;
        }
        if (fate == Fates.Fate.TARGET_STOPPED) {
            tally.fault(fate.text());
            target.pause(Duration.ofMillis(1 + random.nextInt(MOST_PAUSE_MILLIS)));
            round.run();
        }
        round.endInOrder();
    }

    private void roundThatKills(Domain domain) {
        try (TargetProcess target = new TargetProcess(targetArguments, TO_ANSWER)) {
            Round round = new Round(domain, target, random, tally, pace);
            round.run();
            tally.fault(Fates.Fate.TARGET_KILLED.text());
            target.kill();
            killed.add(target.pid());
            tally.leftByKilled += Usage.sharedFiles(target.pid());
            round.endWithoutTarget(random.nextInt(20));
            if (leftOfKilled() > 0) {
                tally.mismatch("what a killed process left in /dev/shm is still in use after its peer has closed");
            }
        }
    }
}
