package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** fi_trywait of one object; the function is looked up once, and a call allocates nothing. */
public final class TryWait {
    private final Handle fabric;
    /** An array of one pointer, to the object. */
    private final MemorySegment objects;
    private MemorySegment function;

    /** The arena must live as long as the object. */
    public TryWait(Handle fabric, Handle object, Arena arena) {
        this.fabric = fabric;
        this.objects = arena.allocateFrom(ADDRESS, object.pointer());
    }

    /**
     * 0 if a thread may block on the wait descriptor of the object; -ENOSYS if the provider does not say. One thread at
     * a time may call it.
     */
    public int fi_trywait() {
        if (function == null) { function = InlineFunction.fi_trywait.find(fabric); }
        if (function == null) { return -Errno.ENOSYS; }
        return (int) Downcalls.call(false, function, fabric.address(), objects.address(), 1);
    }
}
