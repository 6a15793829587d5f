package io.ofi4j.info;

import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * A behaviour of a provider beyond the man pages that ofi4j works around. A quirk is on for the versions of libfabric that its test
 * has run on, and off for all others. The system property {@code io.ofi4j.quirks} switches quirks off: {@code none} all of them, a
 * comma-separated list of names all but those in the list.
 *
 * @param name its name in the system property
 * @param upstream the provider's behaviour
 * @param test the test that shows it
 * @param versions the versions of libfabric that the test has run on
 * @param isOn whether it is on for this libfabric
 */
public record ProviderQuirk(String name, String upstream, String test, Set<Version> versions, boolean isOn) {
    /** Checks and copies what is given; nothing of it may be null. */
    public ProviderQuirk {
        Objects.requireNonNull(name);
        Objects.requireNonNull(upstream);
        Objects.requireNonNull(test);
        versions = Collections.unmodifiableSet(new TreeSet<>(versions));
    }
}
