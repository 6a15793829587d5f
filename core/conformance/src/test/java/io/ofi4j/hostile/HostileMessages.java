package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.PreparedRma;
import io.ofi4j.support.Pair;
import java.util.Random;

/** One thread changes a prepared message while another posts it. */
final class HostileMessages {
    private static final long LENGTH = 4096;

    private HostileMessages() {}

    static void run(HostileRun run) throws Exception {
        Pair pair = new Pair(run.provider);
        try (pair;
                MemoryRegion local = pair.domain.allocate(LENGTH, Access.values());
                MemoryRegion target = pair.domain.allocate(LENGTH, Access.values())) {
            RemoteRegion remote = target.remote();
            PreparedRma message = pair.rma().prepare().local(local, 0, 8).remote(remote, 0, 8).peer(pair.far);
            int[] posted = new int[1];
            Thread changing = run.start("changing", () -> {
                Random random = run.random();
                while (run.goesOn()) {
                    run.attempt("change", () -> message.clear().local(local, 0, random.nextInt(64)).remote(remote, 0,
                            random.nextInt(64)));
                }
            });
            while (run.goesOn()) {
                run.attempt("post", () -> {
                    if (message.tryWrite(posted[0])) { posted[0]++; }
                });
                pair.poll();
            }
            run.join(java.util.List.of(changing));
            int all = posted[0];
            run.attempt("all that was posted comes back", () -> pair.awaitCompletions(all));
            if (pair.completed.size() + pair.errors.size() != all) {
                run.fail(new AssertionError(all + " posted, " + pair.completed.size() + " completed, " + pair.errors));
            }
        }
    }
}
