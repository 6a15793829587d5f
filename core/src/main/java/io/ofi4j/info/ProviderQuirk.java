package io.ofi4j.info;

import java.util.Set;

/**
 * A behaviour of a provider beyond the man pages that this library works around. A quirk is on for the versions of libfabric that its
 * test has run on, and off for every other; the system property {@code io.ofi4j.quirks} switches quirks off: {@code none} all, a list
 * of names with commas all that are not in the list.
 *
 * @param name its name, for the system property
 * @param upstream what the provider does
 * @param test the test that shows it
 * @param versions the versions of libfabric that the test has run on
 * @param isOn whether it is on here
 */
public record ProviderQuirk(String name, String upstream, String test, Set<Version> versions, boolean isOn) {
}
