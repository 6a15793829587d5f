package io.ofi4j.info;

/**
 * Which calls the application serialises by itself; {@code enum fi_threading}, fi_domain(3). Asked for with
 * {@link FabricHints#threading}.
 *
 * <p>The choice decides more than the language does. For one thread that does everything, {@link #DOMAIN} is the fast choice
 * on {@code shm} and most others; the {@code tcp} provider of libfabric 2.x is several times faster with
 * {@link #COMPLETION}. Only {@link #SAFE}, the default, lets threads share endpoints and queues.
 */
public enum ThreadingModel {
    /** Whatever the provider prefers. This library then behaves as with {@link #SAFE}. */
    UNSPECIFIED(0),
    /** Any thread may call anything at any time. One at a time gets into a queue; who has waited for a millisecond goes next. */
    SAFE(1),
    /** Calls on one object are serialised; this library does it. */
    FID(2),
    /** Only the thread that opened the domain calls anything in it. Nothing is locked. */
    DOMAIN(3),
    /** Each completion queue, with the endpoints bound to it, is used by the thread that opened it. */
    COMPLETION(4),
    /** Calls on one endpoint are serialised; this library does it. */
    ENDPOINT(5),
    /** A model that this release does not know; treated as {@link #SAFE}. */
    OTHER(-1);

    private final int value;

    ThreadingModel(int value) {
        this.value = value;
    }

    /** {@return libfabric's number for it} */
    public int value() {
        return value;
    }

    /**
     * {@return the model with that number, or {@link #OTHER}}
     *
     * @param value libfabric's number
     */
    public static ThreadingModel of(int value) {
        for (ThreadingModel model : values()) {
            if (model.value == value) {
                return model;
            }
        }
        return OTHER;
    }
}
