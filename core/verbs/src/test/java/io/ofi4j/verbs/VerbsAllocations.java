package io.ofi4j.verbs;

import static io.ofi4j.verbs.WorkFlags.INLINE;
import static io.ofi4j.verbs.WorkFlags.SIGNALED;

import io.ofi4j.support.AllocatedBytes;
import io.ofi4j.support.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A program that prints how many bytes posting and polling of the verbs path allocate, once they are compiled. */
final class VerbsAllocations {
    private static final int OPERATIONS = 500;

    /** Counts, and allocates nothing itself. */
    private static final class Counting implements WorkHandler {
        private long count;

        @Override
        public void onCompletion(long token, WorkKind kind, int length, int flags, int word) { count++; }
    }

    /** Posts an operation again and again, and polls for what it completes on the queues. */
    private static final class Work {
        final String name;
        final BooleanSupplier post;
        final int completions;

        Work(String name, int completions, BooleanSupplier post) {
            this.name = name;
            this.completions = completions;
            this.post = post;
        }
    }

    private final Counting near = new Counting();
    private final Counting far = new Counting();

    private VerbsAllocations() {}

    /** The addresses of one or two devices. */
    public static void main(String[] arguments) {
        VerbsAllocations test = new VerbsAllocations();
        long most = 0;
        try (VerbsLink link = new VerbsLink(16, List.of(arguments))) {
            for (Work work : works(link)) {
                long least = test.least(link, work);
                most = Math.max(most, least);
                System.out.println(work.name + " " + least + " bytes of " + OPERATIONS + " operations");
            }
        }
        System.exit(most == 0 ? 0 : 1);
    }

    private static List<Work> works(VerbsLink link) {
        QueuePair pair = link.near.pair;
        VerbsMemoryRegion region = link.near.region;
        RemoteMemory there = link.far.region.remote();
        List<Work> works = new ArrayList<>(
                List.of(new Work("write", 1, () -> pair.tryWrite(region, 0, 128, there, 0, SIGNALED, 1)),
                        new Work("inline write", 1, () -> pair.tryWrite(region, 0, 8, there, 0, SIGNALED | INLINE, 1)),
                        new Work("read", 1, () -> pair.tryRead(region, 0, 8, there, 0, SIGNALED, 1)),
                        new Work("send", 2, () -> link.far.pair.tryReceive(link.far.region, 0, 64, 1)
                                && pair.trySend(region, 0, 64, SIGNALED, 1))));
        if (link.near.context.attributes().atomics() != DeviceAttributes.AtomicSupport.NONE) {
            works.add(new Work("fetch-add", 1, () -> pair.tryFetchAdd(region, 0, there, 0, 1, SIGNALED, 1)));
        }
        return works;
    }

    /** What a round allocates when it allocates nothing, or the deadline has come. */
    private long least(VerbsLink link, Work work) {
        long deadline = System.nanoTime() + Patience.seconds(20).toNanos();
        long allocated;
        do {
            allocated = round(link, work);
        } while (allocated > 0 && System.nanoTime() < deadline);
        return allocated;
    }

    private long round(VerbsLink link, Work work) {
        long before = AllocatedBytes.now();
        for (int i = 0; i < OPERATIONS; i++) {
            near.count = 0;
            far.count = 0;
            if (!work.post.getAsBoolean()) { throw new AssertionError(work.name + " found no room"); }
            while (near.count + far.count < work.completions) {
                link.near.queue.poll(near, 16);
                if (work.completions > 1) { link.far.queue.poll(far, 16); }
            }
        }
        return AllocatedBytes.now() - before;
    }
}
