package io.ofi4j.command.perf;

/** Receives of an end, one for each slot of a layout. Each is posted again as soon as its message has come. */
final class Receives {
    /** Set in the tokens of receives, and in no others. */
    static final long TOKEN = 1L << 62;

    private final Poster poster;
    private final Layout layout;
    private final long base;
    private final long tags;
    /** The slots whose receives found no room yet. */
    private final int[] waiting;
    private int waitingCount;
    private long arrived;

    /**
     * Posts them.
     *
     * @param base where the layout begins in the region
     * @param tags what is added to a slot's number for its tag
     */
    Receives(Poster poster, Layout layout, long base, long tags) {
        this.poster = poster;
        this.layout = layout;
        this.base = base;
        this.tags = tags;
        this.waiting = new int[layout.slots()];
        for (int slot = 0; slot < layout.slots(); slot++) {
            post(slot);
        }
    }

    private void post(int slot) { if (!tryPost(slot)) { waiting[waitingCount++] = slot; } }

    private boolean tryPost(int slot) {
        return poster.tryReceive(base + layout.offset(slot), layout.size(), tags + slot, TOKEN | slot);
    }

    /** A message has come. {@return its slot} */
    int onMessage(long token) {
        int slot = (int) token;
        arrived++;
        post(slot);
        return slot;
    }

    /** Tries again what found no room. */
    void renew() {
        while (waitingCount > 0 && tryPost(waiting[waitingCount - 1])) {
            waitingCount--;
        }
    }

    long arrived() { return arrived; }
}
