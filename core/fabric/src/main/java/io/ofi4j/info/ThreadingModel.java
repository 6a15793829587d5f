package io.ofi4j.info;

import java.util.stream.Stream;

/**
 * Which calls the application serialises itself; {@code enum fi_threading}, fi_domain(3). Requested with
 * {@link FabricHints#threading}.
 *
 * <p>For one thread that does everything, {@link #DOMAIN} is the fast choice on {@code shm} and most others; the {@code tcp}
 * provider of libfabric 2.x is several times faster with {@link #COMPLETION}. Only {@link #SAFE}, the default, lets threads
 * share endpoints and queues.
 */
public enum ThreadingModel {
    /** The provider's preference. ofi4j then behaves as with {@link #SAFE}. */
    UNSPECIFIED(0),
    /** Any thread may call anything. One thread at a time uses a queue; a thread that has waited for a millisecond goes next. */
    SAFE(1),
    /** Calls on one object are serialised, by ofi4j. */
    FID(2),
    /** Only the thread that opened the domain makes calls in it. Nothing is locked. */
    DOMAIN(3),
    /** Only the thread that opened a completion queue uses it and the endpoints bound to it. */
    COMPLETION(4),
    /** Calls on one endpoint are serialised, by ofi4j. */
    ENDPOINT(5),
    /** A model that this release does not know; treated as {@link #SAFE}. */
    OTHER(-1);

    private final int value;

    ThreadingModel(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the model with this number, or {@link #OTHER}} */
    public static ThreadingModel of(int value) {
        return Stream.of(values()).filter(model -> model.value == value).findFirst().orElse(OTHER);
    }
}
