package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The short form of the soak, with faults; {@code scripts/test --soak} is the long one. On a machine that is slow now each takes as long as it
 * needs for every kind of fault.
 */
@Timeout(1200)
class SoakTest {
    private static final String SECONDS = System.getProperty("ofi4j.soak.seconds", "6");

    @Test
    void interruptEndsItWithASummary() throws Exception {
        try (Forked soak = Forked.start("soak", "-p", "shm", "--duration", "600", "--json")) {
            soak.awaitError("(\\d+ of 600 s: \\d+ rounds, )");
            new ProcessBuilder("kill", "-INT", Long.toString(soak.process().pid())).start().waitFor();
            Run run = soak.await(100);

            assertThat(run.exitCode()).as(run.err()).isEqualTo(Interrupt.EXIT_CODE);
            assertThat(JsonParser.parseString(run.out()).getAsJsonObject().get("operations").getAsLong()).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net|tcp", "sockets", "udp;ofi_rxd"})
    void nothingIsLostDamagedOrLeaked(String providers) {
        String provider = Libfabric.load().version().major() < 2
                ? providers.replace("|tcp", "")
                : providers.replace("net|", "");
        try (Forked soak = Forked.start("soak", "-p", provider, "--duration", SECONDS, "--json")) {
            Run run = soak.await(300 + Integer.parseInt(SECONDS));

            assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
            JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
            assertThat(json.get("mismatches").getAsLong()).isZero();
            assertThat(json.get("flat").getAsBoolean()).isTrue();
            assertThat(json.get("operations").getAsLong()).as("operations").isPositive();
            assertThat(json.get("verifiedBytes").getAsLong()).isPositive();
            assertThat(json.getAsJsonObject("faults").keySet()).hasSize(3);
        }
    }
}
