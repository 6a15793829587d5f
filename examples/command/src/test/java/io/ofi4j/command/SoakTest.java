package io.ofi4j.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The short form of the soak, with faults; {@code scripts/test --soak} is the long one. On a machine that is slow now
 * each takes as long as it needs for every kind of fault.
 */
@Tag("gate")
@Timeout(1200)
class SoakTest {
    @RegisterExtension
    static final AbandonedFilesLock LOCK = new AbandonedFilesLock();

    private static final String SECONDS = System.getProperty("ofi4j.soak.seconds", "6");

    @Test
    void interruptEndsItWithASummary() {
        try (Forked soak = Forked.Launch.INTERRUPTIBLE.start("soak", "-p", "shm", "--duration", "600", "--json",
                "--no-faults", "--seed", "1")) {
            soak.awaitError("(\\d+ of 600 s: \\d+ rounds, )");
            soak.interrupt();
            Run run = soak.await(100);

            assertThat(run.exitCode()).as(run.err()).isEqualTo(Interrupt.EXIT_CODE);
            assertThat(JsonParser.parseString(run.out()).getAsJsonObject().get("operations").getAsLong()).isPositive();
        }
    }

    @Test
    void whoIgnoresSigintSaysThatCtrlCDoesNotEndIt() {
        try (Forked soak = Forked.Launch.USUAL.behind("sh", "-c", "trap '' INT; exec \"$0\" \"$@\"").start("soak", "-p",
                "shm", "--duration", "600")) {
            String process = soak.awaitError("'kill (\\d+)' does");

            assertThat(process).isEqualTo(Long.toString(soak.process().pid()));
        }
    }

    @Tag("long") // random faults, and memory that may grow for other reasons
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
