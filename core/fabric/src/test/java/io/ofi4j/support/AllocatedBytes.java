package io.ofi4j.support;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** How many bytes of Java's heap this thread has allocated. */
public final class AllocatedBytes {
    /** Of com.sun.management's ThreadMXBean, in a module that the tests do not require. */
    private static final MethodHandle COUNT = count();

    private AllocatedBytes() {}

    private static MethodHandle count() {
        try {
            Object threads = Class.forName("java.lang.management.ManagementFactory").getMethod("getThreadMXBean")
                    .invoke(null);
            return MethodHandles.publicLookup().findVirtual(Class.forName("com.sun.management.ThreadMXBean"),
                    "getCurrentThreadAllocatedBytes", MethodType.methodType(long.class)).bindTo(threads);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("this JVM does not count what threads allocate", e);
        }
    }

    public static long now() {
        try {
            return (long) COUNT.invokeExact();
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
