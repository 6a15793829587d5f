package io.ofi4j.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.ofi4j.Waiting;
import io.ofi4j.support.Pair;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** The buffers that were collected and not released. It looks at every buffer, from {@link #watch} on. */
final class Leaks {
    private static final Queue<String> REPORTS = new ConcurrentLinkedQueue<>();
    /** Of the leaks of this class. */
    private static final AtomicInteger LAST = new AtomicInteger();

    private Leaks() {}

    /** Before any class of buffers is initialized. */
    static void watch() {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation") // there is no other to override
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int interval, long active) {
                return new Recording<>(resource, interval);
            }
        });
    }

    private static final class Recording<T> extends ResourceLeakDetector<T> {
        private Recording(Class<T> resource, int interval) { super(resource, interval); }

        @Override
        protected boolean needReport() { return true; }

        @Override
        protected void reportTracedLeak(String resourceType, String records) { REPORTS.add(records); }

        @Override
        protected void reportUntracedLeak(String resourceType) { REPORTS.add("a " + resourceType); }
    }

    /**
     * {@return what was leaked until now, but for a buffer that this leaks: the detector must find that one} It reports
     * each history of a buffer once in a process.
     */
    static List<String> find() {
        String mark = Leaks.class.getName() + " " + LAST.incrementAndGet() + ".";
        leak(mark);
        Waiting.YIELD.until(seen(mark), Pair.DEADLINE);
        List<String> others = REPORTS.stream().filter(records -> !records.contains(Leaks.class.getName())).toList();
        REPORTS.clear();
        return others;
    }

    private static void leak(String mark) {
        ByteBuf lost = PooledByteBufAllocator.DEFAULT.directBuffer(1);
        lost.touch(mark);
    }

    private static BooleanSupplier seen(String mark) {
        return () -> {
            System.gc();
            PooledByteBufAllocator.DEFAULT.directBuffer(1).release(); // here the detector looks
            return REPORTS.stream().anyMatch(records -> records.contains(mark));
        };
    }
}
