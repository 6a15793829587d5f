package io.ofi4j.command.perf;

import static io.ofi4j.Access.RECEIVE;
import static io.ofi4j.Access.REMOTE_READ;
import static io.ofi4j.Access.REMOTE_WRITE;
import static io.ofi4j.Access.SEND;

import io.ofi4j.Access;
import io.ofi4j.info.Capability;
import java.util.Locale;
import java.util.Set;

/** What is measured. */
enum Operation {
    WRITE(Set.of(REMOTE_WRITE)),
    /** Each gives the peer a completion. */
    WRITEDATA(Set.of(REMOTE_WRITE)),
    READ(Set.of(REMOTE_READ)),
    /** Writes without completions; the region is readable too, so that it can be found out what has arrived. */
    INJECT(Set.of(REMOTE_WRITE, REMOTE_READ)),
    /** Adds to a 64-bit integer, and fetches what it was. */
    ATOMIC(Set.of(REMOTE_WRITE, REMOTE_READ), Capability.RMA, Capability.ATOMIC),
    /** Messages into receives that the peer has posted. */
    MSG(Set.of(SEND, RECEIVE), Capability.MSG),
    /** The same with a tag each. */
    TAGGED(Set.of(SEND, RECEIVE), Capability.TAGGED);

    private final Set<Access> remoteAccess;
    private final Set<Capability> capabilities;

    Operation(Set<Access> remoteAccess, Capability... capabilities) {
        this.remoteAccess = remoteAccess;
        this.capabilities = capabilities.length == 0 ? Set.of(Capability.RMA) : Set.of(capabilities);
    }

    /** {@return what the target's region must allow} */
    Access[] remoteAccess() {
        return remoteAccess.toArray(Access[]::new);
    }

    /** {@return what the region of the measuring end must allow} */
    Access[] localAccess() {
        return isTwoSided() ? remoteAccess() : new Access[]{Access.READ, Access.WRITE};
    }

    /** {@return what endpoints must be able to do} */
    Capability[] capabilities() {
        return capabilities.toArray(Capability[]::new);
    }

    /** {@return whether the peer takes part in each} */
    boolean isTwoSided() { return this == MSG || this == TAGGED; }

    /** {@return whether the peer can answer each with another} */
    boolean canBeAnswered() {
        return isTwoSided() || this == WRITEDATA;
    }

    /** {@return whether something comes back beside the completion, into memory of its own} */
    boolean hasAnswers() {
        return isTwoSided() || this == ATOMIC;
    }

    /** {@return the name on the command line} */
    @Override
    public String toString() { return name().toLowerCase(Locale.ROOT); }
}
