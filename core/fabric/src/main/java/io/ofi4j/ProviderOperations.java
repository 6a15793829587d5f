package io.ofi4j;

import io.ofi4j.internal.ffi.FunctionSlot;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Tables of a provider's own functions; fi_open_ops, fi_domain(3). */
final class ProviderOperations {
    /** With these, providers say that they know no table of this name. */
    private static final Set<Integer> UNKNOWN = Set.of(Errno.ENOSYS, Errno.EOPNOTSUPP, Errno.EINVAL, Errno.ENOENT);

    private ProviderOperations() {}

    /** {@return a table, as a segment without a length} */
    static MemorySegment open(Handle object, String name) {
        if (name.isEmpty() || name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "the operations must have a name without zero characters, not '" + name + "'");
        }
        OpenResult out = FunctionSlot.open(object, name);
        if (UNKNOWN.contains(-out.status())) {
            throw new UnsupportedOperationException("operations of the name '" + name
                    + "' are not offered by the provider " + object.provider() + " on this object");
        }
        Status.check(out.status(), "fi_open_ops", object.provider());
        return MemorySegment.ofAddress(out.handle().address());
    }
}
