package io.ofi4j.info;

/**
 * A version of libfabric, of its interface, or of a provider; fi_version(3).
 *
 * @param major the number before the dot
 * @param minor the number after the dot
 */
public record Version(int major, int minor) implements Comparable<Version> {
    /** {@return the version that libfabric packs into 32 bits: major in the upper 16, minor in the lower} */
    public static Version of(int packed) {
        return new Version(packed >>> 16, packed & 0xffff);
    }

    /** {@return this version in libfabric's packed form} */
    public int packed() { return major << 16 | minor; }

    @Override
    public int compareTo(Version other) {
        return major != other.major ? Integer.compare(major, other.major) : Integer.compare(minor, other.minor);
    }

    @Override
    public String toString() { return major + "." + minor; }
}
