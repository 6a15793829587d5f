package io.ofi4j.internal.quirks;

import io.ofi4j.info.Version;
import java.util.Set;

/** The versions of libfabric that the tests have run on. */
public final class TestedVersions {
    private static final Version V1_17 = new Version(1, 17);
    private static final Version V2_1 = new Version(2, 1);
    private static final Version V2_6 = new Version(2, 6);

    /** The newest. */
    public static final Set<Version> NEWEST = Set.of(V2_6);
    /** All of them. */
    public static final Set<Version> ALL = Set.of(V1_17, V2_1, V2_6);
    /** Those of libfabric 1.x. */
    public static final Set<Version> VERSION_1 = Set.of(V1_17);
    /** Those of libfabric 2.x. */
    public static final Set<Version> VERSION_2 = Set.of(V2_1, V2_6);

    /** That of Debian 13. */
    public static final Set<Version> DEBIAN_13 = Set.of(V2_1);

    /** Those of Debian 12 and 13. */
    public static final Set<Version> DEBIAN = Set.of(V1_17, V2_1);

    /** Those that the tests have run on over verbs. */
    public static final Set<Version> OVER_VERBS = Set.of(V1_17, V2_1);

    private TestedVersions() {}
}
