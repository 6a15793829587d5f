package io.ofi4j.hostile;

import io.ofi4j.durable.Durability;
import io.ofi4j.support.Forked;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The owner of a file, and who writes and saves it, are killed (SIGKILL) at any time, and others take their places: all
 * that was said to be saved, before any of the kills, is in the file.
 */
final class HostileRestarts {
    private static final int PIECES = 2048;
    private static final int MOMENT_MILLIS = 400;
    /** A killed peer may leave an endpoint of it stuck. */
    private static final String MAY_STICK = "shm";

    private final HostileRun run;
    private final Random random;
    private final Path path;
    private final MemorySegment file;
    private final SortedSet<Integer> saved = new TreeSet<>();

    private HostileRestarts(HostileRun run, Random random, Path path, MemorySegment file) {
        this.run = run;
        this.random = random;
        this.path = path;
        this.file = file;
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        while (run.goesOn()) {
            Path path = HostilePieces.file(PIECES);
            try (Arena arena = Arena.ofShared()) {
                HostileRestarts restarts = new HostileRestarts(run, random, path, HostileSavers.map(path, arena));
                do {
                    restarts.life();
                } while (run.goesOn() && restarts.saved.size() < PIECES / 2);
            } finally {
                Files.delete(path);
            }
            run.tried("files");
        }
    }

    /** One owner, and one writer after the other, until the owner is killed. */
    private void life() throws Exception {
        Forked.Running owner = start(Owner.class, path.toString());
        try {
            String name = owner.awaitLine("ready ");
            boolean isOwnerLeft = true;
            while (isOwnerLeft) {
                isOwnerLeft = !run.provider.equals(MAY_STICK) && random.nextInt(3) == 0;
                work(owner, isOwnerLeft, name);
            }
        } finally {
            HostileKills.kill(owner);
        }
        check("after a kill of the owner");
        MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(path));
        saved.forEach(number -> HostilePieces.require(bytes, number, "read after a kill of the owner"));
    }

    /** A writer works for a moment after its first piece, and then is killed, with its owner or alone. */
    private void work(Forked.Running owner, boolean isOwnerLeft, String name) throws Exception {
        String known = saved.stream().map(Object::toString).collect(Collectors.joining(",", "saved:", ""));
        Forked.Running writer = start(Writer.class, path.toString(), known, name);
        try {
            writer.awaitLine("saved ");
            Thread.sleep(random.nextInt(MOMENT_MILLIS));
            boolean isOwnerFirst = !isOwnerLeft && random.nextBoolean();
            if (isOwnerFirst) {
                HostileKills.kill(owner);
                Thread.sleep(random.nextInt(MOMENT_MILLIS / 4));
            } else if (!owner.process().isAlive() || !writer.process().isAlive()) {
                throw new AssertionError("ended too early: " + owner.output() + "\n" + writer.output());
            }
        } finally {
            HostileKills.kill(writer);
        }
        List<String> lines = writer.output().lines().filter(line -> line.startsWith("saved ")).toList();
        for (String line : lines) {
            saved.add(Integer.valueOf(line.substring("saved ".length())));
            run.tried("saves");
        }
        run.tried(isOwnerLeft ? "kills of a writer" : "kills of an owner");
        check("after a kill");
    }

    private void check(String after) { saved.forEach(number -> HostilePieces.require(file, number, after)); }

    private Forked.Running start(Class<?> main, String... rest) {
        List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
        arguments.addAll(List.of(run.provider, Long.toString(random.nextLong() & Long.MAX_VALUE)));
        arguments.addAll(List.of(rest));
        return Forked.start(main, arguments.toArray(String[]::new));
    }

    /** Maps the file, whatever it has. Arguments: the provider, a seed, and the file. */
    static final class Owner {
        private Owner() {}

        public static void main(String[] arguments) throws IOException {
            HostileOwner owner = new HostileOwner(arguments[0], Path.of(arguments[2]));
            if (new Random(Long.parseLong(arguments[1])).nextBoolean()) { owner.service.start(); }
            System.out.println("ready " + owner.name().encode());
            while (true) {
                owner.progress();
            }
        }
    }

    /**
     * Saves pieces that are not saved yet, in any order. Arguments: the provider, a seed, the file, the numbers of the
     * saved pieces, and the name of the owner.
     */
    static final class Writer {
        private Writer() {}

        public static void main(String[] arguments) throws IOException {
            Random random = new Random(Long.parseLong(arguments[1]));
            MemorySegment file = HostileSavers.map(Path.of(arguments[2]), Arena.global());
            String known = arguments[3].substring("saved:".length());
            SortedSet<Integer> before = new TreeSet<>();
            for (String number : known.isEmpty() ? new String[0] : known.split(",")) {
                before.add(Integer.valueOf(number));
            }
            HostileSaver saver = new HostileSaver(arguments[0], null, HostileOwner.Name.decode(arguments[4]), file,
                    random, () -> {});
            SortedSet<Integer> said = new TreeSet<>();
            for (int number = 0; number < PIECES; number++) {
                if (before.contains(number)) { continue; }
                saver.save(number, random.nextBoolean() ? Durability.PROCESS_SAFE : Durability.POWER_SAFE);
                saver.poll();
                for (int one : saver.saved) {
                    if (said.add(one)) { System.out.println("saved " + one); }
                }
            }
            Runtime.getRuntime().halt(1); // so many, in so short a time: the program needs more pieces
        }
    }
}
