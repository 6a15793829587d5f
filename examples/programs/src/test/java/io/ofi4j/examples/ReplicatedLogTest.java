package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A replica of the log is killed while entries are appended. */
@Tag("gate")
class ReplicatedLogTest {
    private static final int SECONDS = 60;
    private static final Forked.Launch PROCESS = new Forked.Launch(List.of(), Map.of(),
            List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings"), ReplicatedLog.class);

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void what_was_acknowledged_is_in_the_replacement_of_a_killed_replica(String provider) throws IOException {
        try (Forked leader = PROCESS.start(provider)) {
            leader.awaitOutput("secret ");
            Matcher where = match(leader, "leader at port (\\d+) with secret (\\w+)");
            try (Forked survivor = replica(provider, where, 1); Forked victim = replica(provider, where, 2)) {
                leader.awaitOutput("acknowledged 1");
                victim.process().destroyForcibly();
                try (Forked replacement = replica(provider, where, 3)) {
                    replacement.awaitOutput("has copied ");
                    long copied = Long.parseLong(match(replacement, "has copied (\\d+) entries of replica 1").group(1));
                    assertThat(copied).isGreaterThan(999);
                    match(leader, "replica 2 is lost, with " + copied + " entries acknowledged");
                    leader.process().getOutputStream().write("enough\n".getBytes(StandardCharsets.US_ASCII));
                    leader.process().getOutputStream().flush();
                    leader.await(SECONDS).succeeded();
                    Matcher all = match(leader, "acknowledged (\\d+) in all, checksum (\\w+)");
                    String same = all.group(1) + " entries, checksum " + all.group(2);
                    assertThat(Long.parseLong(all.group(1))).isGreaterThan(copied);
                    assertThat(replacement.await(SECONDS).succeeded().out()).contains("replica 3 has " + same);
                    assertThat(survivor.await(SECONDS).succeeded().out()).contains("replica 1 has " + same);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void a_spare_rank_takes_the_place_of_a_killed_one(String provider) {
        try (Forked ranks = ranks().start(provider, "20000")) {
            ranks.awaitOutput("[0] acknowledged 1");
            ranks.awaitOutput("replica 2 is process ");
            long victim = Long.parseLong(match(ranks, "replica 2 is process (\\d+)").group(1));
            ProcessHandle.of(victim).orElseThrow().destroyForcibly();

            String out = ranks.await(SECONDS).out();
            String same = "20000 entries, checksum "
                    + match(ranks, "acknowledged 20000 in all, checksum (\\w+)").group(1);
            assertThat(out).contains("[0] replica 2 is lost").contains("[3] replica 3 has copied ")
                    .contains("[1] replica 1 has " + same).contains("[3] replica 3 has " + same);
        }
    }

    @Test
    void a_spare_rank_that_nobody_needs_ends_with_the_others() {
        try (Forked ranks = ranks().start("shm", "2000")) {
            assertThat(ranks.await(SECONDS).succeeded().out()).contains("[0] acknowledged 2000 in all")
                    .contains("[3] replica 3 was not needed");
        }
    }

    private static Forked.Launch ranks() { return PROCESS.behind("../../scripts/launch", "4", "--keep-going", "--"); }

    private static Forked replica(String provider, Matcher where, int number) {
        return PROCESS.start(provider, "127.0.0.1", where.group(1), where.group(2), Integer.toString(number));
    }

    private static Matcher match(Forked process, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(process.output());
        assertThat(matcher.find()).as(process.output()).isTrue();
        return matcher;
    }
}
