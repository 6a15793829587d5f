package io.ofi4j.command.perf;

import java.time.Duration;

/** A target in this process, which this thread polls too. */
final class EmbeddedTarget implements Target {
    private final End here;
    private final End there;
    private final Completions ours;
    private final Completions theirs;
    private final Duration patience;

    EmbeddedTarget(End here, End there, Duration patience) {
        this.here = here;
        this.there = there;
        this.patience = patience;
        this.ours = new Completions(here);
        this.theirs = new Completions(there);
        there.admit(here.introduction(), here.remote());
        here.reach(there.address(), there.remote(), this::progress, patience);
    }

    @Override
    public boolean progress() { return there.poll(theirs); }

    @Override
    public void watch() {
        // it lives as long as this process
    }

    @Override
    public void prepare(Layout layout, boolean fill, long seed) {
        if (fill) {
            Pattern.fill(there.memory(), layout, seed);
        } else {
            Pattern.clear(there.memory(), layout);
        }
        there.store();
    }

    @Override
    public int damaged(Layout layout, long seed) {
        return Patience.damaged(() -> {
            here.poll(ours);
            there.poll(theirs);
        }, there, layout, seed, patience);
    }

    @Override
    public void close() { there.close(); }
}
