package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;

/** Makes progress at both ends, and notices when there is none. */
final class Pump {
    private static final int IDLE_TURNS_PER_CHECK = 256;

    private final End here;
    private final Target target;
    private final Completions completions;
    private final Stall stall;
    private final Watchdog watchdog;
    private int idleTurns;

    Pump(Place place, Stall stall, Watchdog watchdog) {
        this.here = place.here();
        this.target = place.target();
        this.completions = new Completions(here);
        this.stall = stall;
        this.watchdog = watchdog;
    }

    Completions completions() { return completions; }

    void reset() {
        stall.reset();
        idleTurns = 0;
    }

    /**
     * Polls once.
     *
     * @param done how many operations are done, which shows whether anything moves
     * @throws CommandFailure if nothing has moved for too long
     */
    void poll(long done) {
        watchdog.beat();
        if (here.poll(completions) || target.progress()) {
            idleTurns = 0;
        } else if (++idleTurns % IDLE_TURNS_PER_CHECK == 0) { stall.check(done); }
    }

    /** Polls once while nothing is in flight, so that nothing has to move. */
    void pollIdle() {
        stall.reset();
        poll(0);
    }
}
