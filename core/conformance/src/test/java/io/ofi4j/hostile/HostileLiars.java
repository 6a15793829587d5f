package io.ofi4j.hostile;

import io.ofi4j.durable.Durability;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A save service among clients that lie, flood it and go, a rendezvous and a server of peers among strangers: honest
 * clients beside them are served rightly, all the time.
 */
final class HostileLiars {
    private static final int PIECES = 256;
    private static final int STEPS = 60;
    private static final int LIARS = 3;
    private static final int BURST = 6;
    /** Of so many rounds, one is of a rendezvous, and one of a server of peers. */
    private static final int KINDS = 4;

    private final HostileRun run;
    private final Random random;
    private final HostileOwner owner;
    private final HostileSaver honest;
    private final List<HostileLiar> liars = new ArrayList<>();

    private HostileLiars(HostileRun run, Random random, HostileOwner owner, HostileSaver honest) {
        this.run = run;
        this.random = random;
        this.owner = owner;
        this.honest = honest;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        for (int round = 0; run.goesOn(); round++) {
            switch (round % KINDS) {
                case 1 -> new HostileStrangers(run, random).round();
                case 2 -> new HostilePeers(run, random).round();
                default -> round(run, random);
            }
        }
    }

    private static void round(HostileRun run, Random random) throws Exception {
        Path path = HostilePieces.file(PIECES);
        try (Arena arena = Arena.ofShared(); HostileOwner owner = new HostileOwner(run.provider, path)) {
            if (random.nextBoolean()) { owner.service.start(); }
            MemorySegment file = HostileSavers.map(path, arena);
            HostileSaver honest = new HostileSaver(run.provider, null, owner.name(), file, random, owner::progress);
            new HostileLiars(run, random, owner, honest).round();
        } finally {
            Files.delete(path);
        }
        run.tried("rounds");
    }

    private void round() {
        int next = 0;
        for (int step = 0; step < STEPS; step++) {
            HostileLiar liar = liars.isEmpty() ? null : liars.get(random.nextInt(liars.size()));
            switch (liar == null ? 0 : random.nextInt(10)) {
                case 0 -> {
                    if (liars.size() < LIARS) { liars.add(new HostileLiar(run, random, owner.name())); }
                }
                case 1 -> {
                    liars.remove(liar);
                    liar.close();
                }
                case 2 -> {
                    for (int i = random.nextInt(BURST); i > 0; i--) {
                        honest.save(next++, HostileSavers.anyLevel(random));
                        run.tried("honest saves");
                    }
                }
                case 3 -> honest.awaitAll();
                default -> liar.lie();
            }
            owner.progress();
        }
        honest.save(next++, Durability.POWER_SAFE);
        honest.awaitAll();
        if (honest.saved.size() != next) { throw new AssertionError(honest.saved + " were saved, of " + next); }
        owner.service.failure().ifPresent(failure -> {
            throw new AssertionError("the service has ended", failure);
        });
        liars.forEach(HostileLiar::close);
        honest.close();
    }
}
