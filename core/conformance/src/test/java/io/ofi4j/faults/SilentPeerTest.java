package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** A peer whose machine does not answer when it is connected to. */
@Tag("gate")
@Timeout(900)
class SilentPeerTest {
    /** Sockets would wait for 15 seconds; five is a long time there. */
    private static final List<String> SHORTER = List.of("env", "FI_SOCKETS_CONN_TIMEOUT=8000");

    static Stream<String> connecting() {
        return TestProviders.rma().filter(name -> !name.equals("shm") && !name.contains("ofi_rxd"));
    }

    @ForEachProvider
    @MethodSource("connecting")
    void aPostToItDoesNotStopTheJvm(String provider) {
        Forked.Result result = Forked.startBehind(SHORTER, SilentPeer.class, provider).await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).as("safepoints while the post did not return")
                .containsPattern("safepoints: (needless|[2-9]|\\d\\d)"); // one may be that of the end
    }
}
