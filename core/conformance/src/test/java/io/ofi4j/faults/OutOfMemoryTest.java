package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.info.Capability;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** The heap is full, or there is no native memory. Each test has a JVM of its own. */
@Tag("gate")
@Tag("once")
class OutOfMemoryTest {
    private static void survives(List<String> prefix, Class<?> main, String... arguments) {
        Forked.Result result = Forked.startBehind(prefix, main, arguments).await();

        assertThat(result.exit()).as(result.output()).isZero();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aHandlerThatRunsOutOfHeapLosesNoCompletion(String provider) {
        survives(List.of(), ExhaustsItsHeap.class, "-Xmx32m", "-XX:+UseSerialGC", provider);
    }

    @Test
    void errorsThatAreReadWithoutHeapComeBackOnceThereIsSome() {
        survives(List.of(), CancelsWithoutHeap.class, "-Xmx32m", "-XX:+UseSerialGC");
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void withoutNativeMemoryAllocatingIsRefusedByName(String provider) {
        List<String> limited = List.of("sh", "-c", "ulimit -v 3000000; exec \"$0\" \"$@\"");

        survives(limited, ExhaustsNativeMemory.class, "-Xmx64m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=32m",
                "-XX:CompressedClassSpaceSize=32m", provider);
    }

    /** In the handler, and beside it: posting and polling go on while nothing can be allocated. */
    static final class ExhaustsItsHeap {
        private static final int COUNT = 1000;
        /** Of the handler's calls; it takes a while to find that there is nothing left. */
        private static final int EACH = 100;
        private static final int CHUNK = 64 << 10;

        private final BitSet back = new BitSet(COUNT);
        private int errors;
        private int exhausted;

        private ExhaustsItsHeap() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                new ExhaustsItsHeap().run(pair, source, target);
            }
        }

        private void run(Pair pair, MemoryRegion source, MemoryRegion target) {
            RemoteRegion there = target.remote();
            CompletionHandler handler = handler();
            back.set(COUNT);
            int[] posted = new int[1];
            Waiting.YIELD.until(() -> {
                if (posted[0] < COUNT && pair.rma().tryWrite(source, 0, 8, pair.far, there, 0, posted[0])) {
                    posted[0]++;
                }
                pollOrBeInterrupted(pair.farQueue, handler);
                pollOrBeInterrupted(pair.queue, handler);
                return back.cardinality() == COUNT + 1;
            }, Pair.DEADLINE);
            if (errors > 0 || exhausted != COUNT / EACH) {
                throw new AssertionError(errors + " errors, " + exhausted + " times out of memory");
            }
        }

        private void pollOrBeInterrupted(CompletionQueue queue, CompletionHandler handler) {
            try {
                queue.poll(handler, 64);
            } catch (OutOfMemoryError e) {
                exhausted++;
            }
        }

        private CompletionHandler handler() {
            return new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) {
                    if (back.get((int) token)) { errors++; }
                    back.set((int) token);
                    if (token % EACH == 0) { exhaust(); }
                }

                @Override
                public void onError(CompletionError error) { errors++; }
            };
        }

        private static void exhaust() {
            List<byte[]> all = new ArrayList<>();
            while (true) {
                all.add(new byte[CHUNK]);
            }
        }
    }

    /** Receives are canceled, and polls read their errors while nothing can be allocated. */
    static final class CancelsWithoutHeap {
        private static final int ROUNDS = 80;
        /** With a whole heap: a first use without one fails in the JDK. */
        private static final int FIRST = 20;
        /** What each round has more than the one before, in bytes: some allocations succeed, and then one fails. */
        private static final int STEP = 64;

        private CancelsWithoutHeap() {}

        public static void main(String[] arguments) {
            BitSet back = new BitSet(ROUNDS);
            int exhausted = 0;
            CompletionHandler handler = new CompletionHandler() {
                @Override
                public void onCompletion(long token, long flags, long length, long data) {
                    throw new AssertionError("no message was sent");
                }

                @Override
                public void onError(CompletionError error) {
                    if (back.get((int) error.token())) { throw new AssertionError(error + " came back twice"); }
                    back.set((int) error.token());
                }
            };
            try (Pair pair = new Pair(TestProviders.hints("shm").capabilities(Capability.MSG));
                    MemoryRegion region = pair.domain.allocate(8, Access.RECEIVE)) {
                for (int round = 0; round < ROUNDS; round++) {
                    pair.endpoint.messages().receive(region.slice(0, 8), round);
                    pair.endpoint.messages().cancel(round);
                    List<byte[]> ballast = round < FIRST ? new ArrayList<>() : fill((round - FIRST) * STEP);
                    try {
                        pair.queue.poll(handler, 1);
                    } catch (OutOfMemoryError e) {
                        exhausted++;
                    }
                    ballast.clear();
                    int expected = round + 1;
                    Waiting.YIELD.until(() -> {
                        pair.queue.poll(handler, 1);
                        return back.cardinality() == expected;
                    }, Pair.DEADLINE);
                }
            }
            if (exhausted == 0) { throw new AssertionError("no poll ran out of memory"); }
        }

        private static List<byte[]> fill(int room) {
            List<byte[]> all = new ArrayList<>(1 << 20);
            all.add(new byte[room]);
            for (int size = 1 << 20; size >= 16; size /= 16) {
                try {
                    while (true) {
                        all.add(new byte[size]);
                    }
                } catch (OutOfMemoryError e) {
                    continue; // with smaller ones
                }
            }
            all.removeFirst();
            return all;
        }
    }

    /** Until nothing is left; then some is given back, and everything works. */
    static final class ExhaustsNativeMemory {
        private static final int LARGE = 64 << 20;
        private static final int MAX_REGIONS = 200;
        /** What one operation transfers, of one packet with ofi_rxd. */
        private static final int LENGTH = 1 << 20;
        private static final int RXD_LENGTH = 1000;
        private static final int ENOMEM = 12;

        private ExhaustsNativeMemory() {}

        public static void main(String[] arguments) {
            int length = arguments[0].contains("ofi_rxd") ? RXD_LENGTH : LENGTH;
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion source = pair.domain.allocate(length, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(length, Access.REMOTE_WRITE)) {
                List<MemoryRegion> regions = new ArrayList<>();
                requireNamed(fill(pair.domain, regions));
                transfer(pair, source, target, 1); // what is open goes on
                regions.forEach(MemoryRegion::close);
                transfer(pair, source, target, 2);
            }
            try (Pair pair = new Pair(arguments[0]);
                    MemoryRegion region = pair.domain.allocate(LARGE, Access.WRITE, Access.REMOTE_WRITE);
                    MemoryRegion source = pair.domain.allocate(length, Access.WRITE)) {
                transfer(pair, source, region, 3);
            }
        }

        /** {@return what was said when there was no more} */
        private static Throwable fill(Domain domain, List<MemoryRegion> regions) {
            while (regions.size() < MAX_REGIONS) {
                try {
                    regions.add(domain.allocate(LARGE, Access.REMOTE_WRITE, Access.WRITE));
                } catch (OutOfMemoryError | FabricException e) {
                    System.out.println(regions.size() + " regions, then " + e);
                    return e;
                }
            }
            throw new AssertionError("no limit was reached");
        }

        /** That there is no memory, and what to do. */
        private static void requireNamed(Throwable refusal) {
            boolean isNamed = switch (refusal) {
                case FabricException e -> e.errno() == ENOMEM && e.getMessage().contains("ulimit");
                default -> refusal.getMessage() != null && refusal.getMessage().contains("'ulimit -v'");
            };
            if (!isNamed) { throw new AssertionError("another cause, or no remedy", refusal); }
        }

        private static void transfer(Pair pair, MemoryRegion source, MemoryRegion target, int content) {
            source.segment().fill((byte) content);
            pair.rma().write(source.slice(0, source.length()), pair.far, target.remote(), content);
            pair.awaitToken(content);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return target.segment().asSlice(0, source.length()).mismatch(source.segment()) < 0;
            }, Pair.DEADLINE);
        }
    }
}
