package io.ofi4j.info;

import java.util.stream.Stream;

/**
 * Which threads may make calls at the same time; {@code enum fi_threading}, fi_domain(3). Requested with
 * {@link FabricHints#threading}.
 *
 * <p>For one thread that does everything, {@link #DOMAIN} is fastest with most providers, and {@link #COMPLETION} with
 * some; {@code core/guide/TUNING.md} says more. Only {@link #SAFE}, the default, lets threads share endpoints and
 * queues.
 */
public enum ThreadingModel {
    /** The provider's preference. ofi4j then behaves as with {@link #SAFE}. */
    UNSPECIFIED(0),
    /**
     * Any thread may call any method. One thread at a time uses a queue; a thread that has waited for a millisecond
     * goes next.
     */
    SAFE(1),
    /** ofi4j serialises calls on one object. */
    FID(2),
    /** Only the thread that opened the domain may use the domain and its objects. Nothing is locked. */
    DOMAIN(3),
    /** Only the thread that opened a completion queue may use it and the endpoints bound to it. */
    COMPLETION(4),
    /** ofi4j serialises calls on one endpoint. */
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
