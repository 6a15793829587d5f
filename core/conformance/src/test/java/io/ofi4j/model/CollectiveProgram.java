package io.ofi4j.model;

import io.ofi4j.CollectiveGroup;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A random program of collective operations: up to four members are in up to three groups, and post the operations of
 * each in the same order, but not at the same time. Checked against a model: every token comes back once, every result
 * is the one that Java computes, and nothing beside it is touched. Half of the programs close the endpoints with
 * operations in flight.
 */
final class CollectiveProgram {
    private static final int STEPS = 600;
    private static final int MOST_MEMBERS = 4;
    private static final int MOST_GROUPS = 3;
    private static final List<AtomicOperation> REDUCTIONS = List.of(AtomicOperation.SUM, AtomicOperation.MIN,
            AtomicOperation.MAX, AtomicOperation.BXOR, AtomicOperation.BAND, AtomicOperation.BOR);

    private final Random random;
    private final CollectiveWorld world;
    /** The members of each group, by rank. */
    private final List<List<Integer>> groups = new ArrayList<>();
    /** As each of them knows the group. */
    private final List<List<CollectiveGroup>> places = new ArrayList<>();
    /** By the place in the members' memory that an operation uses; null if it is free. */
    private final Operation[] active = new Operation[CollectiveWorld.PLACES];
    private int done;

    /** What the members of a group do together. */
    private final class Operation {
        final int group;
        final int place;
        final int kind = random.nextInt(5);
        final AtomicOperation reduction = REDUCTIONS.get(random.nextInt(REDUCTIONS.size()));
        final int root;
        final int count;
        final int size;
        final long salt = random.nextLong();
        int completed;

        Operation(int group, int place) {
            this.group = group;
            this.place = place;
            this.size = groups.get(group).size();
            this.root = random.nextInt(size);
            int most = CollectiveWorld.ELEMENTS / size;
            int share = 1 + (random.nextInt(8) == 0 ? random.nextInt(most) : random.nextInt(8));
            this.count = kind == 1 ? share * size : share; // a broadcast is shared evenly
        }

        private long value(int rank, long index) { return salt * (2 * rank + 3) + index * 0x9e3779b97f4a7c15L; }

        /** Posts one member's part. */
        boolean tryPost(int rank, long token) {
            int member = groups.get(group).get(rank);
            CollectiveGroup its = places.get(group).get(rank);
            long at = CollectiveWorld.offset(place);
            world.fill(member, place, index -> value(rank, index), kind == 1 && rank == root);
            return switch (kind) {
                case 0 -> its.tryBarrier(token);
                case 1 -> its.tryBroadcast(Datatype.INT64, world.results.get(member), at, count, root, token);
                case 2 -> its.tryAllReduce(reduction, Datatype.INT64, world.sources.get(member), at, count,
                        world.results.get(member), at, token);
                case 3 -> its.tryAllGather(Datatype.INT64, world.sources.get(member), at, count,
                        world.results.get(member), at, token);
                default -> its.tryScatter(Datatype.INT64, world.sources.get(member), at, count,
                        world.results.get(member), at, root, token);
            };
        }

        /** How many elements each member gets. */
        private int length() {
            return switch (kind) {
                case 0 -> 0;
                case 3 -> count * size;
                default -> count;
            };
        }

        private long expected(int rank, int index) {
            return switch (kind) {
                case 1 -> value(root, index);
                case 2 ->
                    LongStream.range(0, size).map(one -> value((int) one, index)).reduce(this::reduce).orElseThrow();
                case 3 -> value(index / count, index % count);
                default -> value(root, (long) rank * count + index);
            };
        }

        private long reduce(long one, long other) {
            return switch (reduction) {
                case SUM -> one + other;
                case MIN -> Math.min(one, other);
                case MAX -> Math.max(one, other);
                case BXOR -> one ^ other;
                case BAND -> one & other;
                default -> one | other;
            };
        }

        void requireResult(int rank) {
            int member = groups.get(group).get(rank);
            for (int index = 0; index < length(); index++) {
                long got = world.got(member, place, index);
                require(got == expected(rank, index), this + ": rank " + rank + " got " + got + " at " + index);
            }
            require(world.isUntouched(member, place, length(), kind == 1 && rank == root),
                    this + ": rank " + rank + " got too much");
            if (++completed == size) {
                active[place] = null;
                done++;
            }
        }

        @Override
        public String toString() {
            return "kind " + kind + " of " + count + " among " + groups.get(group) + ", root " + root + ", "
                    + reduction;
        }
    }

    private CollectiveProgram(long seed) {
        random = new Random(seed);
        world = new CollectiveWorld(1 + random.nextInt(MOST_MEMBERS));
        for (int i = 1 + random.nextInt(MOST_GROUPS); i > 0; i--) {
            List<Integer> all = new ArrayList<>(world.members().boxed().toList());
            Collections.shuffle(all, random);
            groups.add(List.copyOf(all.subList(0, 1 + random.nextInt(all.size()))));
            places.add(world.join(groups.getLast()));
        }
    }

    /** Arguments: the first seed, how many programs. Ends with status 0 if no rule was broken. */
    public static void main(String[] arguments) {
        long first = Long.parseLong(arguments[0]);
        int operations = 0;
        for (long seed = first; seed < first + Long.parseLong(arguments[1]); seed++) {
            try {
                operations += new CollectiveProgram(seed).run();
            } catch (Throwable t) {
                throw new AssertionError("program " + seed, t);
            }
        }
        System.out.println("operations " + operations);
        System.exit(0); // threads of providers stay
    }

    private int run() {
        for (int step = 0; step < STEPS; step++) {
            step();
        }
        if (random.nextBoolean()) {
            boolean isDone = Waiting.YIELD.tryUntil(() -> {
                world.members().forEach(world::post);
                world.members().forEach(world::poll);
                return Stream.of(active).allMatch(Objects::isNull);
            }, Pair.DEADLINE);
            require(isDone, "these do not end: " + Arrays.toString(active));
        }
        world.closeEndpoints(random);
        world.requireEveryTokenOnce();
        world.close();
        return done;
    }

    private void step() {
        int member = random.nextInt(world.size());
        switch (random.nextInt(4)) {
            case 0 -> begin();
            case 1, 2 -> world.post(member);
            default -> world.poll(member);
        }
    }

    /** Has the members of a group post an operation, each when its turn comes. */
    private void begin() {
        int place = random.nextInt(active.length);
        if (active[place] != null) { return; }
        int group = random.nextInt(groups.size());
        active[place] = new Operation(group, place);
        for (int rank = 0; rank < groups.get(group).size(); rank++) {
            int mine = rank;
            Operation operation = active[place];
            world.later(groups.get(group).get(rank), token -> operation.tryPost(mine, token),
                    () -> operation.requireResult(mine));
        }
    }

    static void require(boolean holds, String otherwise) { if (!holds) { throw new AssertionError(otherwise); } }
}
