package io.ofi4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Over which provider a test runs that names none, in JVMs of their own on machines that lack something. */
@Tag("once")
class ChosenProviderTest {
    @Test
    void sharedMemoryIsPreferred() { assertThat(chosen(List.of())).isEqualTo("TestFabric over shm"); }

    @Test
    void aPropertyNamesAnother() {
        assertThat(chosen(List.of(), "-Dio.ofi4j.test.provider=sockets")).isEqualTo("TestFabric over sockets");
    }

    @Test
    void whereNothingCanBeMadeInDevShmTheNextOneServes() {
        List<String> output = new ArrayList<>();
        List<String> mounted = List.of("unshare", "-rm", "sh", "-c",
                "mount -t tmpfs -o ro tmpfs /dev/shm && exec \"$0\" \"$@\"");
        List<String> probe = new ArrayList<>(mounted);
        probe.add("true");
        assumeTrue(FaultPeer.exit(probe, output) == 0, () -> "this user may mount nothing: " + output);

        assertThat(chosen(mounted)).isEqualTo("TestFabric over tcp;ofi_rxm");
    }

    @Test
    void whereNoneServesOneSentenceSaysWhyOfEach() {
        assertThat(chosen(List.of("env", "FI_PROVIDER=udp"))).isEqualTo("io.ofi4j.errors.NoProviderException: no"
                + " provider of this machine carries the bytes of a test: shm (not there), tcp;ofi_rxm (not there), tcp"
                + " (not there), net (not there), sockets (not there); -Dio.ofi4j.test.provider names another");
    }

    private static String chosen(List<String> prefix, String... options) {
        Forked.Result result = Forked.startBehind(prefix, ChosenProvider.class, options).await();
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output().lines().filter(line -> line.startsWith(ChosenProvider.CHOSEN)).findFirst().orElseThrow()
                .substring(ChosenProvider.CHOSEN.length());
    }
}
