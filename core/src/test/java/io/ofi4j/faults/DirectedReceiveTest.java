package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Receives from one peer that no message comes for. */
@Timeout(120)
class DirectedReceiveTest {
    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aReceiveFromOnePeerComesBackOnceWhenItIsCanceledOrItsEndpointCloses(String provider) {
        Forked.Result result = Forked.run(DirectedReceives.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        if (has(provider, "tcp-directed-receives")) {
            assertThat(result.output()).contains("receives refused");
            return;
        }
        assertThat(result.output()).contains("came back [1, 2]", "closed");
        assertThat(result.output()).contains(has(provider, "rxm-directed-receives", "shm-directed-receives")
                ? "cancel refused: to cancel a receive from one peer over " + provider
                : "canceled");
    }

    private static boolean has(String provider, String... quirks) {
        return TestProviders.info(TestProviders.hints(provider)).quirks().stream()
                .anyMatch(quirk -> quirk.isOn() && List.of(quirks).contains(quirk.name()));
    }
}
