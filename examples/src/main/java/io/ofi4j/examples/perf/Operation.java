package io.ofi4j.examples.perf;

import io.ofi4j.Access;

/** What is measured. */
enum Operation {
    WRITE(Access.REMOTE_WRITE),
    /** Each gives the peer a completion. */
    WRITEDATA(Access.REMOTE_WRITE),
    READ(Access.REMOTE_READ),
    /** Writes without completions; the region is readable too, so that it can be found out what has arrived. */
    INJECT(Access.REMOTE_WRITE, Access.REMOTE_READ);

    private final Access[] remoteAccess;

    Operation(Access... remoteAccess) { this.remoteAccess = remoteAccess; }

    /** {@return what the target's region must allow} */
    Access[] remoteAccess() { return remoteAccess.clone(); }

    /** {@return the name on the command line} */
    @Override
    public String toString() { return name().toLowerCase(java.util.Locale.ROOT); }
}
