package io.ofi4j.command.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What makes a soak fail, and the sentence. */
class OutcomeTest {
    private static final long MEBIBYTE = 1 << 20;
    private static final Usage LITTLE = new Usage(100 * MEBIBYTE, 20, 0);
    private static final Held HELD = new Held(LITTLE, LITTLE);

    private final Tally tally = new Tally();

    private static void fails(Outcome outcome, String... words) {
        assertThat(outcome.complaint()).get().asString().contains(words).endsWith(".").doesNotContain("\n");
    }

    private Outcome endingWith(Held end) { return new Outcome(tally, true, HELD, HELD, end, 0); }

    @BeforeEach
    void aFaultWasInjected() { tally.fault("target killed"); }

    @Test
    void nothingIsWrongWithWhatIsFlat() { assertThat(endingWith(HELD).complaint()).isEmpty(); }

    @Test
    void aMismatch() {
        tally.mismatch("slot 3 differs");

        fails(endingWith(HELD), "Mismatches: 1", "slot 3 differs");
    }

    @Test
    void memoryThatGrowsInEitherProcess() {
        Usage more = new Usage(200 * MEBIBYTE, 20, 0);

        fails(endingWith(new Held(more, LITTLE)), "The first process grew", "100 MiB", "200 MiB");
        fails(endingWith(new Held(LITTLE, more)), "The second process grew", "100 MiB", "200 MiB");
    }

    @Test
    void ofMuchThatIsHeldAThirdMoreIsNoLeak() {
        Held much = new Held(new Usage(300 * MEBIBYTE, 20, 0), LITTLE);
        Held littleMore = new Held(new Usage(390 * MEBIBYTE, 20, 0), LITTLE);
        Held muchMore = new Held(new Usage(410 * MEBIBYTE, 20, 0), LITTLE);

        assertThat(new Outcome(tally, true, HELD, much, littleMore, 0).complaint()).isEmpty();
        fails(new Outcome(tally, true, HELD, much, muchMore, 0), "The first process grew", "300 MiB", "410 MiB");
    }

    @Test
    void descriptorsThatGrowInEitherProcess() {
        Usage more = new Usage(100 * MEBIBYTE, 40, 0);

        fails(endingWith(new Held(more, LITTLE)), "The first process grew", "20 descriptors", "40 descriptors");
        fails(endingWith(new Held(LITTLE, more)), "The second process grew", "20 descriptors", "40 descriptors");
    }

    @Test
    void filesOfEndpointsThatAreClosed() {
        Usage more = new Usage(100 * MEBIBYTE, 20, 1);

        fails(endingWith(new Held(LITTLE, more)), "The second process grew", "1 files in /dev/shm");
        fails(new Outcome(tally, true, HELD, HELD, HELD, 2), "2 files", "/dev/shm");
    }

    @Test
    void slotsAndRegionsThatAreStillTaken() {
        tally.slotsTaken = 5;
        fails(endingWith(HELD), "5 slots");

        tally.slotsTaken = 0;
        tally.regionsOpen = 2;
        fails(endingWith(HELD), "2 regions");
    }

    @Test
    void noMeasurementWhenItWasWarm() {
        fails(new Outcome(tally, true, HELD, null, HELD, 0), "No round", "--duration");
    }

    @Test
    void noFaultThoughFaultsWereAskedFor() {
        fails(new Outcome(new Tally(), true, HELD, HELD, HELD, 0), "No fault was injected", "--duration");
        assertThat(new Outcome(new Tally(), false, HELD, HELD, HELD, 0).complaint()).isEmpty();
    }
}
