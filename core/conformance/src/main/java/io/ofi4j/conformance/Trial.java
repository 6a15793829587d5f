package io.ofi4j.conformance;

/**
 * Tries one call or one rule. Throws a {@link Wrong}, or any other exception, if it does not do what its man page says;
 * an {@link UnsupportedOperationException} or a {@link io.ofi4j.errors.NoProviderException} if it is not offered.
 */
@FunctionalInterface
public interface Trial {
    /**
     * Tries it.
     *
     * @param subject what it is tried on
     * @throws Exception as the type says
     */
    void run(Subject subject) throws Exception;

    /**
     * {@return how many deadlines it may take} A trial waits several times, and opens and closes what it needs.
     */
    default int deadlines() { return 3; }
}
