package io.ofi4j.internal.quirks;

import io.ofi4j.internal.ffi.Handle;

/** What a quirk sees of a completion queue. */
public interface QueueView {
    /** {@return the provider's queue} */
    Handle handle();

    /** {@return whether the calling thread may make progress on it} */
    boolean admitsCaller();

    /** Makes progress until no further completion comes at once, and buffers the completions. */
    void drain();

    /** {@return how many operations are in flight on it} */
    int inFlight();
}
