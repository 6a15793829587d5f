package io.ofi4j.jmh;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A wait for a queue in which there is something already. A C program that waits with descriptors calls poll(2) or
 * epoll_wait(2), and then fi_cq_read: one of the last two and {@link #poll} together are what it does.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(ReadyQueue.READY)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class AwaitBenchmark {
    /** The public API: takes one message. */
    @Benchmark
    public int await(ReadyQueue queue) {
        int taken = 0;
        for (int i = 0; i < ReadyQueue.READY; i++) {
            taken += queue.await();
        }
        return taken;
    }

    /** The public API without a wait: what reading one message costs. */
    @Benchmark
    public int poll(ReadyQueue queue) {
        int taken = 0;
        while (taken < ReadyQueue.READY) {
            taken += queue.poll();
        }
        return taken;
    }

    /** poll(2) of the queue's descriptor, which is readable. */
    @Benchmark
    public int pollDescriptor(ReadyQueue queue) {
        int readable = 0;
        for (int i = 0; i < ReadyQueue.READY; i++) {
            readable += queue.pollDescriptor();
        }
        return readable;
    }

    /** epoll_wait(2) of the queue's descriptor, which is readable. */
    @Benchmark
    public int epollDescriptor(ReadyQueue queue) {
        int readable = 0;
        for (int i = 0; i < ReadyQueue.READY; i++) {
            readable += queue.epollDescriptor();
        }
        return readable;
    }
}
