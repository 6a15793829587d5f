package io.ofi4j.internal.quirks;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.ffi.Handle;
import java.time.Duration;
import java.util.List;

/** What a quirk sees of an enabled endpoint. */
public interface EndpointView {
    /** {@return the provider's endpoint} */
    Handle handle();

    /** {@return where peers reach it} */
    EndpointAddress address();

    /** {@return the queues that make progress for it} */
    List<QueueView> queues();

    /** {@return its peers} */
    VectorView vector();

    /** Receives, and drops, the messages that wait at it, if the provider cannot close it with them. */
    void takeMessages();

    /** {@return whether its close waits for operations in flight; otherwise it is tried again} */
    boolean closeWaits();

    /** {@return whether this time has passed since its close was first tried} */
    boolean isTriedFor(Duration time);

    /** Has the provider close it, where {@link Quirk#beforeClose} has put that off. */
    void closePostponed();
}
