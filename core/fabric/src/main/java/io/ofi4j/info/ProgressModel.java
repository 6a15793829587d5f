package io.ofi4j.info;

import java.util.stream.Stream;

/**
 * Whether the provider or the application makes progress on operations; {@code enum fi_progress}, fi_domain(3).
 *
 * <p>{@link #MANUAL} is the fast choice where the application polls anyway: no provider thread competes with it.
 */
public enum ProgressModel {
    /** The provider's preference. */
    UNSPECIFIED(0),
    /** The provider, even while the application makes no calls; often with its own thread. */
    AUTO(1),
    /** The application, by polling queues; the target of a write or read must poll too. */
    MANUAL(2),
    /** The application, by polling the queues of this domain from one thread (libfabric 2.0 and newer). */
    CONTROL_UNIFIED(3),
    /** A model that this release does not know. */
    OTHER(-1);

    private final int value;

    ProgressModel(int value) { this.value = value; }

    /** {@return libfabric's number for it} */
    public int value() { return value; }

    /** {@return the model with this number, or {@link #OTHER}} */
    public static ProgressModel of(int value) {
        return Stream.of(values()).filter(model -> model.value == value).findFirst().orElse(OTHER);
    }
}
