package io.ofi4j.hostile;

import io.ofi4j.Counter;
import io.ofi4j.support.Patience;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * The objects that hostile threads call: a few of each class, for all threads together, and all that must be closed at
 * the end.
 */
final class HostilePool {
    private static final int EACH = 12;
    private static final int PASSES = 10;
    /** Of a counter of 32 bits. */
    private static final long MAX_THRESHOLD = Integer.MAX_VALUE;
    private static final long TIMEOUT_NANOS = Patience.seconds(10).toNanos();

    private final Map<Class<?>, List<Object>> objects = new ConcurrentHashMap<>();
    private final Set<AutoCloseable> opened = Collections
            .synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    /** Adds an object, in the place of another where there are enough of its class. */
    void add(Random random, Object object) {
        if (object instanceof AutoCloseable closeable) { opened.add(closeable); }
        lend(random, object);
    }

    /** As {@link #add}, of what something else closes. */
    void lend(Random random, Object object) {
        List<Object> same = objects.computeIfAbsent(object.getClass(), type -> new CopyOnWriteArrayList<>());
        if (same.size() < EACH) {
            same.add(object);
        } else {
            same.set(random.nextInt(EACH), object);
        }
    }

    /** {@return one of those of a class, if there are any} */
    Optional<Object> one(Random random, Class<?> type) {
        List<Object> found = new ArrayList<>();
        objects.forEach((each, all) -> {
            if (type.isAssignableFrom(each)) { found.addAll(all); }
        });
        return found.isEmpty() ? Optional.empty() : Optional.of(found.get(random.nextInt(found.size())));
    }

    /**
     * Closes all that was opened, children first; what could not be closed. What belongs to a thread that has ended
     * keeps what it was opened from open.
     */
    List<AutoCloseable> closeAll(HostileRun run) {
        boolean[] isOfOthers = new boolean[1];
        long end = System.nanoTime() + TIMEOUT_NANOS; // what is in use is closed a little later
        for (int passes = 0; !opened.isEmpty()
                && (passes < PASSES || !isOfOthers[0] && System.nanoTime() < end); passes++) {
            if (passes >= PASSES) { LockSupport.parkNanos(10_000_000); }
            for (AutoCloseable each : List.copyOf(opened)) {
                boolean isClosed = run.attempt("close at the end", () -> {
                    try {
                        each.close();
                    } catch (WrongThreadException e) {
                        isOfOthers[0] = true;
                        throw e;
                    }
                });
                if (isClosed) {
                    opened.remove(each);
                } else if (each instanceof Counter counter) { // no software provider cancels deferred work
                    run.attempt("end of deferred work", () -> counter.set(MAX_THRESHOLD));
                }
            }
        }
        List<AutoCloseable> left = isOfOthers[0] ? List.of() : List.copyOf(opened);
        opened.clear();
        objects.clear();
        return left;
    }
}
