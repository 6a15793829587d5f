package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The short form of the soak, with faults; {@code -Dofi4j.soak.seconds=600} is the long one. Not over ofi_rxd, which passes it on both
 * generations where it has a processor: where it gets a thirtieth of one, a round takes it more than a minute, as packets are sent again.
 */
@Timeout(1200)
class SoakTest {
    private static final String SECONDS = System.getProperty("ofi4j.soak.seconds", "8");

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net|tcp", "sockets"})
    void nothingIsLostDamagedOrLeaked(String providers) {
        String provider = Libfabric.load().version().major() < 2
                ? providers.replace("|tcp", "")
                : providers.replace("net|", "");
        try (Forked soak = Forked.start("soak", "-p", provider, "--duration", SECONDS, "--json")) {
            Run run = soak.await(120 + Integer.parseInt(SECONDS));

            assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
            JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
            assertThat(json.get("mismatches").getAsLong()).isZero();
            assertThat(json.get("flat").getAsBoolean()).isTrue();
            assertThat(json.get("operations").getAsLong()).as("operations").isPositive();
            assertThat(json.get("verifiedBytes").getAsLong()).isPositive();
        }
    }
}
