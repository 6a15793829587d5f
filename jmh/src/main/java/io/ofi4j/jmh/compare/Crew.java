package io.ofi4j.jmh.compare;

import com.sun.management.ThreadMXBean;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.info.FabricHints;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Several threads that write through the public API, each through an endpoint of its own, or all through one; what
 * {@code crew.c} does.
 */
final class Crew implements AutoCloseable {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /** Each thread's count and place has cache lines of its own. */
    private static final int APART = 128;
    /** How long the regions of a thread's own world are. */
    private static final int ROOM = 1 << 16;

    /** No command takes longer. */
    private static final int SECONDS = 60;

    private final List<Thread> threads = new ArrayList<>();
    private final CyclicBarrier start;
    private final CyclicBarrier end;
    private final AtomicLong allocated = new AtomicLong();
    private volatile Throwable failure;
    private boolean ends;
    private long size;
    private long operations;

    /** What a thread does; closed on that thread. */
    private interface Member extends AutoCloseable {
        void write();

        @Override
        void close();
    }

    /** Writes through an endpoint of its own. */
    private final class Alone implements Member {
        private final World world;
        private final Work work;

        Alone(FabricHints hints) {
            this.world = new World(Family.RMA, hints, ROOM);
            this.work = new Work(world, Family.RMA);
        }

        @Override
        public void write() { work.run("write", size, 1, operations); }

        @Override
        public void close() { world.close(); }
    }

    /** What the threads that write through one endpoint have in common. */
    private static final class Common implements CompletionHandler {
        private static final int LONGS_APART = APART / Long.BYTES;

        private final World world;
        /** How many writes of each thread have completed. */
        private final AtomicLongArray completed;

        Common(World world, int count) {
            this.world = world;
            this.completed = new AtomicLongArray(count * LONGS_APART);
        }

        /** Whoever takes a completion counts it for the thread that waits for it. */
        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            if (token != NO_TOKEN) {
                int at = (int) token * LONGS_APART;
                completed.setRelease(at, completed.getPlain(at) + 1);
            }
        }

        int poll(CompletionQueue queue) { return queue.poll(this, World.BATCH); }

        long completedOf(int number) { return completed.getAcquire(number * LONGS_APART); }
    }

    /** Writes through the endpoint of all. */
    private final class Together implements Member {
        private final Common common;
        private final World world;
        private final int number;
        private long posted;

        Together(Common common, int number) {
            this.common = common;
            this.world = common.world;
            this.number = number;
        }

        @Override
        public void write() {
            long offset = (long) number * APART;
            for (long done = 0; done < operations; done++) {
                while (!world.rma.tryWrite(world.local, offset, size, world.peer, world.remote, offset, number)) {
                    common.poll(world.targetQueue);
                    common.poll(world.queue);
                }
                posted++;
                while (common.completedOf(number) < posted) {
                    if (common.poll(world.queue) == 0) { common.poll(world.targetQueue); }
                }
            }
        }

        @Override
        public void close() {}
    }

    /**
     * Starts so many threads.
     *
     * @param world whose endpoint all use, or null for an endpoint each
     * @param hints what each opens one with
     */
    Crew(World world, FabricHints hints, int count) {
        start = new CyclicBarrier(count + 1);
        end = new CyclicBarrier(count + 1);
        Common common = world == null ? null : new Common(world, count);
        for (int number = 0; number < count; number++) {
            int itsNumber = number;
            threads.add(Thread.ofPlatform().daemon().start(() -> {
                try (Member member = common == null ? new Alone(hints) : new Together(common, itsNumber)) {
                    obey(member);
                } catch (Throwable e) {
                    failure = e;
                    start.reset();
                    end.reset();
                }
            }));
        }
    }

    private void obey(Member member) throws InterruptedException, BrokenBarrierException {
        while (true) {
            start.await();
            if (ends) { return; }
            long before = THREADS.getCurrentThreadAllocatedBytes();
            member.write();
            allocated.addAndGet(THREADS.getCurrentThreadAllocatedBytes() - before);
            end.await();
        }
    }

    /** Has each thread run so many writes; how many nanoseconds that took, for one thread's share. */
    long run(long itsSize, long count) {
        size = itsSize;
        operations = count;
        allocated.set(0);
        long begun = System.nanoTime();
        await(start);
        await(end);
        return (System.nanoTime() - begun) / threads.size();
    }

    /** {@return how many bytes the threads allocated in the last run, for one thread's share} */
    long allocated() {
        return allocated.get() / threads.size();
    }

    private void await(CyclicBarrier barrier) {
        try {
            barrier.await(SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException("a thread has failed: " + failure, e);
        }
    }

    @Override
    public void close() {
        ends = true;
        await(start);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        for (Thread thread : threads) {
            try {
                if (!thread.join(Duration.ofNanos(deadline - System.nanoTime()))) {
                    throw new IllegalStateException("the threads did not end in " + SECONDS + " s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
