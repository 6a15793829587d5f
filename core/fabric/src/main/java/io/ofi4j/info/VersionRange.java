package io.ofi4j.info;

import java.util.Objects;
import java.util.Optional;

/**
 * Versions of libfabric: all from one to another, or all from one on.
 *
 * @param first the first
 * @param last the last; empty where the newest known source still belongs to the range
 * @param isGuess whether the tests of some of these versions say so, and not the source of all of them
 */
public record VersionRange(Version first, Optional<Version> last, boolean isGuess) {
    /**
     * Checks the arguments; none may be null.
     *
     * @throws IllegalArgumentException if the last version is older than the first
     */
    public VersionRange {
        Objects.requireNonNull(first);
        if (last.filter(version -> version.compareTo(first) < 0).isPresent()) {
            throw new IllegalArgumentException("the range ends with " + last.get() + ", before " + first);
        }
    }

    /** {@return this version and all newer ones} */
    public static VersionRange from(int major, int minor) {
        return new VersionRange(new Version(major, minor), Optional.empty(), false);
    }

    /**
     * {@return the versions of this range up to this one, which is the last}
     *
     * @throws IllegalArgumentException if it is older than the first
     */
    public VersionRange to(int major, int minor) {
        return new VersionRange(first, Optional.of(new Version(major, minor)), isGuess);
    }

    /** {@return the same versions, as a guess} */
    public VersionRange guess() {
        return new VersionRange(first, last, true);
    }

    /** {@return whether the version is in the range} */
    public boolean contains(Version version) {
        return version.compareTo(first) >= 0 && last.filter(end -> version.compareTo(end) > 0).isEmpty();
    }

    /** {@return such as {@code 1.15 to 1.22}, {@code 2.0 and newer}, or {@code 1.18}} */
    @Override
    public String toString() {
        return last.map(end -> end.equals(first) ? first.toString() : first + " to " + end)
                .orElse(first + " and newer");
    }
}
