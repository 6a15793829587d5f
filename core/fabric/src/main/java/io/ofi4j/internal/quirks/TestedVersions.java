package io.ofi4j.internal.quirks;

import io.ofi4j.info.Version;
import java.util.Set;

/** The versions of libfabric that the tests have run on. */
public final class TestedVersions {
    /** All of them. */
    public static final Set<Version> ALL = Set.of(new Version(1, 17), new Version(2, 1), new Version(2, 6));

    private TestedVersions() {}
}
