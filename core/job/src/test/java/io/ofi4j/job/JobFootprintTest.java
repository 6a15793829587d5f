package io.ofi4j.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.Forked;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rank 0 of a job that a launcher carries needs no more for 16 ranks than for 2. Prints what it has measured. */
@Tag("long")
class JobFootprintTest {
    private static final Pattern COUNTS = Pattern.compile("\\[0/.*threads (\\d+), descriptors (\\d+)");

    private static Matcher measure(Starter starter, int ranks) {
        Forked.Result result = Forked
                .startBehind(starter.prefix(null, ranks), JobFootprint.class, "-Xmx32m", "-XX:+UseSerialGC").await(600);
        result.output().lines().filter(line -> line.contains("joined after")).forEach(System.out::println);
        assertThat(result.exit()).as(result.output()).isZero();
        Matcher counts = COUNTS.matcher(result.output());
        assertThat(counts.find()).as(result.output()).isTrue();
        return counts;
    }

    @Test
    void theThreadsAndDescriptorsOfRankZeroDoNotGrowUnderPmix() {
        assumeTrue(Starter.OPEN_MPI.obstacle().isEmpty(), Starter.OPEN_MPI.obstacle());
        Matcher few = measure(Starter.OPEN_MPI, 2);
        Matcher many = measure(Starter.OPEN_MPI, 16);

        assertThat(many.group(1)).isEqualTo(few.group(1));
        assertThat(many.group(2)).isEqualTo(few.group(2));
    }
}
