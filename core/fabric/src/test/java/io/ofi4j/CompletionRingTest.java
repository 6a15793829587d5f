package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.TestSeed;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class CompletionRingTest {
    private final CompletionRing ring = new CompletionRing(4);
    private final List<Long> seen = new ArrayList<>();

    private void add(long token) {
        if (token % 3 == 0) {
            ring.add(new CompletionError(token, true, 0, 0, 0, 0, 0, 0, 5, 0, "", new byte[0], "some"));
        } else {
            ring.add(token, 0, 0, 0, 0, 0, 0);
        }
    }

    /** As a poll does: completions up to the next error, or that error. */
    private void remove(int limit) {
        int completions = ring.completions(limit);
        for (int entry = 0; entry < completions; entry++) {
            seen.add(ring.field(entry, 0));
        }
        ring.remove(completions);
        if (completions == 0) { seen.add(ring.removeError().token()); }
    }

    @Test
    void completionsAndErrorsComeInTheOrderInWhichTheyWereAdded() {
        List<Long> added = new ArrayList<>();
        for (long token = 0; token < 100; token++) {
            add(token);
            added.add(token);
            if (token % 2 == 0) { remove(2); } // the ring turns, and grows
        }
        while (ring.size() > 0) {
            remove(2);
        }

        assertThat(seen).isEqualTo(added);
    }

    @Test
    void aCompletionIsNotRemovedAsAnError() {
        add(1);

        assertThat(ring.removeError()).isNull();
        assertThat(ring.size()).isEqualTo(1);
    }

    @RepeatedTest(20)
    void itGivesBackEveryFieldThoughItGrows(RepetitionInfo repetition) {
        Random random = TestSeed.random("completion ring " + repetition.getCurrentRepetition());
        CompletionRing some = new CompletionRing(1 + random.nextInt(4));
        long in = 0;
        long out = 0;
        for (int step = 0; step < 500; step++) {
            long end = in + random.nextInt(10);
            for (; in < end; in++) {
                some.add(in, in + 1, in + 2, in + 3, in + 4, in + 5, in + 6);
            }
            for (int left = random.nextInt(12); left > 0 && some.size() > 0; left--, out++) {
                assertThat(IntStream.range(0, 7).mapToLong(number -> some.field(0, number)))
                        .containsExactlyElementsOf(LongStream.range(out, out + 7).boxed().toList());
                some.remove(1);
            }
            assertThat(some.size()).isEqualTo(in - out);
        }
    }
}
