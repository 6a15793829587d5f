package io.ofi4j.examples.perf;

import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import java.time.Duration;

/** A target in this process, which this thread polls too. */
final class EmbeddedTarget implements Target {
    private final End here;
    private final End there;
    private final Peer peer;
    private final Completions ours;
    private final Completions theirs;
    private final Duration patience;

    EmbeddedTarget(End here, End there, Duration patience) {
        this.here = here;
        this.there = there;
        this.patience = patience;
        this.ours = new Completions(here);
        this.theirs = new Completions(there);
        there.admit(here.introduction());
        this.peer = here.reach(there.address(), this::progress, patience);
    }

    @Override
    public Peer peer() { return peer; }

    @Override
    public RemoteRegion region() { return there.region().remote(); }

    @Override
    public boolean progress() { return there.poll(theirs); }

    @Override
    public void watch() {
        // it lives as long as this process
    }

    @Override
    public void prepare(Layout layout, boolean fill, long seed) {
        if (fill) {
            Pattern.fill(there.region().segment(), layout, seed);
        } else {
            Pattern.clear(there.region().segment(), layout);
        }
    }

    @Override
    public int damaged(Layout layout, long seed) {
        return Patience.damaged(() -> {
            here.poll(ours);
            there.poll(theirs);
        }, there.region().segment(), layout, seed, patience);
    }

    @Override
    public void close() { there.close(); }
}
