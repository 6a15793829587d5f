package io.ofi4j.hostile;

import io.ofi4j.Domain;
import io.ofi4j.durable.Durability;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Savers come, save, and go or are left alone with saves in flight, in the owner's domain, in domains of their own and
 * in another process, while one service serves them all. Each save that comes back is right, and the last saver's are.
 */
final class HostileSavers {
    private static final int PIECES = 1024;
    /** More savers than a service has places for messages come in two rounds. */
    private static final int STEPS = 60;
    private static final int SAVERS = 4;
    private static final int ABANDONED = 3;
    private static final int BURST = 12;
    private static final int HONEST = 16;
    /** What another process writes. */
    private static final int ELSEWHERE = 64;
    private static final int LEFT = 3;

    private final HostileRun run;
    private final Random random;
    private final HostileOwner owner;
    private final MemorySegment file;
    private final List<HostileSaver> savers = new ArrayList<>();
    private final List<HostileSaver> abandoned = new ArrayList<>();
    private final SortedSet<Integer> saved = new TreeSet<>();
    private int next;
    private Forked.Running elsewhere;

    private HostileSavers(HostileRun run, Random random, HostileOwner owner, MemorySegment file) {
        this.run = run;
        this.random = random;
        this.owner = owner;
        this.file = file;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        while (run.goesOn()) {
            Path path = HostilePieces.file(PIECES);
            try {
                SortedSet<Integer> saved;
                try (Arena arena = Arena.ofShared(); HostileOwner owner = new HostileOwner(run.provider, path)) {
                    MemorySegment file = map(path, arena);
                    saved = new HostileSavers(run, random, owner, file).round();
                }
                MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(path));
                saved.forEach(number -> HostilePieces.require(bytes, number, "after its owner has closed"));
            } finally {
                Files.delete(path);
            }
            run.tried("rounds");
        }
    }

    static MemorySegment map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            return channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
        }
    }

    static Durability anyLevel(Random random) {
        return Durability.values()[random.nextInt(Durability.values().length)];
    }

    private SortedSet<Integer> round() throws IOException {
        boolean hasElsewhere = random.nextInt(3) == 0;
        int itsTurn = random.nextInt(STEPS / 2);
        for (int step = 0; step < STEPS; step++) {
            if (hasElsewhere && step == itsTurn) { startElsewhere(); }
            step();
        }
        if (elsewhere != null) { endElsewhere(); }
        savers.addAll(abandoned);
        Collections.shuffle(savers, random);
        while (!savers.isEmpty()) {
            leave(savers.removeLast());
        }
        honest();
        return saved;
    }

    private void step() {
        HostileSaver saver = savers.isEmpty() ? null : savers.get(random.nextInt(savers.size()));
        switch (saver == null ? 0 : random.nextInt(8)) {
            case 0, 1 -> {
                if (savers.size() < SAVERS) { savers.add(open()); }
            }
            case 2 -> {
                savers.remove(saver);
                leave(saver);
            }
            case 3 -> {
                if (abandoned.size() < ABANDONED) {
                    savers.remove(saver);
                    abandoned.add(saver);
                    run.tried("savers left alone");
                }
            }
            case 4 -> saver.nameAgain();
            case 5 -> savers.forEach(HostileSaver::poll);
            default -> {
                for (int i = random.nextInt(BURST); i > 0 && next < PIECES - ELSEWHERE - HONEST; i--) {
                    saver.save(next++, anyLevel(random));
                    run.tried("saves");
                }
            }
        }
        owner.progress();
    }

    private HostileSaver open() {
        run.tried("savers");
        Domain domain = random.nextBoolean() ? owner.domain : null;
        return new HostileSaver(run.provider, domain, owner.name(), file, random, owner::progress);
    }

    private void leave(HostileSaver saver) {
        if (random.nextInt(LEFT) == 0) { saver.awaitAll(); }
        saver.close();
        saved.addAll(saver.saved);
    }

    /** A new saver, after all: the service is not deaf. */
    private void honest() {
        long before = owner.service.answered();
        HostileSaver saver = open();
        for (int i = 0; i < HONEST; i++) {
            saver.save(next++, Durability.values()[i % Durability.values().length]);
        }
        saver.awaitAll();
        if (saver.saved.size() != HONEST || owner.service.answered() < before + HONEST) {
            throw new AssertionError(
                    saver.saved + " of " + HONEST + " were saved; answered " + (owner.service.answered() - before));
        }
        leave(saver);
    }

    private void startElsewhere() {
        List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
        arguments.addAll(List.of(run.provider, Integer.toString(PIECES - ELSEWHERE),
                Long.toString(random.nextLong() & Long.MAX_VALUE), owner.file.toString(), owner.name().encode()));
        elsewhere = Forked.start(Elsewhere.class, arguments.toArray(String[]::new));
        run.tried("savers of another process");
    }

    private void endElsewhere() throws IOException {
        for (long end = System.nanoTime() + Pair.DEADLINE.multipliedBy(3).toNanos(); elsewhere.process().isAlive()
                && System.nanoTime() < end;) {
            owner.progress();
        }
        Forked.Result result = elsewhere.await(1);
        HostileKills.removeFiles(elsewhere.process());
        if (result.exit() != Elsewhere.WENT && result.exit() != Elsewhere.LEFT_ALONE) {
            throw new AssertionError("the other process ended with " + result.exit() + ":\n" + result.output());
        }
        List<Integer> its = result.output().lines().filter(line -> line.startsWith("saved "))
                .map(line -> Integer.valueOf(line.substring("saved ".length()))).toList();
        its.forEach(number -> HostilePieces.require(file, number, "which another process has saved"));
        saved.addAll(its);
    }

    /**
     * Saves from another process, and leaves, or ends with saves in flight. Arguments: the provider, the first piece,
     * the seed, the file, and the name of the owner.
     */
    static final class Elsewhere {
        static final int WENT = 0;
        static final int LEFT_ALONE = 43;

        private Elsewhere() {}

        public static void main(String[] arguments) throws IOException {
            Random random = new Random(Long.parseLong(arguments[2]));
            MemorySegment file = map(Path.of(arguments[3]), Arena.global());
            HostileSaver saver = new HostileSaver(arguments[0], null, HostileOwner.Name.decode(arguments[4]), file,
                    random, () -> {});
            int first = Integer.parseInt(arguments[1]);
            int count = random.nextInt(ELSEWHERE);
            for (int i = 0; i < count; i++) {
                saver.save(first + i, anyLevel(random));
            }
            if (random.nextBoolean()) { saver.awaitAll(); }
            saver.saved.forEach(number -> System.out.println("saved " + number));
            if (random.nextBoolean()) { Runtime.getRuntime().halt(LEFT_ALONE); }
            saver.close();
            System.exit(WENT);
        }
    }
}
