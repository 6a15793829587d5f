package io.ofi4j.info;

import java.util.Objects;

/**
 * A behaviour of a provider that contradicts the man pages or goes beyond them, and that ofi4j works around. A quirk is
 * on for a range of versions: from the first version of libfabric whose source has the behaviour to the last one. The
 * system property {@code io.ofi4j.quirks} switches quirks off: with {@code none} all of them are off, with a
 * comma-separated list of names all that are not in the list.
 *
 * @param name its name in the system property
 * @param upstream the provider's behaviour
 * @param test the test that shows it
 * @param versions the versions of libfabric that have it
 * @param isOn whether it is on for this libfabric
 */
public record ProviderQuirk(String name, String upstream, String test, VersionRange versions, boolean isOn) {
    /** Checks the arguments; none may be null. */
    public ProviderQuirk {
        Objects.requireNonNull(name);
        Objects.requireNonNull(upstream);
        Objects.requireNonNull(test);
        Objects.requireNonNull(versions);
    }
}
