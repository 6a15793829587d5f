package io.ofi4j;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.internal.ffi.Handle;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/** Gives tests of other packages what the public API has no words for. */
public final class PackagePrivate {
    /** The bits of every right. */
    public static final long ALL_RIGHTS = Access.ALL;
    /** The bits of peers' rights. */
    public static final long REMOTE_RIGHTS = Access.REMOTE;

    private PackagePrivate() {}

    /** {@return the bits of rights} */
    public static long bits(Access... rights) { return Access.bitsOf(rights); }

    /** {@return a raw key that no provider has given} */
    public static RawKey rawKey(long length, long rights, byte[] key) {
        return new RawKey(0, length, rights, key);
    }

    /** {@return what the provider has of a counter} */
    public static Handle handle(Counter counter) {
        return counter.handle();
    }

    /** {@return what the provider has of a vector} */
    public static Handle handle(AddressVector vector) {
        return vector.handle();
    }

    /** {@return the exception for a connection that failed with an error number} */
    public static ConnectionException connectionFailed(int errno) {
        return Connection.failure(errno, "connecting", "tcp", new byte[0]);
    }

    /** {@return the exception for a wait that was too long} */
    public static FabricTimeoutException timedOut(String operation, Duration deadline, String why) {
        return new FabricTimeoutException(operation, deadline, why);
    }
}
