package io.ofi4j.info;

/**
 * Who moves data that was posted; {@code enum fi_progress}, fi_domain(3).
 *
 * <p>{@link #MANUAL} is the fast choice where the application polls anyway: no thread of the provider competes with it.
 */
public enum ProgressModel {
    /** Whatever the provider prefers. */
    UNSPECIFIED(0),
    /** The provider, even while the application calls nothing; often with a thread of its own. */
    AUTO(1),
    /** The application, by polling queues; the target of a write or read must poll too. */
    MANUAL(2),
    /** The application, by polling queues of this domain from one thread (libfabric 2.0 and newer). */
    CONTROL_UNIFIED(3),
    /** A model that this release does not know. */
    OTHER(-1);

    private final int value;

    ProgressModel(int value) {
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
    public static ProgressModel of(int value) {
        for (ProgressModel model : values()) {
            if (model.value == value) {
                return model;
            }
        }
        return OTHER;
    }
}
