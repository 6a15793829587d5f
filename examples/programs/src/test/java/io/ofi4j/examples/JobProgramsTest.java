package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.command.Forked;
import java.nio.file.Files;
import java.nio.file.Path;
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

    private static final List<String> NATIVE_ACCESS = List.of("--enable-native-access=io.ofi4j,io.ofi4j.bindings");

    private static Forked.Launch job(int ranks, Class<?> main) {
        return new Forked.Launch(List.of("../../scripts/launch", Integer.toString(ranks), "--"), Map.of(),
                NATIVE_ACCESS, main);
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

    /** The kernel gives the third rank a host name of its own. */
    @Test
    void ranks_of_a_host_write_over_shm_and_others_over_the_network() {
        assumeTrue(Files.isWritable(Path.of("/proc/sys/kernel/hostname")), "only root may name a host");
        String elsewhere = "[ $OFI4J_RANK -lt 2 ] || exec unshare --uts sh -c 'hostname elsewhere; exec \"$@\"' sh \"$@\"";
        List<String> prefix = List.of("../../scripts/launch", "3", "--", "sh", "-c", elsewhere + "; exec \"$@\"", "sh");
        try (Forked ranks = new Forked.Launch(prefix, Map.of(), NATIVE_ACCESS, TwoFabrics.class).start("tcp;ofi_rxm")) {
            assertThat(ranks.await(SECONDS).succeeded().out())
                    .contains("rank 0 wrote to 2 ranks over shm and to 1 over tcp;ofi_rxm, and the numbers add up to 6")
                    .contains("rank 1 wrote to 2 ranks over shm and to 1 over tcp;ofi_rxm, and the numbers add up to 6")
                    .contains(
                            "rank 2 wrote to 1 ranks over shm and to 2 over tcp;ofi_rxm, and the numbers add up to 6");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void a_sender_never_has_more_under_way_than_there_are_receives(String provider) {
        try (Forked ranks = job(2, CreditedStream.class).start(provider, "20000", "20000")) {
            assertThat(ranks.await(SECONDS).succeeded().out()).contains("[1] took 20000 messages in their order")
                    .containsPattern("\\[0] sent 20000 messages, at most ([1-9]|[1-9]\\d|1[01]\\d|12[0-8]) under way");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void a_sender_finds_out_that_the_receiver_has_gone(String provider) {
        List<String> launch = List.of("../../scripts/launch", "2", "--keep-going", "--");
        try (Forked ranks = new Forked.Launch(launch, Map.of(), NATIVE_ACCESS, CreditedStream.class).start(provider,
                "20000", "5000")) {
            assertThat(ranks.await(SECONDS).out())
                    .containsPattern("\\[0] the receiver has gone: it took [45]\\d\\d\\d ");
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
                    .containsPattern("2 ranks, median of 20: JobCollectives, broadcasts of 8 bytes [0-9.]+ us")
                    .containsPattern("2 ranks, median of 2: JobCollectives, all-gather of 1048576 bytes [0-9.]+ us")
                    .containsPattern("median of 20: endpoint.collectives\\(\\), barrier [0-9.]+ us")
                    .containsPattern("median of 20: endpoint.collectives\\(\\), all-reduce of 4096 bytes [0-9.]+ us")
                    .containsPattern("2 ranks, 500 peers inserted in [0-9.]+ ms");
        }
    }
}
