package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The programs of several processes, started by {@code scripts/launch}. They check themselves, and fail if they are
 * wrong.
 */
@Tag("gate")
class JobProgramsTest {
    private static final int SECONDS = 120;

    private static Forked.Launch job(int ranks, Class<?> main) {
        return new Forked.Launch(List.of("../../scripts/launch", Integer.toString(ranks), "--"), Map.of(),
                List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings"), main);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void heat_spreads_over_ranks_as_in_one_process(String provider) {
        try (Forked ranks = job(3, HeatEquation.class).start(provider, "50", "21")) {
            assertThat(ranks.await(SECONDS).succeeded().out()).contains("[0] 3 ranks, 50 x 50 cells, 21 steps:")
                    .contains(" 0 cells differ from one process");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void no_update_of_clients_with_the_same_keys_is_lost(String provider) {
        try (Forked ranks = job(3, KeyValueStore.class).start(provider, "50", "2")) {
            assertThat(ranks.await(SECONDS).succeeded().out())
                    .contains("[0] 100 updates were told, and the values add up to 100 of 100").contains("[1] ")
                    .contains("[2] ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void gradients_are_summed_up_by_a_ring_of_writes(String provider) {
        try (Forked ranks = job(3, GradientAllReduce.class).start(provider, "65536", "5")) {
            String own = provider.equals("shm") ? " +- +-" : "( +[0-9.]+){2}"; // libfabric's own, where there are any
            assertThat(ranks.await(SECONDS).succeeded().out()).contains("[0] 3 ranks, " + provider)
                    .containsPattern("\\[0] 1 KiB( +[0-9.]+){4}" + own + "\n")
                    .containsPattern("\\[0] 64 KiB( +[0-9.]+){4} +- +-\n");
        }
    }

    @Test
    void the_times_of_a_job_are_measured() {
        try (Forked ranks = job(2, JobTimes.class).start("tcp;ofi_rxm", "20", "500")) {
            assertThat(ranks.await(SECONDS).succeeded().out())
                    .containsPattern("2 ranks, from its start, each connected with each after: [1-9]")
                    .containsPattern("2 ranks, median of 20: JobCollectives, barrier [0-9.]+ us")
                    .containsPattern("2 ranks, median of 20: JobCollectives, all-reduce of 8 bytes [0-9.]+ us")
                    .containsPattern("2 ranks, median of 2: JobCollectives, all-reduce of 1048576 bytes [0-9.]+ us")
                    .containsPattern("median of 20: endpoint.collectives\\(\\), barrier [0-9.]+ us")
                    .containsPattern("median of 20: endpoint.collectives\\(\\), all-reduce of 4096 bytes [0-9.]+ us")
                    .containsPattern("2 ranks, 500 peers inserted in [0-9.]+ ms");
        }
    }
}
