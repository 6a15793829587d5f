package io.ofi4j.info;

import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * A behaviour of a provider that contradicts the man pages or goes beyond them, and that ofi4j works around. A quirk is
 * on for the versions of libfabric that its test has run on, and off for all other versions. The system property
 * {@code io.ofi4j.quirks} switches quirks off: with {@code none} all of them are off, with a comma-separated list of
 * names all that are not in the list.
 *
 * @param name its name in the system property
 * @param upstream the provider's behaviour
 * @param test the test that shows it
 * @param versions the versions of libfabric that the test has run on
 * @param isOn whether it is on for this libfabric
 */
public record ProviderQuirk(String name, String upstream, String test, Set<Version> versions, boolean isOn) {
    /** Copies the arguments; none may be null. */
    public ProviderQuirk {
        Objects.requireNonNull(name);
        Objects.requireNonNull(upstream);
        Objects.requireNonNull(test);
        versions = Collections.unmodifiableSet(new TreeSet<>(versions));
    }
}
