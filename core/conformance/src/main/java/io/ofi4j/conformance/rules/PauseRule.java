package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Untried;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A provider answers at once: no message takes a tenth of a second while the thread that polls both of its ends runs,
 * or sleeps in a call. While the thread only waits for a processor, the machine is busy, and the provider is not late.
 */
final class PauseRule {
    static final String NAME = "a message comes without a pause";

    /** The nanoseconds that this thread ran, those that it waited for a processor, and the number of its turns. */
    private static final Path SCHEDULE = Path.of("/proc/thread-self/schedstat");
    private static final int MESSAGES = 3000;
    /** The collector of garbage may make one of them late, and not each. */
    private static final int ROUNDS = 3;
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int SIZE = 64;

    private final FileChannel schedule;
    private final ByteBuffer text = ByteBuffer.allocate(256);

    private PauseRule(FileChannel schedule) { this.schedule = schedule; }

    static void run(Subject subject) throws IOException {
        if (!Files.isReadable(SCHEDULE)) {
            throw new Untried("the kernel does not say how long a thread waits for a processor");
        }
        try (FileChannel schedule = FileChannel.open(SCHEDULE);
                Ends ends = new Ends(subject, subject.hints(Capability.MSG), CompletionQueueAttributes.defaults(),
                        Ends.QUEUES);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.SEND);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.RECEIVE)) {
            PauseRule rule = new PauseRule(schedule);
            long shortest = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                shortest = Math.min(shortest, rule.longest(ends, source.slice(0, SIZE), target.slice(0, SIZE)));
                if (shortest < PAUSE.toNanos()) { return; }
            }
            throw new Wrong("the longest time of " + MESSAGES + " messages, in each of " + ROUNDS + " rounds",
                    "more than " + Duration.ofNanos(shortest).toMillis() + " ms",
                    "less than " + PAUSE.toMillis() + " ms");
        }
    }

    /** {@return the longest time of a message, in nanoseconds} A longer one than allowed ends the round. */
    private long longest(Ends ends, MemoryRegion.Slice source, MemoryRegion.Slice target) throws IOException {
        long longest = 0;
        for (int i = 0; i < MESSAGES && longest < PAUSE.toNanos(); i++) {
            ends.near.done.clear();
            ends.far.done.clear();
            ends.far.endpoint().messages().receive(target, i);
            long start = ownTime();
            ends.near.endpoint().messages().send(source, ends.peer, i);
            ends.require("both completions of a message", () -> ends.near.count() > 0 && ends.far.count() > 0);
            longest = Math.max(longest, ownTime() - start);
            Check.none("the errors", ends.near.errors);
            Check.none("the errors", ends.far.errors);
        }
        return longest;
    }

    /** {@return the time in which this thread did not wait for a processor, in nanoseconds} */
    private long ownTime() throws IOException {
        text.clear();
        int length = schedule.read(text, 0);
        String[] numbers = new String(text.array(), 0, length, StandardCharsets.US_ASCII).split(" ");
        return System.nanoTime() - Long.parseLong(numbers[1]);
    }
}
