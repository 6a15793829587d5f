package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A peer whose machine does not answer when it is connected to. */
@Timeout(200)
class SilentPeerTest {
    static Stream<String> connecting() {
        return TestProviders.rma().filter(name -> !name.equals("shm") && !name.contains("ofi_rxd"));
    }

    @ParameterizedTest
    @MethodSource("connecting")
    void aPostToItDoesNotStopTheJvm(String provider) {
        Forked.Result result = Forked.run(SilentPeer.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        long longest = result.output().lines().filter(line -> line.startsWith("longest pause: "))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
        assertThat(longest).as(result.output()).isLessThan(5000);
    }
}
